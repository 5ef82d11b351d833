/** How a driver is chosen: when the first store is opened, never by an import. */
import { StorageError } from '../../store/storage-error.ts';
import { loadBetterSqlite } from './better-sqlite-driver.ts';
import { loadNodeSqlite } from './node-sqlite-driver.ts';
import type { SqliteDriver } from './sqlite-driver.ts';

/**
 * `node:sqlite` where this Node has it, else better-sqlite3. Throws `SQLITE_DRIVER_MISSING`.
 *
 * @example loadSqliteDriver().name // 'node:sqlite'
 */
export function loadSqliteDriver(): SqliteDriver {
  const driver = loadNodeSqlite() ?? loadBetterSqlite();
  if (driver !== null) return driver;
  throw new StorageError(
    'SQLITE_DRIVER_MISSING',
    `Node ${process.versions.node} has no node:sqlite, and better-sqlite3 cannot be loaded. ` +
      'Use Node 22.13 or later, or run `npm install better-sqlite3@12`.',
  );
}
