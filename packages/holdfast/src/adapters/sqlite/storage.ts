/** The SQLite storage: every port over the one file of a directory. */
import { resolve } from 'node:path';
import type { Clock } from '../../base/ports.ts';
import { isProvenDead } from '../../process/owner.ts';
import { Admission } from '../../store/admission.ts';
import type { RunStoragePolicy } from '../../store/policy.ts';
import type { RunStorage } from '../../store/storage.ts';
import { StorageError } from '../../store/storage-error.ts';
import { storageRecord } from '../../store/storage-record.ts';
import { createSystemClock } from '../../store/system-clock.ts';
import { SqliteArtifactStore } from './artifact-store.ts';
import { Database } from './database.ts';
import { SqliteEventStore } from './event-store.ts';
import { type FileSync, systemFileSync } from './file-sync.ts';
import { SqliteLeaseStore } from './lease-store.ts';
import { SqliteRunIndex } from './run-index.ts';
import { SqliteSnapshotStore } from './snapshot-store.ts';
import type { SqliteDriver } from './sqlite-driver.ts';
import { type StorageCounters, WriteQueue } from './write-queue.ts';

/** Where a local storage stands and what it keeps to. */
export interface LocalRunStorageOptions {
  /** Where `holdfast.db` stands; made when it is not there. */
  readonly directory: string;
  /** 1–128 letters, digits, `.`, `_`, `-`. */
  readonly namespace: string;
  /** `defaultStoragePolicy` when left out. */
  readonly policy?: RunStoragePolicy;
  /** Text that must never be stored, in no form; live only. */
  readonly knownSecrets?: readonly string[];
  /** Times leases, retries and polls; the machine's clock when left out. */
  readonly clock?: Clock;
}

/** What only tests and benches replace: the driver, how a file is made durable, and the time. */
export interface SqliteParts {
  readonly driver?: SqliteDriver;
  readonly fileSync?: FileSync;
  /** `full` lets every commit sync by itself, as on Windows. */
  readonly synchronous?: 'normal' | 'full';
  /** Measures syncs, groups and shares of the event loop: milliseconds from any fixed moment. */
  readonly elapsed?: () => number;
}

/** A run storage in a directory, with counters of what its driver has done. */
export interface LocalRunStorage extends RunStorage {
  readonly counters: StorageCounters;
}

/**
 * A run storage in one file of a local directory. It is synchronous and lazy: the file is opened,
 * and made if need be, by the first call that needs it. Several processes may use one directory at
 * once; an open storage keeps no process alive; a directory may be moved while it is closed.
 *
 * Throws `INVALID_OPTION`, `INVALID_STORED_VALUE` and `KNOWN_SECRET` for options it cannot keep;
 * later calls also `STORE_READ_ONLY`, `STORE_CORRUPT`, `STORE_SCHEMA_UNSUPPORTED`, `STORE_FULL`,
 * `STORE_IO`, `STORE_BUSY`, `STORE_POISONED`, `SQLITE_DRIVER_MISSING`.
 *
 * @example
 * const storage = createLocalRunStorage({ directory: '.holdfast', namespace: 'reports' });
 */
export function createLocalRunStorage(options: LocalRunStorageOptions): LocalRunStorage {
  return createSqliteRunStorage(options, {});
}

/**
 * `createLocalRunStorage` with replaceable parts; throws the same.
 *
 * @example createSqliteRunStorage({ directory, namespace: 'bench' }, { synchronous: 'full' })
 */
export function createSqliteRunStorage(
  options: LocalRunStorageOptions,
  parts: SqliteParts,
): LocalRunStorage {
  const { directory, namespace, knownSecrets = [] } = options;
  if (typeof directory !== 'string' || directory === '' || directory.includes('\0')) {
    throw new StorageError('INVALID_OPTION', 'directory must be the path of a directory.');
  }
  const admission = new Admission(options.policy, knownSecrets);
  admission.text('the directory', directory);
  const database = new Database({
    // The store stays where it was named, wherever the process goes before it is opened.
    directory: resolve(directory),
    driver: parts.driver ?? null,
    fileSync: parts.fileSync ?? systemFileSync,
    synchronous: parts.synchronous ?? (process.platform === 'win32' ? 'full' : 'normal'),
    clock: options.clock ?? createSystemClock(),
    background: options.clock ?? createSystemClock({ keepsAlive: false }),
    elapsed: parts.elapsed ?? (() => performance.now()),
    soon: createSystemClock().soon,
  });
  const queue = new WriteQueue(database);
  const eventStore = new SqliteEventStore(database, queue, admission);
  return Object.freeze({
    record: storageRecord(namespace, 'sqlite', admission),
    eventStore,
    snapshotStore: new SqliteSnapshotStore(database, queue, admission),
    artifactStore: new SqliteArtifactStore(database, queue, admission),
    leaseStore: new SqliteLeaseStore({ database, queue, namespace, isProvenDead }),
    runIndex: new SqliteRunIndex(database, namespace),
    knownSecrets: Object.freeze([...knownSecrets]),
    get counters(): StorageCounters {
      return queue.counters;
    },
    close: async () => {
      eventStore.close();
      await database.settled();
      await queue.drained();
      database.close();
    },
  });
}
