/** The rules of artifacts, one for all adapters: what may be stored, and what a read must find. */
import { isSha256Digest, type Sha256Digest } from '../base/digest.ts';
import { textFault } from '../base/identifier.ts';
import { utf8Length } from '../base/text.ts';
import type { Admission } from './admission.ts';
import { screenedContent } from './artifact-content.ts';
import type { ArtifactReference, ArtifactScope, NewArtifact } from './artifact-store.ts';
import { StorageError } from './storage-error.ts';

/** SHA-256 of bytes as 64 hex digits. */
export type HashArtifact = (bytes: Uint8Array) => string;

export interface AdmittedArtifact {
  /** A copy: what the caller does to its bytes later changes nothing. */
  readonly bytes: Uint8Array;
  readonly reference: ArtifactReference;
}

/** What a run holds of one digest. */
export interface StoredArtifact {
  readonly bytes: Uint8Array;
  /** Whether a write of this run returned exactly the reference that is asked for. */
  readonly isAdmitted: boolean;
}

const MEDIA_TYPE = /^[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]*\/[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]*$/;
const MAX_MEDIA_TYPE_BYTES = 255;
const MAX_PURPOSE_BYTES = 512;
const REFERENCE_FIELDS = 'byteLength,digest,mediaType,purpose,schemaVersion';

/**
 * Throws `INVALID_STORED_VALUE`, `SENSITIVE_CONTENT`, `STORAGE_LIMIT_EXCEEDED`, `KNOWN_SECRET`.
 */
export function admitArtifact(
  admission: Admission,
  artifact: NewArtifact,
  hash: HashArtifact,
): AdmittedArtifact {
  checkShape(artifact);
  const { mediaType, purpose, contentMode: mode = 'exact' } = artifact;
  admission.text('the artifact', mediaType);
  admission.text('the artifact', purpose);
  const content = { bytes: artifact.bytes, mediaType, mode };
  // What is redacted may shrink; anything else is refused before it is copied and searched.
  if (mode !== 'free-text') checkSize(admission, content.bytes.byteLength);
  const bytes = screenedContent(content, admission.screen);
  checkSize(admission, bytes.byteLength);
  const digest: Sha256Digest = `sha256:${hash(bytes)}`;
  // No event could hold the receipt either.
  admission.text('the digest of the artifact', digest);
  const { byteLength } = bytes;
  const reference = Object.freeze({ schemaVersion: 1, digest, byteLength, mediaType, purpose });
  return { bytes, reference };
}

/** Throws `INVALID_STORED_VALUE` for no artifacts, and what `admitArtifact` throws. */
export function admitArtifacts(
  admission: Admission,
  artifacts: readonly NewArtifact[],
  hash: HashArtifact,
): readonly AdmittedArtifact[] {
  if (!Array.isArray(artifacts) || artifacts.length === 0) refuse('there are none to write');
  return artifacts.map((artifact) => admitArtifact(admission, artifact, hash));
}

/** What is used, and what writing all of a batch would add: each content counts once. */
export function checkBatchQuota(
  admission: Admission,
  batch: readonly AdmittedArtifact[],
  held: { readonly used: number; readonly has: (digest: Sha256Digest) => boolean },
): void {
  const added = new Map<string, number>();
  for (const { reference } of batch) {
    const { digest, byteLength } = reference;
    if (!held.has(digest)) added.set(digest, byteLength);
  }
  const bytes = [...added.values()].reduce((sum, each) => sum + each, 0);
  if (added.size > 0) checkArtifactQuota(admission, held.used, bytes);
}

/** Throws `STORAGE_LIMIT_EXCEEDED` when a run that holds `used` bytes has no room for the rest. */
function checkArtifactQuota(admission: Admission, used: number, added: number): void {
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
  if (typeof reference !== 'object' || reference === null) refuse('this is no reference');
  const { schemaVersion, digest, byteLength, mediaType, purpose } = reference;
  const isSound =
    Object.keys(reference).sort().join() === REFERENCE_FIELDS &&
    schemaVersion === 1 &&
    isSha256Digest(digest) &&
    Number.isSafeInteger(byteLength) &&
    byteLength >= 0 &&
    labelFault(mediaType, purpose) === null;
  if (!isSound) refuse('this is no reference: it has other fields than a write returns');
}

/**
 * A copy of the bytes when a receipt of the run names them. Throws `ARTIFACT_NOT_FOUND`,
 * `ARTIFACT_NOT_ADMITTED`, `ARTIFACT_INTEGRITY`.
 */
export function verifiedArtifact(
  { runId }: ArtifactScope,
  reference: ArtifactReference,
  found: { readonly stored: StoredArtifact | null; readonly hash: HashArtifact },
): Uint8Array {
  const { stored } = found;
  const { digest, byteLength } = reference;
  const details = { runId, digest };
  if (stored === null) {
    throw new StorageError(
      'ARTIFACT_NOT_FOUND',
      `Run ${runId} has no artifact ${digest}.`,
      details,
    );
  }
  if (!stored.isAdmitted) {
    throw new StorageError(
      'ARTIFACT_NOT_ADMITTED',
      `Run ${runId} holds ${digest}, but never gave this reference to it: its length, media type ` +
        'or purpose is another. Read with exactly what write returned.',
      details,
    );
  }
  const bytes = Uint8Array.from(stored.bytes);
  const actual = `sha256:${found.hash(bytes)}`;
  if (actual === digest && bytes.byteLength === byteLength) return bytes;
  throw new StorageError(
    'ARTIFACT_INTEGRITY',
    `Artifact ${digest} of ${byteLength} bytes is stored as ${actual} of ${bytes.byteLength}.`,
    details,
  );
}

/** The shape of what is offered; `bytes` are not looked at. */
function checkShape(artifact: NewArtifact): void {
  if (typeof artifact !== 'object' || artifact === null) refuse('it is no object');
  const { bytes, contentMode = 'exact', sensitive = false } = artifact;
  if (!(bytes instanceof Uint8Array)) refuse('bytes must be a Uint8Array');
  if (contentMode !== 'exact' && contentMode !== 'state' && contentMode !== 'free-text') {
    refuse("contentMode must be 'exact', 'state' or 'free-text'");
  }
  if (typeof sensitive !== 'boolean') refuse('sensitive must be true or false');
  if (sensitive) {
    throw new StorageError(
      'SENSITIVE_CONTENT',
      'The artifact is marked as sensitive, and the policy keeps nothing that is.',
    );
  }
  const fault = labelFault(artifact.mediaType, artifact.purpose);
  if (fault !== null) refuse(fault);
}

function labelFault(mediaType: unknown, purpose: unknown): string | null {
  if (typeof mediaType !== 'string' || !MEDIA_TYPE.test(mediaType)) {
    return 'mediaType must look like type/subtype';
  }
  if (mediaType.length > MAX_MEDIA_TYPE_BYTES) return 'mediaType is over 255 bytes';
  const fault = textFault(purpose);
  if (fault !== null) return `purpose: ${fault}`;
  return utf8Length(purpose as string) > MAX_PURPOSE_BYTES ? 'purpose is over 512 bytes' : null;
}

function checkSize(admission: Admission, byteLength: number): void {
  const limit = admission.policy.maxArtifactBytes;
  if (byteLength <= limit) return;
  throw new StorageError(
    'STORAGE_LIMIT_EXCEEDED',
    `An artifact of ${byteLength} bytes is larger than ${limit}.`,
    { byteLength, limit },
  );
}

function refuse(what: string): never {
  throw new StorageError('INVALID_STORED_VALUE', `Artifact: ${what}.`);
}
