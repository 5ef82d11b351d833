/**
 * What a check has shown, kept as artifacts of the run: the answer as evidence, the failure's text
 * as a diagnostic. Secrets are taken out of a text; an answer that holds one is not stored.
 */
import { fitText } from '../attempt/fitting-text.ts';
import { isHoldfastError } from '../base/errors.ts';
import type { AgentResult } from '../engine/engine.ts';
import type { StreamRef } from '../history/envelope.ts';
import type { ProbeArtifact } from '../history/preflight-payload.ts';
import type { RunStorage } from '../store/storage.ts';
import type { SecretGuard } from './secret-guard.ts';

/** A longer text says no more; the rest of it is left out. */
const MAX_DETAIL_BYTES = 8_192;

export class PreflightEvidence {
  readonly #storage: RunStorage;
  readonly #stream: StreamRef;
  readonly #guard: SecretGuard;

  constructor(storage: RunStorage, stream: StreamRef, guard: SecretGuard) {
    this.#storage = storage;
    this.#stream = stream;
    this.#guard = guard;
  }

  /** Throws what the store throws. */
  answer(probeEventId: string, result: AgentResult): Promise<ProbeArtifact> {
    return this.#write(probeEventId, 'preflight-evidence', { result });
  }

  /** Throws what the store throws. */
  diagnostic(probeEventId: string, text: string): Promise<ProbeArtifact> {
    const detail = fitText(this.#guard.text(text), MAX_DETAIL_BYTES);
    return this.#write(probeEventId, 'preflight-diagnostic', { detail });
  }

  #write(probeEventId: string, purpose: string, shown: object): Promise<ProbeArtifact> {
    const { namespace, streamId: runId } = this.#stream;
    const text = JSON.stringify({ schemaVersion: 1, runId, probeEventId, ...shown });
    const bytes = Buffer.from(text);
    const artifact = {
      bytes,
      mediaType: 'application/json',
      purpose,
      contentMode: 'state' as const,
    };
    return this.#storage.artifactStore.write({ namespace, runId }, artifact);
  }
}

/** The code by which a store refused or failed; null for any other error. */
export function storageCodeOf(error: unknown): string | null {
  return isHoldfastError(error) && error.name === 'StorageError' ? error.code : null;
}
