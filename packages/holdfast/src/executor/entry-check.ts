/**
 * The door for what comes from outside: an answer, a signal or a reconciliation that the store
 * would refuse is refused here, to its sender alone, before it joins the owner's turn.
 */
import type { JsonValue } from '../base/json.ts';
import { SecretScreen } from '../store/known-secrets.ts';
import { safePayloadBytes } from '../store/policy.ts';
import type { RunStorage } from '../store/storage.ts';
import { StorageError } from '../store/storage-error.ts';

/** What stands around a value in its event, and in the event that it leads to: a bound. */
const FRAME_SHARE = 1 / 8;
const MAX_FRAME_BYTES = 4_096;

export class EntryCheck {
  readonly #screen: SecretScreen | null;
  readonly #maxBytes: number;

  constructor(storage: RunStorage) {
    this.#screen = SecretScreen.of(storage.knownSecrets);
    const most = safePayloadBytes(storage.record.policy);
    this.#maxBytes = most - Math.min(MAX_FRAME_BYTES, most * FRAME_SHARE);
  }

  /** Throws `STORAGE_LIMIT_EXCEEDED` or `KNOWN_SECRET`, naming `what` but not repeating it. */
  admit(what: string, value: JsonValue): void {
    const text = JSON.stringify(value);
    const bytes = Buffer.byteLength(text);
    if (bytes > this.#maxBytes) {
      throw new StorageError(
        'STORAGE_LIMIT_EXCEEDED',
        `The ${what} has ${bytes} bytes; at most ${this.#maxBytes} fit the record of this run.`,
        { bytes, maxBytes: this.#maxBytes },
      );
    }
    if (this.#screen?.foundInJson(text) !== true) return;
    throw new StorageError(
      'KNOWN_SECRET',
      `The ${what} holds a known secret and was not recorded. Refer to it by name instead.`,
    );
  }

  /** True when a result of this size can be recorded. */
  fits(result: JsonValue): boolean {
    return Buffer.byteLength(JSON.stringify(result)) <= this.#maxBytes;
  }
}
