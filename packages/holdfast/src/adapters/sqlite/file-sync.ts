/**
 * Making the write-ahead log durable: the sync that an acknowledgement waits for.
 *
 * While syncs are cheap they run in line, where a hand-over to another thread would cost more than
 * the sync; when the disk is slow, or many wait, they run in the host's pool and the event loop
 * goes on.
 */
import { closeSync, fdatasync, fdatasyncSync, fsync, fsyncSync, openSync, readSync } from 'node:fs';
import { dirname } from 'node:path';
import { systemCode } from './sqlite-failure.ts';

/** Syncs slower than this on average move to the pool. */
const INLINE_BELOW_MS = 1;
/** The weight of the newest sync in the moving average. */
const NEWEST_WEIGHT = 0.2;
/**
 * The time of a sync in the pool holds the delay of the event loop too, so a busy process would
 * never find out that its disk is fast: now and then one sync is done in line, and decides anew.
 */
const PROBE_EVERY = 32;
/** Where the header of a write-ahead log counts how often the log began anew. */
const RESTARTS_OFFSET = 12;
/** A checkpoint syncs the log, the database and then the header of the log that begins anew. */
const SYNCS_PER_RESTART = 3;

/** Makes the bytes of an open file durable; a port, so that tests can play a bad disk. */
export interface FileSync {
  now(fd: number): void;
  later(fd: number, done: (error: Error | null) => void): void;
}

/** macOS keeps `fdatasync` in the cache of the disk; only `fsync` asks the disk itself. */
const full = process.platform === 'darwin';

export const systemFileSync: FileSync = Object.freeze({
  now: full ? fsyncSync : fdatasyncSync,
  later: full ? fsync : fdatasync,
});

export interface WalSyncOptions {
  /** The path of the `-wal` file. */
  readonly path: string;
  readonly fileSync: FileSync;
  /** Milliseconds from any fixed moment. */
  readonly elapsed: () => number;
}

export class WalSync {
  readonly #options: WalSyncOptions;
  #fd: number | null = null;
  #averageMs = 0;
  /** Syncs in the pool since the last one in line. */
  #pooled = 0;
  #count = 0;
  #restartsBefore = 0;

  constructor(options: WalSyncOptions) {
    this.#options = options;
  }

  /** True when the next sync is best done in line. */
  get isCheap(): boolean {
    return this.#averageMs < INLINE_BELOW_MS || this.#pooled >= PROBE_EVERY;
  }

  /** How many syncs there were, those of SQLite's own checkpoints included. */
  get count(): number {
    return this.#count + (this.#restarts() - this.#restartsBefore) * SYNCS_PER_RESTART;
  }

  /** Syncs in line; does nothing while there is no log. */
  now(): void {
    const fd = this.#open();
    if (fd === null) return;
    const begun = this.#options.elapsed();
    this.#options.fileSync.now(fd);
    if (this.#pooled > 0) this.#averageMs = this.#options.elapsed() - begun;
    this.#pooled = 0;
    this.#measure(begun);
  }

  /** Syncs in the pool, then calls `done`; at once while there is no log. */
  later(done: (error: Error | null) => void): void {
    const fd = this.#open();
    if (fd === null) {
      done(null);
      return;
    }
    // Of a sync that could as well have been made in line, the event loop's delay says nothing.
    if (this.isCheap) {
      this.#options.fileSync.later(fd, (error) => {
        this.#count += 1;
        done(error);
      });
      return;
    }
    const begun = this.#options.elapsed();
    this.#pooled += 1;
    this.#options.fileSync.later(fd, (error) => {
      this.#measure(begun);
      done(error);
    });
  }

  close(): void {
    this.#count = this.count;
    this.#restartsBefore = 0;
    if (this.#fd !== null) closeSync(this.#fd);
    this.#fd = null;
  }

  #measure(begun: number): void {
    const took = this.#options.elapsed() - begun;
    this.#averageMs += (took - this.#averageMs) * NEWEST_WEIGHT;
    this.#count += 1;
  }

  #open(): number | null {
    if (this.#fd !== null) return this.#fd;
    try {
      this.#fd = openSync(this.#options.path, 'r+');
    } catch (error) {
      if (systemCode(error) === 'ENOENT') return null;
      throw error;
    }
    this.#restartsBefore = this.#restarts();
    // The name of the log must be as durable as its bytes.
    syncDirectory(dirname(this.#options.path));
    this.#count += 1;
    return this.#fd;
  }

  #restarts(): number {
    const header = new DataView(new ArrayBuffer(4));
    if (this.#fd === null) return this.#restartsBefore;
    return readSync(this.#fd, header, 0, 4, RESTARTS_OFFSET) === 4
      ? header.getUint32(0)
      : this.#restartsBefore;
  }
}

/** Makes the names in a directory durable, where the system can. */
export function syncDirectory(path: string): void {
  if (process.platform === 'win32') return;
  const fd = openSync(path, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
