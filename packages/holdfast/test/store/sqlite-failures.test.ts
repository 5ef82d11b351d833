/** By which name a local store reports what the system and SQLite say of a disk. */
import type * as FileSystem from 'node:fs';
import { join } from 'node:path';
import { createLocalRunStorage } from 'holdfast/storage/local';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { loadSqliteDriver } from '../../src/adapters/sqlite/load-driver.ts';
import {
  failureKind,
  failureKindOfName,
  SqliteFailure,
} from '../../src/adapters/sqlite/sqlite-failure.ts';
import { createSqliteRunStorage } from '../../src/adapters/sqlite/storage.ts';
import { newDirectory, removeDirectory } from './backings.ts';
import { codeOf, event, payloadsOf, stream } from './events.ts';

/** A mount that may only be read, as Linux and Node play it; nothing is mounted for tests. */
const mount = vi.hoisted(() => '/holdfast-read-only-mount');
vi.mock('node:fs', async (original) => {
  const real = await original<typeof FileSystem>();
  const refuse = (code: string): never => {
    throw Object.assign(new Error(`${code}: mkdir`), { code });
  };
  const mkdirSync: typeof real.mkdirSync = (path, options) => {
    if (!String(path).startsWith(mount)) return real.mkdirSync(path, options) as never;
    const isRecursive = typeof options === 'object' && options?.recursive === true;
    return refuse(isRecursive || String(path).split('/').length > 3 ? 'ENOENT' : 'EROFS');
  };
  return {
    ...real,
    existsSync: (path: string) => path === mount || real.existsSync(path),
    mkdirSync,
  };
});

let directory = '';
beforeEach(() => {
  directory = newDirectory();
});
afterEach(() => removeDirectory(directory));

describe('a local store', () => {
  it.each(['store', 'path/to/store'])('refuses to be made on a read-only mount: %s', async (at) => {
    const storage = createLocalRunStorage({ directory: join(mount, at), namespace: 'tests' });
    expect(await codeOf(() => payloadsOf(storage))).toBe('STORE_READ_ONLY');
    expect(await codeOf(() => storage.eventStore.append(stream, 0, [event(1)]))).toBe(
      'STORE_READ_ONLY',
    );
    await storage.close();
  });

  it.each([
    ['SQLITE_FULL', 13, 'STORE_FULL'],
    // The index of the log cannot grow: readers meet it on a full disk.
    ['SQLITE_IOERR_SHMSIZE', 4874, 'STORE_FULL'],
    ['SQLITE_IOERR_READ', 266, 'STORE_IO'],
    ['SQLITE_IOERR_WRITE', 778, 'STORE_IO'],
    ['SQLITE_IOERR_SHMMAP', 5386, 'STORE_IO'],
    ['SQLITE_READONLY_DIRECTORY', 1544, 'STORE_READ_ONLY'],
    ['SQLITE_CORRUPT_INDEX', 779, 'STORE_CORRUPT'],
  ])('reports %s (%i) as %s', async (name, resultCode, code) => {
    for (const kind of [failureKindOfName(name), failureKind(resultCode)]) {
      const real = loadSqliteDriver();
      const refuse = (): never => {
        throw new SqliteFailure(kind, 'refused', null);
      };
      const driver = { ...real, open: (path: string) => ({ ...real.open(path), exec: refuse }) };
      const storage = createSqliteRunStorage({ directory, namespace: 'tests' }, { driver });
      expect(await codeOf(() => payloadsOf(storage))).toBe(code);
      await storage.close();
    }
  });
});
