/** How much one run may store. */
import { StorageError } from './storage-error.ts';

/** The limits of a storage, in bytes. The other fields have one value each in this version. */
export interface RunStoragePolicy {
  readonly schemaVersion: 1;
  /** The largest payload of one event, in bytes of its JSON text. */
  readonly maxEventPayloadBytes: number;
  /** The largest sum of the payloads of one append, in bytes; at least `maxEventPayloadBytes`. */
  readonly maxAppendBatchBytes: number;
  readonly maxArtifactBytes: number;
  readonly maxTotalArtifactBytesPerRun: number;
  readonly retention: 'until-run-delete';
  readonly sensitiveContent: {
    readonly marked: 'reject';
    readonly exact: 'reject';
    readonly freeText: 'redact-before-hash';
  };
}

/** 256 KiB an event, 1 MiB a batch, 1 MiB an artifact, 16 MiB of artifacts a run. */
export const defaultStoragePolicy: RunStoragePolicy = Object.freeze({
  schemaVersion: 1,
  maxEventPayloadBytes: 256 * 1024,
  maxAppendBatchBytes: 1024 * 1024,
  maxArtifactBytes: 1024 * 1024,
  maxTotalArtifactBytesPerRun: 16 * 1024 * 1024,
  retention: 'until-run-delete',
  sensitiveContent: Object.freeze({
    marked: 'reject',
    exact: 'reject',
    freeText: 'redact-before-hash',
  }),
});

const SIZES = [
  'maxEventPayloadBytes',
  'maxAppendBatchBytes',
  'maxArtifactBytes',
  'maxTotalArtifactBytesPerRun',
] as const;

/** Throws `INVALID_OPTION` for a policy that no store can keep. */
export function checkStoragePolicy(policy: RunStoragePolicy): void {
  const given = policy?.sensitiveContent;
  const fault =
    SIZES.map((name) => sizeFault(name, policy?.[name])).find((found) => found !== null) ??
    (policy.schemaVersion !== 1 ? 'schemaVersion must be 1' : null) ??
    (policy.retention !== 'until-run-delete' ? "retention must be 'until-run-delete'" : null) ??
    (given?.marked !== 'reject' || given.exact !== 'reject'
      ? 'sensitiveContent must reject'
      : null) ??
    (given?.freeText !== 'redact-before-hash' ? 'sensitiveContent.freeText is unknown' : null) ??
    orderFault(policy);
  if (fault !== null) throw new StorageError('INVALID_OPTION', `Storage policy: ${fault}.`);
}

function sizeFault(name: string, size: unknown): string | null {
  return Number.isSafeInteger(size) && Number(size) > 0
    ? null
    : `${name} must be a positive number of bytes, not ${String(size)}`;
}

function orderFault(policy: RunStoragePolicy): string | null {
  if (policy.maxAppendBatchBytes < policy.maxEventPayloadBytes) {
    return 'maxAppendBatchBytes is smaller than maxEventPayloadBytes';
  }
  return policy.maxTotalArtifactBytesPerRun < policy.maxArtifactBytes
    ? 'maxTotalArtifactBytesPerRun is smaller than maxArtifactBytes'
    : null;
}

/**
 * The largest payload, in bytes, that surely fits a batch together with the small events written
 * beside it: an executor offers no larger one, whatever a store might still take.
 */
export function safePayloadBytes(policy: RunStoragePolicy): number {
  return Math.min(policy.maxEventPayloadBytes, Math.floor(policy.maxAppendBatchBytes / 2));
}
