/**
 * The artifact port: bytes named by their digest, for what is too large to stand in an event.
 *
 * Invariants: bytes and the receipt for them are written together or not at all; a read gives
 * exactly what one receipt of this run names; the quota holds between all writers of a run.
 */
import type { Sha256Digest } from '../base/digest.ts';

/** The run that an artifact belongs to. */
export interface ArtifactScope {
  readonly namespace: string;
  readonly runId: string;
}

/**
 * What the bytes are, and so how they are searched for known secrets. `exact`: as they are.
 * `state`: what a run goes on from; of a JSON media type it must be JSON in UTF-8, and its decoded
 * keys and values are searched too. `free-text`: text in UTF-8, in which secrets are replaced by
 * `[redacted]` before it is measured, hashed and stored; the others are refused with one.
 */
export type ArtifactContentMode = 'exact' | 'state' | 'free-text';

/** Bytes to store. */
export interface NewArtifact {
  readonly bytes: Uint8Array;
  /** `type/subtype`, at most 255 bytes. */
  readonly mediaType: string;
  /** What the bytes are for, at most 512 bytes. */
  readonly purpose: string;
  /** `exact` when left out. */
  readonly contentMode?: ArtifactContentMode;
  /** True = never to be stored: the write is refused with `SENSITIVE_CONTENT`. */
  readonly sensitive?: boolean;
}

/** The receipt of a write: small JSON that stands in events in place of the bytes. */
export interface ArtifactReference {
  readonly schemaVersion: 1;
  /** Of the bytes as they are stored: after redaction. */
  readonly digest: Sha256Digest;
  /** Of the bytes as they are stored. */
  readonly byteLength: number;
  readonly mediaType: string;
  readonly purpose: string;
}

/** Stores bytes under the digest of their content, run by run. */
export interface ArtifactStore {
  /**
   * What `write` would return for each artifact, in order, if all of them were written now: every
   * check is done, the quota for all of them together, and nothing is written. Seed 002.
   *
   * Throws what `write` throws, and `INVALID_STORED_VALUE` for no artifacts.
   */
  preflightWrite(
    scope: ArtifactScope,
    artifacts: readonly NewArtifact[],
  ): Promise<readonly ArtifactReference[]>;
  /**
   * Stores bytes and returns their receipt; the same content again, also for another purpose, is
   * stored and counted once.
   *
   * Throws `INVALID_STORED_VALUE`, `SENSITIVE_CONTENT`, `KNOWN_SECRET`, `STORAGE_LIMIT_EXCEEDED`.
   */
  write(scope: ArtifactScope, artifact: NewArtifact): Promise<ArtifactReference>;
  /**
   * A copy of the bytes, hashed again. Throws `ARTIFACT_NOT_FOUND` when the run has no such
   * digest, `ARTIFACT_NOT_ADMITTED` when no write of this run returned exactly this reference,
   * `ARTIFACT_INTEGRITY` when the stored bytes are not those it names, and `INVALID_STORED_VALUE`
   * for what is no reference.
   */
  read(scope: ArtifactScope, reference: ArtifactReference): Promise<Uint8Array>;
  /** Deletes the artifacts and receipts of one run; its events stay, later reads are refused. */
  deleteRun(scope: ArtifactScope): Promise<void>;
}
