/** How much one run may store. */
import { truncateText } from '../base/text.ts';
import { StorageError } from './storage-error.ts';

/**
 * The limits of a storage, in bytes: positive safe integers. The other fields have one value each
 * in this version; a field that is missing or unknown is refused with `INVALID_OPTION`.
 */
export interface RunStoragePolicy {
  readonly schemaVersion: 1;
  /** The largest payload of one event, in bytes of its JSON text. */
  readonly maxEventPayloadBytes: number;
  /** The largest sum of the payloads of one append, in bytes; at least `maxEventPayloadBytes`. */
  readonly maxAppendBatchBytes: number;
  /** The largest artifact, in bytes as stored. */
  readonly maxArtifactBytes: number;
  /** All artifacts of a run, each content counted once; at least `maxArtifactBytes`. */
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

const MAX_FAULT_LENGTH = 200;
const FIELDS: readonly string[] = [...SIZES, 'schemaVersion', 'retention', 'sensitiveContent'];
const SENSITIVE_FIELDS: readonly string[] = ['marked', 'exact', 'freeText'];

/**
 * A copy that nobody can change. Throws `INVALID_OPTION`, naming the field, for a policy that no
 * store can keep, or that has a field no store knows; `harmless` takes secrets out of its message.
 */
export function frozenPolicy(
  policy: RunStoragePolicy,
  harmless: (text: string) => string,
): RunStoragePolicy {
  const fault = policyFault(policy);
  if (fault !== null) {
    const text = truncateText(harmless(fault), MAX_FAULT_LENGTH);
    throw new StorageError('INVALID_OPTION', `Storage policy: ${text}.`);
  }
  const { sensitiveContent } = policy;
  return Object.freeze({
    ...policy,
    sensitiveContent: Object.freeze({ ...sensitiveContent }),
  });
}

function policyFault(policy: RunStoragePolicy): string | null {
  return (
    fieldFault('', policy, FIELDS) ??
    SIZES.map((name) => sizeFault(name, policy[name])).find((found) => found !== null) ??
    (policy.schemaVersion !== 1 ? 'schemaVersion must be 1' : null) ??
    (policy.retention !== 'until-run-delete' ? "retention must be 'until-run-delete'" : null) ??
    sensitiveFault(policy.sensitiveContent) ??
    orderFault(policy)
  );
}

function sensitiveFault(given: RunStoragePolicy['sensitiveContent']): string | null {
  return (
    fieldFault('sensitiveContent.', given, SENSITIVE_FIELDS) ??
    (given.marked !== 'reject' ? "sensitiveContent.marked must be 'reject'" : null) ??
    (given.exact !== 'reject' ? "sensitiveContent.exact must be 'reject'" : null) ??
    (given.freeText !== 'redact-before-hash'
      ? "sensitiveContent.freeText must be 'redact-before-hash'"
      : null)
  );
}

/** A field that no store knows would be a promise that nobody keeps. */
function fieldFault(path: string, given: unknown, fields: readonly string[]): string | null {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    return `${path === '' ? 'it' : path.slice(0, -1)} must be an object`;
  }
  const names = Object.keys(given);
  const unknown = names.find((name) => !fields.includes(name));
  if (unknown !== undefined) {
    return `it has no field ${path}${unknown}`;
  }
  const missing = fields.find((name) => !names.includes(name));
  return missing === undefined ? null : `${path}${missing} is missing`;
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
 * The largest payload, in bytes of its JSON text, that surely fits a batch together with the small
 * events written beside it: an executor offers no larger one, whatever a store might still take.
 * An attempt's result may have a little less, for the names that its event holds beside it. It
 * throws nothing.
 *
 * @example safePayloadBytes(defaultStoragePolicy) // 262144
 */
export function safePayloadBytes(policy: RunStoragePolicy): number {
  return Math.min(policy.maxEventPayloadBytes, Math.floor(policy.maxAppendBatchBytes / 2));
}
