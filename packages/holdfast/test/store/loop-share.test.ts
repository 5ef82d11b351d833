/** What a local store leaves of the event loop to everybody else: reads and syncs of many runs. */
import { createSystemClock } from 'holdfast';
import type { LocalRunStorage } from 'holdfast/storage/local';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type FileSync, systemFileSync } from '../../src/adapters/sqlite/file-sync.ts';
import { ReadShare } from '../../src/adapters/sqlite/read-share.ts';
import { createSqliteRunStorage } from '../../src/adapters/sqlite/storage.ts';
import { newDirectory, removeDirectory } from './backings.ts';
import { event, stream } from './events.ts';

describe('reads of many runs at once', () => {
  it('go on in the next turn once they have had their share of this one', async () => {
    let now = 0;
    const turns: (() => void)[] = [];
    const share = new ReadShare({ elapsed: () => now, soon: (turn) => turns.push(turn) });
    const done: number[] = [];
    const read = async (place: number): Promise<void> => {
      while (share.isUsedUp) await share.next();
      now += 1;
      done.push(place);
    };
    const reads = [0, 1, 2, 3, 4].map((place) => read(place));
    expect(done).toEqual([0, 1]);
    turns.shift()?.();
    await new Promise(setImmediate);
    expect(done).toEqual([0, 1, 2, 3]);
    turns.shift()?.();
    await Promise.all(reads);
    expect(done).toEqual([0, 1, 2, 3, 4]);
  });
});

describe('syncs', () => {
  let directory = '';
  let storage: LocalRunStorage | null = null;

  beforeEach(() => {
    directory = newDirectory();
  });

  afterEach(async () => {
    await storage?.close();
    removeDirectory(directory);
  });

  it('that many wait for are made in the pool, those of a few in line', async () => {
    const places: string[] = [];
    const fileSync: FileSync = {
      now: (fd) => {
        places.push('in line');
        systemFileSync.now(fd);
      },
      later: (fd, done) => {
        places.push('in the pool');
        systemFileSync.later(fd, done);
      },
    };
    const options = { directory, namespace: 'tests', clock: createSystemClock() };
    storage = createSqliteRunStorage(options, { fileSync, elapsed: () => 0 });
    const { eventStore } = storage;
    const append = (run: number) =>
      eventStore.append({ ...stream, streamId: `run-${run}` }, 0, [event(run)]);
    await append(0);
    expect(new Set(places.splice(0))).toEqual(new Set(['in line']));
    await Promise.all(Array.from({ length: 40 }, (_, run) => append(run + 1)));
    expect(new Set(places.splice(0))).toEqual(new Set(['in the pool']));
    await append(41);
    expect(places).toEqual(['in line']);
  });
});
