/** What a log says of artifacts, held against what the store has of them. */
import { createHash } from 'node:crypto';
import type { MemoryBacking } from '../adapters/memory/backing.ts';
import { canonicalJson } from '../base/digest.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../base/json.ts';
import { refuseSecret } from './sim-secret.ts';
import { SimViolation } from './sim-violation.ts';

export class SimArtifacts {
  readonly #backing: MemoryBacking;
  readonly #known = new Set<string>();

  constructor(backing: MemoryBacking) {
    this.#backing = backing;
  }

  /**
   * Every reference in a payload is one that a write of some run has returned, and its bytes are
   * there. Returns how many were new. Throws `SimViolation`.
   */
  check(where: string, payload: JsonValue): number {
    let count = 0;
    for (const reference of referencesIn(payload)) {
      const text = canonicalJson(reference);
      if (this.#known.has(text)) continue;
      this.#known.add(text);
      count += 1;
      const fault = this.#fault(reference, text);
      if (fault !== null) throw new SimViolation(`${where}: artifact ${text} ${fault}`);
    }
    return count;
  }

  bytesOf(runId: string): number {
    let bytes = 0;
    for (const [key, held] of this.#backing.artifacts) {
      if (!key.endsWith(`/${runId}`)) continue;
      for (const artifact of held.values()) bytes += artifact.bytes.byteLength;
    }
    return bytes;
  }

  /** No artifact holds a secret. Throws `SimViolation`. */
  checkSecrets(): void {
    for (const [run, held] of this.#backing.artifacts) {
      for (const [digest, { bytes }] of held) {
        refuseSecret(`artifact ${digest} of ${run}`, Buffer.from(bytes).toString('utf8'));
      }
    }
  }

  #fault({ digest, byteLength }: JsonObject, text: string): string | null {
    const held = [...this.#backing.artifacts.values()].flatMap(
      (run) => run.get(String(digest)) ?? [],
    );
    const admitted = held.find(({ receipts }) => receipts.has(text));
    if (admitted === undefined) return held.length === 0 ? 'is not there' : 'was never returned';
    const hash = createHash('sha256').update(admitted.bytes).digest('hex');
    if (`sha256:${hash}` !== digest) return 'has other bytes';
    return admitted.bytes.byteLength === byteLength ? null : 'has another length';
  }
}

function* referencesIn(value: JsonValue): Generator<JsonObject> {
  if (Array.isArray(value)) {
    for (const item of value) yield* referencesIn(item);
  } else if (isJsonObject(value)) {
    const { digest, byteLength, mediaType } = value;
    if (typeof digest === 'string' && byteLength !== undefined && mediaType !== undefined) {
      yield value;
    } else for (const item of Object.values(value)) yield* referencesIn(item);
  }
}
