/** The error of every store: one class, one closed set of codes, the same on every adapter. */
import { type ErrorDetails, HoldfastError } from '../base/errors.ts';

/** The codes of stores. */
export type StorageErrorCode =
  | 'SEQUENCE_CONFLICT'
  | 'STALE_FENCE'
  | 'DUPLICATE_EVENT_ID'
  | 'STORAGE_LIMIT_EXCEEDED'
  | 'KNOWN_SECRET'
  | 'INVALID_STORED_VALUE'
  | 'CORRUPT_EVENT_STREAM'
  | 'COMPACTED'
  | 'COMPACTION_REFUSED'
  | 'SNAPSHOT_AHEAD'
  | 'LEASE_LOST'
  | 'ARTIFACT_NOT_FOUND'
  | 'ARTIFACT_INTEGRITY'
  | 'ARTIFACT_NOT_ADMITTED'
  | 'SENSITIVE_CONTENT'
  | 'STORE_BUSY'
  | 'STORE_IO'
  | 'STORE_FULL'
  | 'STORE_READ_ONLY'
  | 'STORE_CORRUPT'
  | 'STORE_POISONED'
  | 'STORE_SCHEMA_UNSUPPORTED'
  | 'SQLITE_DRIVER_MISSING'
  | 'INVALID_OPTION';

/** A refusal or failure of a store. Recognise it by its code (`isHoldfastError`). */
export class StorageError extends HoldfastError {
  constructor(
    code: StorageErrorCode,
    message: string,
    details: ErrorDetails = {},
    cause?: unknown,
  ) {
    super(code, message, details, cause);
    this.name = 'StorageError';
  }
}
