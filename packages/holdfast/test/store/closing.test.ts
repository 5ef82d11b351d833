/** What a local store still does when it is closed in the middle of its work. */
import { readdirSync } from 'node:fs';
import type { LocalRunStorage } from 'holdfast/storage/local';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadSqliteDriver } from '../../src/adapters/sqlite/load-driver.ts';
import type { SqliteConnection, SqliteDriver } from '../../src/adapters/sqlite/sqlite-driver.ts';
import { createSqliteRunStorage } from '../../src/adapters/sqlite/storage.ts';
import { newDirectory, removeDirectory } from './backings.ts';
import { event, stream, turns } from './events.ts';

const other = { ...stream, streamId: 'run-2' };
let directory = '';
let openCount = 0;
let storage: LocalRunStorage;

beforeEach(async () => {
  directory = newDirectory();
  openCount = 0;
  let now = 0;
  // Each look at the time finds the share of reads used up: the second one waits for a turn.
  const elapsed = (): number => (now += 3);
  const parts = { driver: countingDriver(), elapsed };
  storage = createSqliteRunStorage({ directory, namespace: 'tests' }, parts);
  await storage.eventStore.append(stream, 0, [event(1)]);
});

afterEach(async () => {
  await storage.close();
  removeDirectory(directory);
});

/** A driver that counts the connections that are open. */
function countingDriver(): SqliteDriver {
  const real = loadSqliteDriver();
  const open = (path: string): SqliteConnection => {
    const connection = real.open(path);
    openCount += 1;
    const close = (): void => {
      connection.close();
      openCount -= 1;
    };
    return { ...connection, close };
  };
  return { name: real.name, open };
}

describe('a local store that is closed', () => {
  it('answers the reads that wait for their turn, and lets go of its file', async () => {
    const ends = [1, 2, 3].map(() => storage.eventStore.end(stream));
    await storage.close();
    expect(openCount).toBe(0);
    expect(await Promise.all(ends)).toEqual([1, 1, 1]);
    await turns(5);
    expect(openCount).toBe(0);
    expect(readdirSync(directory)).toEqual(['holdfast.db']);
  });

  it('does not look after a listener any more that has just begun', async () => {
    const heard: number[] = [];
    storage.eventStore.subscribe(stream, 0, (events) => heard.push(events.length));
    await storage.close();
    await turns(20);
    expect([openCount, heard]).toEqual([0, []]);
  });

  it('does not read for listeners any more whose catch-up waits for its turn', async () => {
    await storage.eventStore.append(other, 0, [event(1)]);
    const heard: number[] = [];
    for (const each of [stream, other]) {
      storage.eventStore.subscribe(each, 0, (events) => heard.push(events.length));
    }
    await turns(1);
    await storage.close();
    await turns(20);
    expect([openCount, heard]).toEqual([0, []]);
  });
});
