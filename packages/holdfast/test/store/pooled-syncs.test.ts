/** Syncs that many writes wait for are made in the pool: what may happen while one is there. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { type Clock, createSystemClock, defaultStoragePolicy } from 'holdfast';
import type { LocalRunStorage } from 'holdfast/storage/local';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type FileSync, systemFileSync } from '../../src/adapters/sqlite/file-sync.ts';
import { createSqliteRunStorage } from '../../src/adapters/sqlite/storage.ts';
import { newDirectory, removeDirectory } from './backings.ts';
import { codeOf, event, payloadsOf, stream, turns } from './events.ts';

const MANY = 20;
const failure = Object.assign(new Error('EIO: i/o error, fdatasync'), { code: 'EIO' });

let directory = '';
let storage: LocalRunStorage;
/** The syncs in the pool, each over once it is told how it ended. */
let pooled: ((error: Error | null) => void)[] = [];
/** How many syncs were made in line. */
let inLine = 0;
/** Timers of two seconds: what an idle store waits for. */
let idle: (() => void)[] = [];

beforeEach(async () => {
  directory = newDirectory();
  [pooled, inLine, idle] = [[], 0, []];
  const fileSync: FileSync = {
    now: (fd) => {
      inLine += 1;
      systemFileSync.now(fd);
    },
    later: (_, done) => pooled.push(done),
  };
  const clock: Clock = {
    ...createSystemClock(),
    after: (delayMs, callback) => {
      if (delayMs === 2_000) idle.push(callback);
      return { cancel: () => {} };
    },
  };
  const policy = { ...defaultStoragePolicy, maxEventPayloadBytes: 1024 * 1024 };
  const options = { directory, namespace: 'tests', policy, clock };
  // However slow the machine is: syncs look cheap, and no group is closed before it is full.
  storage = createSqliteRunStorage(options, { fileSync, elapsed: () => 0 });
  await storage.eventStore.append(stream, 0, [event('kept')]);
  inLine = 0;
});

afterEach(async () => {
  const closed = storage.close();
  for (const done of pooled.splice(0)) done(null);
  await closed;
  removeDirectory(directory);
});

const target = (run: number) => ({ ...stream, streamId: `many-${run}` });

/** Appends one event to each of many runs in one turn; `heard` gets the runs acknowledged. */
function appendMany(heard: number[] = []): Promise<unknown[]> {
  return Promise.all(
    Array.from({ length: MANY }, (_, run) =>
      codeOf(async () => {
        await storage.eventStore.append(target(run), 0, [event('one of many')]);
        heard.push(run);
      }),
    ),
  );
}

function walBytes(): number {
  return statSync(join(directory, 'holdfast.db-wal')).size;
}

describe('while a sync is in the pool', () => {
  it('nothing is acknowledged, and a later write waits for a sync of its own', async () => {
    const heard: number[] = [];
    const many = appendMany(heard);
    await turns(3);
    const late = storage.eventStore.append(stream, 1, [event('late')]).then(() => heard.push(-1));
    await turns(3);
    expect([heard, pooled.length, inLine]).toEqual([[], 1, 0]);
    pooled.shift()?.(null);
    await many;
    await late;
    expect(heard).toEqual([...Array.from({ length: MANY }, (_, run) => run), -1]);
    expect([pooled.length, inLine]).toEqual([0, 1]);
  });

  it('closing waits for it', async () => {
    const heard: number[] = [];
    const many = appendMany(heard);
    await turns(3);
    const heardBeforeClosed = storage.close().then(() => heard.length);
    await turns(5);
    expect(heard).toEqual([]);
    pooled.shift()?.(null);
    expect(await heardBeforeClosed).toBe(MANY);
    expect(new Set(await many)).toEqual(new Set(['none']));
  });

  it('a checkpoint of its log takes no write away, nor acknowledges one', async () => {
    const heard: number[] = [];
    const many = appendMany(heard);
    await turns(3);
    const large = Array.from({ length: 20 }, (_, place) =>
      storage.eventStore.append(stream, 1 + place, [event('x'.repeat(300_000))]),
    );
    await turns(30);
    const copiedBytes = statSync(join(directory, 'holdfast.db')).size;
    expect([copiedBytes > 3_000_000, heard, pooled.length]).toEqual([true, [], 1]);
    pooled.shift()?.(null);
    expect(new Set(await many)).toEqual(new Set(['none']));
    await turns(1);
    pooled.shift()?.(null);
    await Promise.all(large);
    expect((await payloadsOf(storage)).length).toBe(21);
    expect(await payloadsOf(storage, target(MANY - 1))).toEqual(['one of many']);
  });

  it('the idle store does not ask the same slow disk for a checkpoint in line', async () => {
    const many = appendMany();
    await turns(3);
    idle.shift()?.();
    idle.shift()?.();
    expect(walBytes()).toBeGreaterThan(0);
    pooled.shift()?.(null);
    expect(new Set(await many)).toEqual(new Set(['none']));
    idle.shift()?.();
    idle.shift()?.();
    expect(walBytes()).toBe(0);
  });
});

describe('when a sync in the pool fails', () => {
  it('all who waited for it are refused, and those who came meanwhile', async () => {
    const many = appendMany();
    await turns(3);
    const late = codeOf(() => storage.eventStore.append(stream, 1, [event('late')]));
    await turns(3);
    pooled.shift()?.(failure);
    const after = codeOf(() => storage.eventStore.append(stream, 1, [event('after')]));
    expect(new Set(await many)).toEqual(new Set(['STORE_POISONED']));
    expect(await Promise.all([late, after])).toEqual(['STORE_POISONED', 'STORE_POISONED']);
    expect([pooled.length, inLine]).toEqual([0, 0]);
    expect(await codeOf(() => storage.eventStore.sync())).toBe('STORE_POISONED');
    const other = createSqliteRunStorage({ directory, namespace: 'tests' }, {});
    expect((await payloadsOf(other))[0]).toBe('kept');
    await other.close();
  });

  it('closing ends, and what was refused stays refused', async () => {
    const many = appendMany();
    await turns(3);
    const closed = storage.close();
    pooled.shift()?.(failure);
    expect(new Set(await many)).toEqual(new Set(['STORE_POISONED']));
    await closed;
    expect(await codeOf(() => payloadsOf(storage))).toBe('STORE_POISONED');
  });

  it('the log is left as it is: nothing is known of what a checkpoint would copy', async () => {
    const many = appendMany();
    await turns(3);
    pooled.shift()?.(failure);
    await many;
    const before = walBytes();
    while (idle.length > 0) idle.shift()?.();
    expect(walBytes()).toBe(before);
  });
});
