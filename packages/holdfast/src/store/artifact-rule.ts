/** The rules of artifacts, one for all adapters: what may be stored, and what a read must find. */
import { isSha256Digest, type Sha256Digest } from '../base/digest.ts';
import { textFault } from '../base/identifier.ts';
import { utf8Length } from '../base/text.ts';
import type { Admission } from './admission.ts';
import type { ArtifactReference, ArtifactScope, NewArtifact } from './artifact-store.ts';
import { StorageError } from './storage-error.ts';

/** SHA-256 of bytes as 64 hex digits. */
export type HashArtifact = (bytes: Uint8Array) => string;

export interface AdmittedArtifact {
  /** A copy: what the caller does to its bytes later changes nothing. */
  readonly bytes: Uint8Array;
  readonly reference: ArtifactReference;
}

const MEDIA_TYPE = /^[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]*\/[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]*$/;
const MAX_MEDIA_TYPE_BYTES = 255;
const MAX_PURPOSE_BYTES = 512;

/** Throws `INVALID_STORED_VALUE`, `STORAGE_LIMIT_EXCEEDED`, `KNOWN_SECRET`. */
export function admitArtifact(
  admission: Admission,
  artifact: NewArtifact,
  hash: HashArtifact,
): AdmittedArtifact {
  const { bytes, mediaType, purpose } = artifact;
  if (!(bytes instanceof Uint8Array)) refuse('bytes must be a Uint8Array');
  checkLabels(mediaType, purpose);
  const limit = admission.policy.maxArtifactBytes;
  if (bytes.byteLength > limit) {
    throw new StorageError(
      'STORAGE_LIMIT_EXCEEDED',
      `An artifact of ${bytes.byteLength} bytes is larger than ${limit}.`,
      { byteLength: bytes.byteLength, limit },
    );
  }
  admission.text('the artifact', mediaType);
  admission.text('the artifact', purpose);
  if (admission.screen?.foundInBytes(bytes)) {
    throw new StorageError('KNOWN_SECRET', 'The bytes of the artifact hold a known secret.');
  }
  const copy = Uint8Array.from(bytes);
  const digest: Sha256Digest = `sha256:${hash(copy)}`;
  const byteLength = copy.byteLength;
  const reference = Object.freeze({ schemaVersion: 1, digest, byteLength, mediaType, purpose });
  return { bytes: copy, reference };
}

/** Throws `STORAGE_LIMIT_EXCEEDED` when a run that holds `used` bytes has no room for the rest. */
export function checkArtifactQuota(admission: Admission, used: number, added: number): void {
  const limit = admission.policy.maxTotalArtifactBytesPerRun;
  if (used + added <= limit) return;
  throw new StorageError(
    'STORAGE_LIMIT_EXCEEDED',
    `The run holds ${used} bytes of artifacts; ${added} more would be over ${limit}.`,
    { used, added, limit },
  );
}

/** Throws `INVALID_STORED_VALUE` for what is no reference. */
export function checkReference(reference: ArtifactReference): void {
  if (reference?.schemaVersion !== 1 || !isSha256Digest(reference.digest)) {
    refuse('this is no artifact reference');
  }
}

/** `bytes` when they are the referenced ones. Throws `ARTIFACT_NOT_FOUND`, `ARTIFACT_INTEGRITY`. */
export function verifiedArtifact(
  scope: ArtifactScope,
  reference: ArtifactReference,
  stored: { readonly bytes: Uint8Array | null; readonly hash: HashArtifact },
): Uint8Array {
  const { bytes } = stored;
  if (bytes === null) {
    throw new StorageError(
      'ARTIFACT_NOT_FOUND',
      `Run ${scope.runId} has no artifact ${reference.digest}.`,
      { runId: scope.runId, digest: reference.digest },
    );
  }
  const found = `sha256:${stored.hash(bytes)}`;
  if (found !== reference.digest || bytes.byteLength !== reference.byteLength) {
    throw new StorageError(
      'ARTIFACT_INTEGRITY',
      `Artifact ${reference.digest} of ${reference.byteLength} bytes is stored as ${found} ` +
        `of ${bytes.byteLength}.`,
      { runId: scope.runId, digest: reference.digest },
    );
  }
  return bytes;
}

function checkLabels(mediaType: unknown, purpose: unknown): void {
  if (typeof mediaType !== 'string' || !MEDIA_TYPE.test(mediaType)) {
    refuse('mediaType must look like type/subtype');
  }
  if (mediaType.length > MAX_MEDIA_TYPE_BYTES) refuse('mediaType is over 255 bytes');
  const fault = textFault(purpose);
  if (fault !== null) refuse(`purpose: ${fault}`);
  if (utf8Length(purpose as string) > MAX_PURPOSE_BYTES) refuse('purpose is over 512 bytes');
}

function refuse(what: string): never {
  throw new StorageError('INVALID_STORED_VALUE', `Artifact: ${what}.`);
}
