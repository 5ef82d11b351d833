/**
 * The driver port: the little of SQLite that the adapter needs.
 *
 * Invariant: a driver never waits for a lock and reports every failure as a `SqliteFailure`.
 */

export type SqliteValue = string | number | bigint | Uint8Array | null;
export type SqliteRow = Readonly<Record<string, SqliteValue>>;

export interface SqliteStatement {
  /** Runs the statement and returns how many rows it changed. */
  run(...values: readonly SqliteValue[]): number;
  get(...values: readonly SqliteValue[]): SqliteRow | undefined;
  all(...values: readonly SqliteValue[]): readonly SqliteRow[];
}

/** One open file. */
export interface SqliteConnection {
  exec(sql: string): void;
  prepare(sql: string): SqliteStatement;
  close(): void;
}

/** A way to SQLite. */
export interface SqliteDriver {
  /** `node:sqlite` or `better-sqlite3`. */
  readonly name: string;
  open(path: string): SqliteConnection;
}
