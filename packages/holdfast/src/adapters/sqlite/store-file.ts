/**
 * The file of a store: how it comes to be, and what is checked when it is opened.
 *
 * Invariant: `holdfast.db` appears whole or not at all (it is made aside and linked into place), so
 * an empty or cut one is damage and never mistaken for a new store.
 */
import { chmodSync, existsSync, linkSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { StorageError } from '../../store/storage-error.ts';
import { syncDirectory } from './file-sync.ts';
import { APPLICATION_ID, FIRST_SCHEMA, SCHEMA_VERSION, schema, upgradeSchema } from './schema.ts';
import type { SqliteConnection, SqliteDriver } from './sqlite-driver.ts';
import { SqliteFailure, systemCode } from './sqlite-failure.ts';

export const STORE_FILE = 'holdfast.db';
/** Above this many pages of 4 KiB a commit also checkpoints. */
const CHECKPOINT_PAGES = 900;
const WAL_BYTES_KEPT = 4 * 1024 * 1024;

/** A connection to the store of `directory`, which is made if it is not there. */
export function openStoreFile(
  driver: SqliteDriver,
  directory: string,
  synchronous: 'normal' | 'full',
): SqliteConnection {
  const path = join(directory, STORE_FILE);
  if (!existsSync(path)) createStoreFile(driver, directory);
  if (!statSync(path).isFile()) throw damaged(path, 'it is a directory or a device, not a file');
  const connection = driver.open(path);
  try {
    connection.exec('pragma busy_timeout = 0');
    checkIdentity(connection, path);
    upgradeSchema(connection);
    connection.exec(`
      pragma journal_mode = wal;
      pragma synchronous = ${synchronous};
      pragma wal_autocheckpoint = ${CHECKPOINT_PAGES};
      pragma journal_size_limit = ${WAL_BYTES_KEPT};
    `);
  } catch (error) {
    connection.close();
    throw error;
  }
  return connection;
}

function createStoreFile(driver: SqliteDriver, directory: string): void {
  makeDirectory(directory);
  const aside = mkdtempSync(join(directory, 'new-'));
  try {
    const path = join(aside, STORE_FILE);
    const connection = driver.open(path);
    try {
      connection.exec('pragma journal_mode = wal');
      connection.exec(`begin; ${schema} commit;`);
      checkpointWhole(connection);
    } finally {
      connection.close();
    }
    chmodSync(path, 0o600);
    linkUnlessPresent(path, join(directory, STORE_FILE));
    syncDirectory(directory);
  } finally {
    rmSync(aside, { recursive: true, force: true });
  }
}

function makeDirectory(directory: string): void {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error;
    // Node says so of a read-only mount too; making the first missing directory gives the reason.
    mkdirSync(firstMissing(directory), { mode: 0o700 });
    mkdirSync(directory, { recursive: true, mode: 0o700 });
  }
}

function firstMissing(directory: string): string {
  const parent = dirname(directory);
  return parent === directory || existsSync(parent) ? directory : firstMissing(parent);
}

/** Closing checkpoints too, but says nothing when the disk was too full to copy all pages. */
function checkpointWhole(connection: SqliteConnection): void {
  const busy = connection.prepare('pragma wal_checkpoint(truncate)').get()?.['busy'];
  if (busy !== 0) throw new SqliteFailure('busy', 'the new store is locked', null);
}

/** Another process may make the same store at the same time: the first one stays. */
function linkUnlessPresent(path: string, target: string): void {
  try {
    linkSync(path, target);
  } catch (error) {
    if (systemCode(error) !== 'EEXIST') throw error;
  }
}

function checkIdentity(connection: SqliteConnection, path: string): void {
  const application = connection.prepare('pragma application_id').get()?.['application_id'];
  if (application !== APPLICATION_ID) throw damaged(path, 'it is no store of this library');
  const version = Number(connection.prepare('pragma user_version').get()?.['user_version']);
  if (version > SCHEMA_VERSION) {
    throw new StorageError(
      'STORE_SCHEMA_UNSUPPORTED',
      `Store ${path} has schema ${version}; this version knows up to ${SCHEMA_VERSION}. ` +
        'Use the version that wrote it, or a newer one.',
      { path, version },
    );
  }
  if (version < FIRST_SCHEMA) throw damaged(path, `it has the unknown schema ${version}`);
}

function damaged(path: string, what: string): StorageError {
  return new StorageError(
    'STORE_CORRUPT',
    `Store ${path}: ${what}. Restore it from a copy, or choose another directory.`,
    { path },
  );
}
