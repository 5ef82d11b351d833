/** How a local store writes: counted commits and syncs, bounded logs, full and failing disks. */
import { readdirSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { type Clock, createSystemClock, defaultStoragePolicy } from 'holdfast';
import type { LocalRunStorage } from 'holdfast/storage/local';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type FileSync, systemFileSync } from '../../src/adapters/sqlite/file-sync.ts';
import { loadSqliteDriver } from '../../src/adapters/sqlite/load-driver.ts';
import type {
  SqliteConnection,
  SqliteDriver,
  SqliteStatement,
  SqliteValue,
} from '../../src/adapters/sqlite/sqlite-driver.ts';
import { SqliteFailure } from '../../src/adapters/sqlite/sqlite-failure.ts';
import { createSqliteRunStorage, type SqliteParts } from '../../src/adapters/sqlite/storage.ts';
import { newDirectory, removeDirectory } from './backings.ts';
import { codeOf, event, payloadsOf, stream, turns } from './events.ts';

let directory = '';
const opened: LocalRunStorage[] = [];

beforeEach(() => {
  directory = newDirectory();
});

afterEach(async () => {
  for (const storage of opened.splice(0)) await storage.close();
  removeDirectory(directory);
});

function open(parts: SqliteParts = {}, clock: Clock = createSystemClock()): LocalRunStorage {
  const policy = { ...defaultStoragePolicy, maxAppendBatchBytes: 4 * 1024 * 1024 };
  const storage = createSqliteRunStorage({ directory, namespace: 'tests', policy, clock }, parts);
  opened.push(storage);
  return storage;
}

function walBytes(): number {
  return statSync(join(directory, 'holdfast.db-wal')).size;
}

interface WatchedDriver {
  readonly driver: SqliteDriver;
  /** All that were opened: what other users of the file do is played on them. */
  readonly connections: SqliteConnection[];
}

/** A driver that can be looked into; `before` sees each statement that is run, and may throw. */
function watchedDriver(before: (sql: string) => void = () => {}): WatchedDriver {
  const real = loadSqliteDriver();
  const connections: SqliteConnection[] = [];
  const open = (path: string): SqliteConnection => {
    const connection = real.open(path);
    connections.push(connection);
    const prepare = (sql: string): SqliteStatement => {
      const statement = connection.prepare(sql);
      const run = (...values: readonly SqliteValue[]): number => {
        before(sql);
        return statement.run(...values);
      };
      return { ...statement, run };
    };
    return { ...connection, prepare };
  };
  return { driver: { name: real.name, open }, connections };
}

/**
 * A driver on a disk that has no room for the pages of a checkpoint while `isFull` says so. As in
 * SQLite, a checkpoint that is asked for says so, and that of closing leaves a cut file silently.
 */
function cuttingDriver(isFull: () => boolean): SqliteDriver {
  const real = loadSqliteDriver();
  const open = (path: string): SqliteConnection => {
    const connection = real.open(path);
    const prepare = (sql: string): SqliteStatement => {
      if (!isFull() || !sql.includes('wal_checkpoint')) return connection.prepare(sql);
      const refuse = (): never => {
        throw new SqliteFailure('full', 'database or disk is full', null);
      };
      return { run: refuse, get: refuse, all: refuse };
    };
    const close = (): void => {
      connection.close();
      if (isFull()) truncateSync(path, 12_288);
    };
    return { ...connection, prepare, close };
  };
  return { name: real.name, open };
}

/** A sync so slow that the next ones go to the pool. */
function slowly(fd: number): void {
  const end = performance.now() + 8;
  while (performance.now() < end);
  systemFileSync.now(fd);
}

describe('writes of a local store', () => {
  it('commit and sync once an append in a chain', async () => {
    const storage = open();
    await storage.eventStore.append(stream, 0, [event('begin')]);
    const before = storage.counters;
    for (let place = 0; place < 300; place += 1) {
      const payloads = ['a', 'b', 'c'].map((letter) => event({ letter, place }));
      await storage.eventStore.append(stream, 1 + place * 3, payloads);
    }
    const after = storage.counters;
    expect(after.commits - before.commits).toBe(300);
    expect(after.syncs - before.syncs).toBeGreaterThanOrEqual(300);
    expect(after.syncs - before.syncs).toBeLessThanOrEqual(306);
    expect((after.bytes - before.bytes) / 300).toBeLessThan(400);
  });

  it('of many runs share commits and syncs', async () => {
    const storage = open();
    const before = storage.counters;
    await Promise.all(
      Array.from({ length: 100 }, async (_, run) => {
        const target = { ...stream, streamId: `run-${run}` };
        for (let place = 0; place < 10; place += 1) {
          await storage.eventStore.append(target, place, [event(place)]);
        }
      }),
    );
    const { commits, syncs } = storage.counters;
    expect(commits - before.commits).toBeLessThanOrEqual(100);
    expect(syncs - before.syncs).toBeLessThanOrEqual(110);
  });

  it('B104: keep the log bounded under a reader that has not finished', async () => {
    const storage = open();
    const text = 'x'.repeat(100_000);
    await storage.eventStore.append(stream, 0, [event(text)]);
    await storage.eventStore.append(stream, 1, [event(text)]);
    const reader = storage.eventStore.read(stream)[Symbol.asyncIterator]();
    expect((await reader.next()).value?.sequence).toBe(1);
    let largest = 0;
    for (let place = 2; place < 150; place += 1) {
      await storage.eventStore.append(stream, place, [event(text)]);
      largest = Math.max(largest, walBytes());
    }
    expect(largest).toBeLessThanOrEqual(5 * 1024 * 1024);
    expect((await reader.next()).value?.sequence).toBe(2);
  });

  it('give the space of the log back when nothing is written for a while', async () => {
    const timers: { readonly delayMs: number; readonly callback: () => void }[] = [];
    const clock: Clock = {
      ...createSystemClock(),
      after: (delayMs, callback) => {
        timers.push({ delayMs, callback });
        return { cancel: () => {} };
      },
    };
    const storage = open({}, clock);
    await storage.eventStore.append(stream, 0, [event('x'.repeat(100_000))]);
    expect(walBytes()).toBeGreaterThan(100_000);
    expect(timers.map((timer) => timer.delayMs)).toEqual([2_000]);
    timers[0]?.callback();
    expect(walBytes()).toBe(0);
    await storage.eventStore.append(stream, 1, [event('next')]);
    expect((await payloadsOf(storage)).length).toBe(2);
  });

  it('are refused while the disk is full, and go on when there is space again', async () => {
    const { driver, connections } = watchedDriver();
    const storage = open({ driver });
    await storage.eventStore.append(stream, 0, [event('kept')]);
    const connection = connections.at(-1);
    const used = Number(connection?.prepare('pragma page_count').get()?.['page_count']);
    connection?.exec(`pragma max_page_count = ${used + 2}`);
    const large = event('x'.repeat(200_000));
    const codes = await Promise.all([
      codeOf(() => storage.eventStore.append(stream, 1, [large])),
      codeOf(() =>
        storage.artifactStore.write(
          { namespace: 'tests', runId: 'run-1' },
          {
            bytes: new Uint8Array(100_000),
            mediaType: 'a/b',
            purpose: 'test',
          },
        ),
      ),
    ]);
    expect(codes).toEqual(['STORE_FULL', 'STORE_FULL']);
    expect(await payloadsOf(storage)).toEqual(['kept']);
    connection?.exec('pragma max_page_count = 1000000');
    await storage.eventStore.append(stream, 1, [large]);
    expect((await payloadsOf(storage)).length).toBe(2);
  });

  it('leave no cut store behind when the disk is full while it is made', async () => {
    let isFull = true;
    const storage = open({ driver: cuttingDriver(() => isFull) });
    for (const work of [
      () => storage.eventStore.append(stream, 0, [event('lost')]),
      () => payloadsOf(storage),
    ]) {
      expect(await codeOf(work)).toBe('STORE_FULL');
      expect(readdirSync(directory)).toEqual([]);
    }
    isFull = false;
    await storage.eventStore.append(stream, 0, [event('kept')]);
    expect(await payloadsOf(storage)).toEqual(['kept']);
  });

  it('of a group that was not committed leave no run behind', async () => {
    let full = false;
    const { driver } = watchedDriver((sql) => {
      if (full && sql === 'commit') throw new SqliteFailure('full', 'disk full', null);
    });
    const storage = open({ driver });
    await storage.eventStore.append(stream, 0, [event('kept')]);
    const [lost, other] = ['lost', 'other'].map((streamId) => ({ ...stream, streamId }));
    if (lost === undefined || other === undefined) return;
    full = true;
    const codes = [1, 2].map((each) =>
      codeOf(() => storage.eventStore.append(lost, each - 1, [event(each)])),
    );
    expect((await Promise.all(codes))[0]).toBe('STORE_FULL');
    full = false;
    await storage.eventStore.append(other, 0, [event('other')]);
    await storage.eventStore.append(lost, 0, [event('again')]);
    expect(await payloadsOf(storage, other)).toEqual(['other']);
    expect(await payloadsOf(storage, lost)).toEqual(['again']);
  });

  it('are refused for good once a sync has failed', async () => {
    let broken = false;
    const error = Object.assign(new Error('EIO: i/o error, fdatasync'), { code: 'EIO' });
    const fileSync: FileSync = {
      now: (fd) => {
        if (broken) throw error;
        systemFileSync.now(fd);
      },
      later: (fd, done) => (broken ? setImmediate(done, error) : systemFileSync.later(fd, done)),
    };
    const storage = open({ fileSync });
    await storage.eventStore.append(stream, 0, [event(1)]);
    broken = true;
    const lost = [1, 2].map((place) =>
      codeOf(() => storage.eventStore.append(stream, place, [event(place + 1)])),
    );
    expect(await Promise.all(lost)).toEqual(['STORE_POISONED', 'STORE_POISONED']);
    broken = false;
    for (const work of [
      () => storage.eventStore.append(stream, 1, [event(2)]),
      () => storage.eventStore.sync(),
      () => payloadsOf(storage),
    ]) {
      expect(await codeOf(work)).toBe('STORE_POISONED');
    }
    await storage.close();
    expect(await codeOf(() => storage.eventStore.end(stream))).toBe('STORE_POISONED');
    expect((await payloadsOf(open()))[0]).toBe(1);
  });

  it('are acknowledged only after a sync that began after their commit', async () => {
    const waiting: (() => void)[] = [];
    const fileSync: FileSync = {
      now: slowly,
      later: (_, done) => {
        waiting.push(() => done(null));
      },
    };
    const storage = open({ fileSync });
    await storage.eventStore.append(stream, 0, [event(1)]);
    const acknowledged: number[] = [];
    const append = (place: number): Promise<void> =>
      storage.eventStore.append(stream, place, [event(place + 1)]).then(({ sequence }) => {
        acknowledged.push(sequence);
      });
    const first = append(1);
    await turns(3);
    const second = append(2);
    await turns(3);
    expect([waiting.length, acknowledged]).toEqual([1, []]);
    waiting.shift()?.();
    await first;
    await turns(3);
    expect([waiting.length, acknowledged]).toEqual([1, [2]]);
    waiting.shift()?.();
    await second;
    expect(acknowledged).toEqual([2, 3]);
  });

  it('of others are told only once they are durable', async () => {
    const waiting: (() => void)[] = [];
    const polls: (() => void)[] = [];
    const clock: Clock = {
      ...createSystemClock(),
      after: (delayMs, callback) => {
        if (delayMs === 50) polls.push(callback);
        return { cancel: () => {} };
      },
    };
    const fileSync: FileSync = { now: slowly, later: (_, done) => waiting.push(() => done(null)) };
    const [storage, other] = [open({ fileSync }, clock), open()];
    await storage.eventStore.append(stream, 0, [event(1)]);
    const heard: number[] = [];
    const stop = storage.eventStore.subscribe(stream, 1, (events) => {
      for (const each of events) heard.push(each.sequence);
    });
    await turns(3);
    await other.eventStore.append(stream, 1, [event(2)]);
    polls.shift()?.();
    await turns(10);
    expect([waiting.length, heard]).toEqual([1, []]);
    waiting.shift()?.();
    await turns(10);
    expect(heard).toEqual([2]);
    stop();
  });

  it('wait for a lock without stopping the event loop', async () => {
    const storage = open();
    await storage.eventStore.append(stream, 0, [event(1)]);
    const other = loadSqliteDriver().open(join(directory, 'holdfast.db'));
    other.exec('begin immediate');
    const append = storage.eventStore.append(stream, 1, [event(2)]);
    await turns(20);
    expect(await payloadsOf(storage)).toEqual([1]);
    other.exec('commit');
    other.close();
    expect((await append).sequence).toBe(2);
  });

  it('give a lock up after ten seconds', async () => {
    let now = 0;
    const system = createSystemClock();
    const clock: Clock = {
      ...system,
      now: () => now,
      after: (delayMs, callback) => {
        now += delayMs;
        system.soon(callback);
        return { cancel: () => {} };
      },
    };
    const storage = open({}, clock);
    await storage.eventStore.append(stream, 0, [event(1)]);
    const other = loadSqliteDriver().open(join(directory, 'holdfast.db'));
    other.exec('begin immediate');
    const begun = now;
    expect(await codeOf(() => storage.eventStore.append(stream, 1, [event(2)]))).toBe('STORE_BUSY');
    expect(now - begun).toBeGreaterThanOrEqual(10_000);
    other.exec('commit');
    other.close();
    expect((await storage.eventStore.append(stream, 1, [event(2)])).sequence).toBe(2);
  });
});
