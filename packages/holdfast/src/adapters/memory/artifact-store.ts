/** Artifacts in memory, by digest within one run. */
import type { Admission } from '../../store/admission.ts';
import {
  admitArtifact,
  checkArtifactQuota,
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
import { backingKey, type MemoryBacking } from './backing.ts';

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

  async write(scope: ArtifactScope, artifact: NewArtifact): Promise<ArtifactReference> {
    const { admission, backing, hash } = this.#context;
    const key = this.#keyOf(scope);
    const { bytes, reference } = admitArtifact(admission, artifact, hash);
    const held = backing.artifacts.get(key) ?? new Map<string, Uint8Array>();
    if (held.has(reference.digest)) return reference;
    const used = [...held.values()].reduce((sum, each) => sum + each.byteLength, 0);
    checkArtifactQuota(admission, used, bytes.byteLength);
    backing.artifacts.set(key, held.set(reference.digest, bytes));
    return reference;
  }

  async read(scope: ArtifactScope, reference: ArtifactReference): Promise<Uint8Array> {
    checkReference(reference);
    const bytes = this.#context.backing.artifacts.get(this.#keyOf(scope))?.get(reference.digest);
    const stored = { bytes: bytes ?? null, hash: this.#context.hash };
    return Uint8Array.from(verifiedArtifact(scope, reference, stored));
  }

  async deleteRun(scope: ArtifactScope): Promise<void> {
    this.#context.backing.artifacts.delete(this.#keyOf(scope));
  }

  #keyOf({ namespace, runId }: ArtifactScope): string {
    this.#context.admission.stream({ namespace, streamId: runId });
    return backingKey(namespace, runId);
  }
}
