/**
 * The connection of one storage: opened at first use, statements prepared once, busy locks waited
 * for by a timer and never on the event loop.
 *
 * Invariant: no transaction, for reading or writing, is open when control returns to the event
 * loop, so the write-ahead log can always be checkpointed.
 */
import { join } from 'node:path';
import type { Clock } from '../../base/ports.ts';
import type { StreamRef } from '../../history/envelope.ts';
import { StorageError } from '../../store/storage-error.ts';
import { type FileSync, WalSync } from './file-sync.ts';
import { loadSqliteDriver } from './load-driver.ts';
import { ReadShare } from './read-share.ts';
import type { SqliteConnection, SqliteDriver, SqliteStatement } from './sqlite-driver.ts';
import { isBusy, storageErrorOf } from './sqlite-failure.ts';
import { openStoreFile, STORE_FILE } from './store-file.ts';

/** How long a busy store is tried again before it is `STORE_BUSY`. */
const BUSY_LIMIT_MS = 10_000;
const FIRST_RETRY_MS = 1;
const LAST_RETRY_MS = 50;

export interface DatabaseOptions {
  readonly directory: string;
  /** Null = the one the running Node offers. */
  readonly driver: SqliteDriver | null;
  readonly fileSync: FileSync;
  /** `full`: each commit syncs by itself. */
  readonly synchronous: 'normal' | 'full';
  /** Times retries; its timers keep the process alive while somebody waits. */
  readonly clock: Clock;
  /** Times what nobody waits for; its timers keep nothing alive. */
  readonly background: Clock;
  /** Milliseconds from any fixed moment. */
  readonly elapsed: () => number;
  /** Calls back in the next turn of the event loop. */
  readonly soon: (callback: () => void) => void;
}

/** One open connection and what belongs to it. */
interface Opened {
  readonly connection: SqliteConnection;
  readonly statements: Map<string, SqliteStatement>;
}

/** The name under which what is known of a stream is kept. */
export function streamKey({ namespace, streamId }: StreamRef): string {
  return `${namespace}/${streamId}`;
}

export class Database {
  readonly path: string;
  readonly options: DatabaseOptions;
  readonly walSync: WalSync;
  /** Row ids of runs known to be committed, by `streamKey`. */
  readonly runIds: Map<string, number> = new Map();
  readonly #share: ReadShare;
  readonly #attempts = new Set<Promise<unknown>>();
  #opened: Opened | null = null;
  #poison: StorageError | null = null;

  constructor(options: DatabaseOptions) {
    this.options = options;
    this.path = join(options.directory, STORE_FILE);
    const { fileSync, elapsed } = options;
    this.walSync = new WalSync({ path: `${this.path}-wal`, fileSync, elapsed });
    this.#share = new ReadShare(options);
  }

  get isOpen(): boolean {
    return this.#opened !== null;
  }

  /** A statement, prepared at its first use. Opens the store. Throws what drivers throw. */
  statement(sql: string): SqliteStatement {
    const { connection, statements } = this.#open();
    const known = statements.get(sql);
    if (known !== undefined) return known;
    const prepared = connection.prepare(sql);
    statements.set(sql, prepared);
    return prepared;
  }

  /** The row id of a stream's run, or null for an unknown stream. */
  runId(stream: StreamRef): number | null {
    const key = streamKey(stream);
    const known = this.runIds.get(key);
    if (known !== undefined) return known;
    const row = this.statement('select id from run where namespace = ? and name = ?').get(
      stream.namespace,
      stream.streamId,
    );
    if (row === undefined) return null;
    const id = Number(row['id']);
    this.runIds.set(key, id);
    return id;
  }

  /**
   * Runs `work` when its turn has come; while the store is busy, again later. Throws errors of the
   * store only.
   */
  attempt<T>(work: () => T): Promise<T> {
    const attempt = this.#attempt(work);
    this.#attempts.add(attempt);
    const over = (): boolean => this.#attempts.delete(attempt);
    attempt.then(over, over);
    return attempt;
  }

  /** Resolves when every attempt made so far is over: one left behind would open the files anew. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#attempts);
  }

  async #attempt<T>(work: () => T): Promise<T> {
    const { clock } = this.options;
    const begun = clock.now();
    while (this.#share.isUsedUp) await this.#share.next();
    for (let delayMs = FIRST_RETRY_MS; ; delayMs = Math.min(delayMs * 2, LAST_RETRY_MS)) {
      this.assertSound();
      try {
        return work();
      } catch (error) {
        if (!isBusy(error) || clock.now() - begun >= BUSY_LIMIT_MS) {
          throw storageErrorOf(error, this.path);
        }
      }
      await new Promise<void>((resolve) => {
        clock.after(delayMs, resolve);
      });
    }
  }

  /** From now on everything is refused: what the disk holds is unknown. */
  poison(cause: unknown): StorageError {
    this.#poison ??= new StorageError(
      'STORE_POISONED',
      `Store ${this.path}: a sync failed, so it is unknown what the disk holds. ` +
        'Check the disk, then start a new process.',
      { path: this.path },
      cause,
    );
    return this.#poison;
  }

  /** Throws `STORE_POISONED` once a sync has failed. */
  assertSound(): void {
    if (this.#poison !== null) throw this.#poison;
  }

  /** Lets go of the files; the next use opens them again. */
  close(): void {
    const opened = this.#opened;
    this.#opened = null;
    this.runIds.clear();
    this.walSync.close();
    opened?.connection.close();
  }

  #open(): Opened {
    if (this.#opened !== null) return this.#opened;
    const { directory, synchronous } = this.options;
    const driver = this.options.driver ?? loadSqliteDriver();
    const connection = openStoreFile(driver, directory, synchronous);
    this.#opened = { connection, statements: new Map() };
    return this.#opened;
  }
}
