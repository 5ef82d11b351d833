/** Artifacts in memory, by digest within one run. */
import { canonicalJson } from '../../base/digest.ts';
import type { Admission } from '../../store/admission.ts';
import {
  type AdmittedArtifact,
  admitArtifact,
  admitArtifacts,
  checkBatchQuota,
  checkReference,
  type HashArtifact,
  verifiedArtifact,
} from '../../store/artifact-rule.ts';
import type {
  ArtifactReference,
  ArtifactScope,
  ArtifactStore,
  NewArtifact,
} from '../../store/artifact-store.ts';
import { backingKey, type MemoryArtifact, type MemoryBacking } from './backing.ts';

export interface MemoryArtifactContext {
  readonly backing: MemoryBacking;
  readonly admission: Admission;
  readonly hash: HashArtifact;
}

export class MemoryArtifactStore implements ArtifactStore {
  readonly #context: MemoryArtifactContext;

  constructor(context: MemoryArtifactContext) {
    this.#context = context;
  }

  async preflightWrite(
    scope: ArtifactScope,
    artifacts: readonly NewArtifact[],
  ): Promise<readonly ArtifactReference[]> {
    const key = this.#keyOf(scope);
    const batch = admitArtifacts(this.#context.admission, artifacts, this.#context.hash);
    this.#checkQuota(this.#heldBy(key), batch);
    return batch.map(({ reference }) => reference);
  }

  async write(scope: ArtifactScope, artifact: NewArtifact): Promise<ArtifactReference> {
    const { admission, backing, hash } = this.#context;
    const key = this.#keyOf(scope);
    const admitted = admitArtifact(admission, artifact, hash);
    const { bytes, reference } = admitted;
    const held = this.#heldBy(key);
    this.#checkQuota(held, [admitted]);
    const known = held.get(reference.digest) ?? { bytes, receipts: new Set() };
    known.receipts.add(canonicalJson(reference));
    backing.artifacts.set(key, held.set(reference.digest, known));
    return reference;
  }

  async read(scope: ArtifactScope, reference: ArtifactReference): Promise<Uint8Array> {
    const { hash } = this.#context;
    const key = this.#keyOf(scope);
    checkReference(reference);
    const known = this.#heldBy(key).get(reference.digest);
    const stored =
      known === undefined
        ? null
        : { bytes: known.bytes, isAdmitted: known.receipts.has(canonicalJson(reference)) };
    return verifiedArtifact(scope, reference, { stored, hash });
  }

  async deleteRun(scope: ArtifactScope): Promise<void> {
    this.#context.backing.artifacts.delete(this.#keyOf(scope));
  }

  #heldBy(key: string): Map<string, MemoryArtifact> {
    return this.#context.backing.artifacts.get(key) ?? new Map<string, MemoryArtifact>();
  }

  #checkQuota(held: ReadonlyMap<string, MemoryArtifact>, batch: readonly AdmittedArtifact[]): void {
    checkBatchQuota(this.#context.admission, batch, {
      used: [...held.values()].reduce((sum, { bytes }) => sum + bytes.byteLength, 0),
      has: (digest) => held.has(digest),
    });
  }

  #keyOf({ namespace, runId }: ArtifactScope): string {
    this.#context.admission.stream({ namespace, streamId: runId });
    return backingKey(namespace, runId);
  }
}
