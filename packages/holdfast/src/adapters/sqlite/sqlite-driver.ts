/**
 * The driver port: the little of SQLite that the adapter needs, and how a driver is chosen.
 *
 * Invariants: a driver never waits for a lock (`busy_timeout` 0) and reports every failure as a
 * `SqliteFailure`. A driver is loaded when the first store is opened, never by an import.
 */
import { StorageError } from '../../store/storage-error.ts';
import { loadBetterSqlite } from './better-sqlite-driver.ts';
import { loadNodeSqlite } from './node-sqlite-driver.ts';

export type SqliteValue = string | number | bigint | Uint8Array | null;
export type SqliteRow = Readonly<Record<string, SqliteValue>>;

export interface SqliteStatement {
  /** Runs the statement and returns how many rows it changed. */
  run(...values: readonly SqliteValue[]): number;
  get(...values: readonly SqliteValue[]): SqliteRow | undefined;
  all(...values: readonly SqliteValue[]): readonly SqliteRow[];
}

export interface SqliteConnection {
  exec(sql: string): void;
  prepare(sql: string): SqliteStatement;
  close(): void;
}

export interface SqliteDriver {
  /** `node:sqlite` or `better-sqlite3`. */
  readonly name: string;
  open(path: string): SqliteConnection;
}

/** Throws `SQLITE_DRIVER_MISSING`. */
export function loadSqliteDriver(): SqliteDriver {
  const driver = loadNodeSqlite() ?? loadBetterSqlite();
  if (driver !== null) return driver;
  throw new StorageError(
    'SQLITE_DRIVER_MISSING',
    `Node ${process.versions.node} has no node:sqlite, and better-sqlite3 cannot be loaded. ` +
      'Use Node 22.13 or later, or run `npm install better-sqlite3@12`.',
  );
}
