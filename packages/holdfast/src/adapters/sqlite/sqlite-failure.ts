/** Failures of SQLite and of the file system, brought to the codes of the store. */
import { errorText, isHoldfastError } from '../../base/errors.ts';
import { StorageError, type StorageErrorCode } from '../../store/storage-error.ts';

/** What went wrong, by SQLite's result code. */
export type SqliteFailureKind =
  | 'busy'
  | 'constraint'
  | 'corrupt'
  | 'full'
  | 'io'
  | 'not-a-database'
  | 'read-only'
  | 'cannot-open'
  | 'other';

/** Thrown by drivers; it never leaves the adapter. */
export class SqliteFailure extends Error {
  readonly kind: SqliteFailureKind;

  constructor(kind: SqliteFailureKind, message: string, cause: unknown) {
    super(message, { cause });
    this.name = 'SqliteFailure';
    this.kind = kind;
  }
}

/** By SQLite's primary result code. */
const kinds: Readonly<Record<number, SqliteFailureKind>> = {
  3: 'read-only',
  5: 'busy',
  6: 'busy',
  8: 'read-only',
  10: 'io',
  11: 'corrupt',
  13: 'full',
  14: 'cannot-open',
  15: 'busy',
  19: 'constraint',
  26: 'not-a-database',
};

const primaryCodes: Readonly<Record<string, number>> = {
  PERM: 3,
  BUSY: 5,
  LOCKED: 6,
  READONLY: 8,
  IOERR: 10,
  CORRUPT: 11,
  FULL: 13,
  CANTOPEN: 14,
  PROTOCOL: 15,
  CONSTRAINT: 19,
  NOTADB: 26,
};

/**
 * `SQLITE_IOERR_SHMSIZE`: the index of the write-ahead log, which readers need too, could not grow.
 * SQLite writes one byte a page for that, and keeps back why it failed: for want of space.
 */
const INDEX_CANNOT_GROW = 10 | (19 << 8);

/** The kind of a result code, primary or extended. */
export function failureKind(resultCode: number): SqliteFailureKind {
  if (resultCode === INDEX_CANNOT_GROW) return 'full';
  return kinds[resultCode & 0xff] ?? 'other';
}

/** The kind of a code by name, such as `SQLITE_IOERR_READ`. */
export function failureKindOfName(code: string): SqliteFailureKind {
  if (code === 'SQLITE_IOERR_SHMSIZE') return failureKind(INDEX_CANNOT_GROW);
  const primary = primaryCodes[code.split('_')[1] ?? ''];
  return primary === undefined ? 'other' : failureKind(primary);
}

const codesOfKinds: Readonly<Record<SqliteFailureKind, StorageErrorCode>> = {
  busy: 'STORE_BUSY',
  constraint: 'STORE_CORRUPT',
  corrupt: 'STORE_CORRUPT',
  full: 'STORE_FULL',
  io: 'STORE_IO',
  'not-a-database': 'STORE_CORRUPT',
  'read-only': 'STORE_READ_ONLY',
  'cannot-open': 'STORE_READ_ONLY',
  other: 'STORE_IO',
};

const codesOfSystem: Readonly<Record<string, StorageErrorCode>> = {
  EACCES: 'STORE_READ_ONLY',
  EPERM: 'STORE_READ_ONLY',
  EROFS: 'STORE_READ_ONLY',
  ENOSPC: 'STORE_FULL',
  EDQUOT: 'STORE_FULL',
};

/** The store's error for anything that was thrown; errors of the library pass through. */
export function storageErrorOf(error: unknown, path: string): Error {
  if (isHoldfastError(error)) return error;
  const code =
    error instanceof SqliteFailure
      ? codesOfKinds[error.kind]
      : (codesOfSystem[systemCode(error)] ?? 'STORE_IO');
  const what = code === 'STORE_FULL' ? 'there is no space left: ' : '';
  return new StorageError(code, `Store ${path}: ${what}${errorText(error)}.`, { path }, error);
}

export function isBusy(error: unknown): boolean {
  return error instanceof SqliteFailure && error.kind === 'busy';
}

/** The code of a system error, such as `ENOENT`; empty for anything else. */
export function systemCode(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string'
    ? error.code
    : '';
}
