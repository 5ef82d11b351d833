/**
 * The one way into the file: what many runs write in one turn of the event loop is committed in
 * one transaction and made durable by one sync.
 *
 * Invariants: a write is acknowledged only after a sync that began after its commit; a write that
 * is refused fails alone and leaves nothing; after a failed sync nothing is acknowledged any more.
 */
import { isHoldfastError } from '../../base/errors.ts';
import type { Timer } from '../../base/ports.ts';
import type { Database } from './database.ts';
import { isBusy, storageErrorOf } from './sqlite-failure.ts';

const GROUP_WRITES = 64;
const GROUP_BYTES = 1024 * 1024;
const GROUP_MS = 4;
/** While so many writes become durable, others have time to make the next group. */
const MANY_WRITES = 16;
const BUSY_LIMIT_MS = 10_000;
const BUSY_RETRY_MS = 5;
/** An idle store gives the space of its log back. */
const IDLE_MS = 2_000;

/** One write: its statements, run inside a transaction that others may share. */
export interface Write<T> {
  /** True when it is a single statement that changes nothing when it is refused. */
  readonly single: boolean;
  readonly bytes: number;
  /** Throws an error of the library to be refused. */
  apply(database: Database): T;
  /** Called after the commit, before it is durable. */
  committed?(result: T): void;
  /** Called once it is durable, before the acknowledgement. */
  durable?(result: T): void;
}

/** What the driver has done for this storage since it was made. */
export interface StorageCounters {
  /** Transactions committed. */
  readonly commits: number;
  /** Syncs of files, those of checkpoints included. */
  readonly syncs: number;
  /** Bytes of event batches, snapshots and artifacts written. */
  readonly bytes: number;
}

interface Waiting {
  readonly write: Write<unknown>;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** A waiting write that has been applied, with what it is to be told. */
interface Applied {
  readonly waiting: Waiting;
  readonly result: unknown;
  readonly refusal: Error | null;
}

export class WriteQueue {
  readonly #database: Database;
  #waiting: Waiting[] = [];
  #unsynced: Applied[] = [];
  #idle: (() => void)[] = [];
  #scheduled = false;
  #syncing = false;
  #busySince: number | null = null;
  #truncation: Timer | null = null;
  #commits = 0;
  #bytes = 0;

  constructor(database: Database) {
    this.#database = database;
  }

  get counters(): StorageCounters {
    return { commits: this.#commits, syncs: this.#syncs(), bytes: this.#bytes };
  }

  /** Resolves with what `apply` returned, once it is durable. */
  write<T>(write: Write<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({
        write: write as Write<unknown>,
        resolve: resolve as (result: unknown) => void,
        reject,
      });
      this.#schedule();
    });
  }

  /** Resolves when everything written so far, by any process, is durable. */
  sync(): Promise<void> {
    // The read holds the log in place: while a connection is open nobody removes it.
    const apply = (database: Database): void => {
      database.statement('select 1 from run limit 1').get();
    };
    return this.write({ single: true, bytes: 0, apply });
  }

  /** Resolves when nothing waits any more. */
  drained(): Promise<void> {
    this.#truncation?.cancel();
    this.#truncation = null;
    return new Promise((resolve) => {
      this.#idle.push(resolve);
      this.#settleIdle();
    });
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    this.#database.options.clock.soon(() => {
      this.#scheduled = false;
      this.#flush();
    });
  }

  #flush(): void {
    const group = this.#waiting;
    if (group.length === 0) return this.#settleIdle();
    let applied: readonly Applied[];
    try {
      this.#database.assertSound();
      applied = this.#commit(group);
      this.#busySince = null;
    } catch (error) {
      return this.#failed(group, error);
    }
    this.#waiting = group.slice(applied.length);
    this.#unsynced.push(...applied);
    if (!this.#syncing) this.#sync();
    if (this.#waiting.length > 0) this.#schedule();
    else this.#settleIdle();
  }

  /** Commits as many writes of the group as fit, in order. */
  #commit(group: readonly Waiting[]): readonly Applied[] {
    const [first] = group;
    if (group.length === 1 && first?.write.single) {
      const applied = this.#apply(first);
      this.#count([applied]);
      return [applied];
    }
    const database = this.#database;
    database.statement('begin immediate').run();
    try {
      const applied = this.#applyAll(group);
      database.statement('commit').run();
      this.#count(applied);
      return applied;
    } catch (error) {
      this.#rollBack();
      throw error;
    }
  }

  #applyAll(group: readonly Waiting[]): readonly Applied[] {
    const { elapsed } = this.#database.options;
    const begun = elapsed();
    const applied: Applied[] = [];
    let bytes = 0;
    for (const waiting of group) {
      applied.push(waiting.write.single ? this.#apply(waiting) : this.#applyAlone(waiting));
      bytes += waiting.write.bytes;
      const full = applied.length >= GROUP_WRITES || bytes >= GROUP_BYTES;
      if (full || elapsed() - begun >= GROUP_MS) break;
    }
    return applied;
  }

  #apply(waiting: Waiting): Applied {
    try {
      return { waiting, result: waiting.write.apply(this.#database), refusal: null };
    } catch (error) {
      if (!isHoldfastError(error)) throw error;
      return { waiting, result: undefined, refusal: error };
    }
  }

  /** A write of several statements: when it is refused, none of them stays. */
  #applyAlone(waiting: Waiting): Applied {
    const database = this.#database;
    database.statement('savepoint write').run();
    const applied = this.#apply(waiting);
    if (applied.refusal !== null) database.statement('rollback to write').run();
    database.statement('release write').run();
    return applied;
  }

  #rollBack(): void {
    try {
      this.#database.statement('rollback').run();
    } catch {
      // SQLite has rolled back by itself, as it does when the disk is full.
    }
    // Runs that were made in the transaction may have been looked up in it.
    this.#database.runIds.clear();
  }

  #count(applied: readonly Applied[]): void {
    let changed = false;
    for (const { waiting, result, refusal } of applied) {
      if (refusal !== null) continue;
      changed ||= waiting.write.bytes > 0 || !waiting.write.single;
      this.#bytes += waiting.write.bytes;
      waiting.write.committed?.(result);
    }
    if (changed) this.#commits += 1;
  }

  #syncs(): number {
    const own = this.#database.walSync.count;
    return this.#database.options.synchronous === 'full' ? own + this.#commits : own;
  }

  #sync(): void {
    const applied = this.#unsynced;
    this.#unsynced = [];
    const { walSync, options } = this.#database;
    if (options.synchronous === 'full') return this.#acknowledge(applied);
    try {
      if (walSync.isCheap && applied.length < MANY_WRITES) {
        walSync.now();
        return this.#acknowledge(applied);
      }
      this.#syncing = true;
      walSync.later((error) => {
        this.#syncing = false;
        if (error !== null) return this.#poisoned(applied, error);
        this.#acknowledge(applied);
        if (this.#unsynced.length > 0) this.#sync();
      });
    } catch (error) {
      this.#syncing = false;
      this.#poisoned(applied, error);
    }
  }

  #acknowledge(applied: readonly Applied[]): void {
    for (const { waiting, result, refusal } of applied) {
      if (refusal !== null) {
        waiting.reject(refusal);
        continue;
      }
      waiting.write.durable?.(result);
      waiting.resolve(result);
    }
    this.#truncateWhenIdle();
    this.#settleIdle();
  }

  #poisoned(applied: readonly Applied[], cause: unknown): void {
    const error = this.#database.poison(cause);
    const waiting = this.#waiting;
    this.#waiting = [];
    const lost = [...applied, ...this.#unsynced.splice(0)].map((each) => each.waiting);
    for (const each of [...lost, ...waiting]) each.reject(error);
    this.#settleIdle();
  }

  /** Nothing of the group was kept: busy writes wait for their turn, all others fail. */
  #failed(group: readonly Waiting[], error: unknown): void {
    const { clock } = this.#database.options;
    if (isBusy(error)) {
      this.#busySince ??= clock.now();
      if (clock.now() - this.#busySince < BUSY_LIMIT_MS) {
        this.#scheduled = true;
        clock.after(BUSY_RETRY_MS, () => {
          this.#scheduled = false;
          this.#flush();
        });
        return;
      }
    }
    this.#busySince = null;
    this.#waiting = [];
    const refusal = storageErrorOf(error, this.#database.path);
    for (const { reject } of group) reject(refusal);
    this.#settleIdle();
  }

  #settleIdle(): void {
    if (this.#waiting.length > 0 || this.#unsynced.length > 0 || this.#syncing) return;
    for (const resolve of this.#idle.splice(0)) resolve();
  }

  /** The log is truncated when nothing was written for a while; its timer keeps nothing alive. */
  #truncateWhenIdle(): void {
    if (this.#truncation !== null || this.#commits === 0) return;
    const commits = this.#commits;
    this.#truncation = this.#database.options.background.after(IDLE_MS, () => {
      this.#truncation = null;
      if (this.#commits === commits && !this.#syncing) this.#truncate();
      else this.#truncateWhenIdle();
    });
  }

  #truncate(): void {
    if (!this.#database.isOpen) return;
    try {
      // After a failed sync the log may not hold what a checkpoint would copy out of it.
      this.#database.assertSound();
      this.#database.statement('pragma wal_checkpoint(truncate)').all();
    } catch {
      // Somebody reads or writes: the log is bounded by checkpoints all the same.
    }
  }
}
