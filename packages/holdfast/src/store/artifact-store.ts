/** The artifact port: bytes named by their digest, for what is too large to stand in an event. */
import type { Sha256Digest } from '../base/digest.ts';

/** The run that an artifact belongs to. */
export interface ArtifactScope {
  readonly namespace: string;
  readonly runId: string;
}

/** Bytes to store. */
export interface NewArtifact {
  readonly bytes: Uint8Array;
  /** `type/subtype`, at most 255 bytes. */
  readonly mediaType: string;
  /** What the bytes are for, at most 512 bytes. */
  readonly purpose: string;
}

/** Small JSON that stands in events in place of the bytes. */
export interface ArtifactReference {
  readonly schemaVersion: 1;
  readonly digest: Sha256Digest;
  readonly byteLength: number;
  readonly mediaType: string;
  readonly purpose: string;
}

/** Stores bytes under the digest of their content, run by run. */
export interface ArtifactStore {
  /** Stores bytes and returns their reference; the same content again is the same reference. */
  write(scope: ArtifactScope, artifact: NewArtifact): Promise<ArtifactReference>;
  /**
   * A copy of the bytes. Throws `ARTIFACT_NOT_FOUND` and, when the stored bytes do not have the
   * digest they are named by, `ARTIFACT_INTEGRITY`.
   */
  read(scope: ArtifactScope, reference: ArtifactReference): Promise<Uint8Array>;
  /** Deletes all artifacts of one run. */
  deleteRun(scope: ArtifactScope): Promise<void>;
}
