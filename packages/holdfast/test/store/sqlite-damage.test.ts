/** What a local store does when its files were cut, replaced, moved or may not be written. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { defaultStoragePolicy } from 'holdfast';
import { createLocalRunStorage, type LocalRunStorage } from 'holdfast/storage/local';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadSqliteDriver } from '../../src/adapters/sqlite/load-driver.ts';
import { newDirectory, removeDirectory } from './backings.ts';
import { codeOf, event, payloadsOf, stream } from './events.ts';

let directory = '';
const opened: LocalRunStorage[] = [];

beforeEach(() => {
  directory = newDirectory();
});

afterEach(async () => {
  for (const storage of opened.splice(0)) await storage.close();
  removeDirectory(directory);
});

function open(name: string): LocalRunStorage {
  const storage = createLocalRunStorage({
    directory: join(directory, name),
    namespace: 'tests',
    policy: {
      ...defaultStoragePolicy,
      maxEventPayloadBytes: 1024 * 1024,
      maxAppendBatchBytes: 1024 * 1024,
    },
  });
  opened.push(storage);
  return storage;
}

function file(name: string, suffix = ''): string {
  return join(directory, name, `holdfast.db${suffix}`);
}

/** Cuts the log at every byte of its last append; what each cut store holds, and can go on from. */
async function cutLastAppend(last: string): Promise<void> {
  const storage = open('whole');
  const earlier = ['one', 'two', 'three'];
  for (const [place, payload] of earlier.entries()) {
    await storage.eventStore.append(stream, place, [event(payload)]);
  }
  const before = statSync(file('whole', '-wal')).size;
  await storage.eventStore.append(stream, 3, [event(last), event('same append')]);
  // What a power cut would leave: both files, without the shared memory beside them.
  const [database, log] = [readFileSync(file('whole')), readFileSync(file('whole', '-wal'))];
  expect(log.length).toBeGreaterThan(before);
  // Every third byte around the edges of each frame, and some in between.
  const frame = 4096 + 24;
  const cuts = Array.from({ length: log.length - before }, (_, byte) => byte).filter(
    (byte) => byte % 211 === 0 || (byte % frame < 27 && byte % 3 === 0) || byte % frame > frame - 3,
  );
  for (const byte of cuts) {
    const copy = `cut-${byte}`;
    mkdirSync(join(directory, copy));
    writeFileSync(file(copy), database);
    writeFileSync(file(copy, '-wal'), log.subarray(0, before + byte));
    const cut = open(copy);
    expect(await payloadsOf(cut)).toEqual(earlier);
    await cut.eventStore.append(stream, 3, [event('next')]);
    expect(await payloadsOf(cut)).toEqual([...earlier, 'next']);
    await cut.close();
    removeDirectory(join(directory, copy));
  }
}

describe('a local store', () => {
  it('B107: a log cut inside its last record loses that record only, and goes on', async () => {
    await cutLastAppend('four');
  });

  it('B109: a log cut inside a character loses the record only', async () => {
    await cutLastAppend('😀😀😀 tail 🤖');
  });

  it('B110: two appends of 700 KiB at once are both stored whole', async () => {
    const [one, two] = [open('large'), open('large')];
    await one.eventStore.append(stream, 0, [event('begin')]);
    const texts = ['a', 'b'].map((letter) => letter.repeat(700 * 1024));
    await Promise.all(
      [one, two].map((storage, place) =>
        storage.eventStore.append(stream, 'end', [event(texts[place], { id: `big-${place}` })]),
      ),
    );
    const [, ...large] = await payloadsOf(one);
    expect(large.sort()).toEqual(texts);
  });

  it('never gives less than what it acknowledged when the file is cut anywhere', async () => {
    const storage = open('whole');
    const wanted = Array.from({ length: 60 }, (_, place) => `${place} ${'x'.repeat(900)} 😀`);
    for (const [place, payload] of wanted.entries()) {
      await storage.eventStore.append(stream, place, [event(payload)]);
    }
    await storage.close();
    const whole = readFileSync(file('whole'));
    const codes = new Set<unknown>();
    for (let length = 0; length < whole.length; length += 2711) {
      const copy = `cut-${length}`;
      mkdirSync(join(directory, copy));
      writeFileSync(file(copy), whole.subarray(0, length));
      const cut = open(copy);
      let found: readonly unknown[] = wanted;
      const code = await codeOf(async () => {
        found = await payloadsOf(cut);
      });
      if (code === 'none') expect(found).toEqual(wanted);
      codes.add(code);
      removeDirectory(join(directory, copy));
    }
    const allowed = new Set(['none', 'STORE_CORRUPT', 'CORRUPT_EVENT_STREAM']);
    expect([...codes].filter((code) => !allowed.has(String(code)))).toEqual([]);
    expect(codes).toContain('STORE_CORRUPT');
  });

  it('refuses rows that do not follow one another, by name', async () => {
    const storage = open('gap');
    for (let place = 0; place < 6; place += 2) {
      await storage.eventStore.append(stream, place, [event(place), event(place + 1)]);
    }
    await storage.close();
    const connection = loadSqliteDriver().open(file('gap'));
    connection.exec('delete from log where seq = 3');
    connection.close();
    expect(await codeOf(() => payloadsOf(storage))).toBe('CORRUPT_EVENT_STREAM');
    const again = loadSqliteDriver().open(file('gap'));
    again.exec("update log set body = '[1]', n = 1 where seq = 1");
    again.close();
    for (const work of [
      () => payloadsOf(storage),
      () => storage.eventStore.readAt(stream, [1]),
      () => storage.eventStore.append(stream, 0, [event('x')]),
    ]) {
      expect(await codeOf(work)).toBe('CORRUPT_EVENT_STREAM');
    }
    await storage.eventStore.append(stream, 6, [event('the end can still be written')]);
  });

  it('passes a damaged snapshot over for the one before it', async () => {
    const storage = open('snapshots');
    await storage.eventStore.append(stream, 0, [event(1), event(2), event(3)]);
    for (const sequence of [1, 2, 3]) {
      await storage.snapshotStore.save(stream, { sequence, body: `fold ${sequence}` });
    }
    await storage.close();
    const connection = loadSqliteDriver().open(file('snapshots'));
    connection.exec("update snapshot set body = '{' where seq = 3");
    connection.close();
    expect(await storage.snapshotStore.newest(stream)).toEqual({ sequence: 2, body: 'fold 2' });
  });

  it.each([
    ['an empty file', ''],
    ['a text', 'this is not a database, it is a letter to the reader'],
    ['a longer text', 'text '.repeat(5_000)],
  ])('refuses %s in its place', async (_, content) => {
    mkdirSync(join(directory, 'other'));
    writeFileSync(file('other'), content);
    expect(await codeOf(() => payloadsOf(open('other')))).toBe('STORE_CORRUPT');
    expect(readFileSync(file('other'), 'utf8')).toBe(content);
  });

  it.each([
    ['another database', 'create table letters(body text)', 'STORE_CORRUPT'],
    [
      'a newer schema',
      `pragma application_id = ${0x48465354}; pragma user_version = 99`,
      'STORE_SCHEMA_UNSUPPORTED',
    ],
  ])('refuses %s by name', async (_, sql, code) => {
    mkdirSync(join(directory, 'other'));
    const connection = loadSqliteDriver().open(file('other'));
    connection.exec(sql);
    connection.close();
    expect(await codeOf(() => payloadsOf(open('other')))).toBe(code);
  });

  it('refuses a directory that may not be written', async () => {
    const storage = open('read-only');
    await storage.eventStore.append(stream, 0, [event(1)]);
    await storage.close();
    mkdirSync(join(directory, 'empty'));
    chmodSync(directory, 0o755);
    for (const name of ['read-only', 'empty']) chmodSync(join(directory, name), 0o555);
    chmodSync(file('read-only'), 0o444);
    const codes = await asNobody(async () => [
      await codeOf(() => payloadsOf(open('empty'))),
      await codeOf(() => open('read-only').eventStore.append(stream, 1, [event(2)])),
    ]);
    for (const name of ['read-only', 'empty']) chmodSync(join(directory, name), 0o755);
    expect(codes).toEqual(['STORE_READ_ONLY', 'STORE_READ_ONLY']);
    expect(existsSync(file('empty'))).toBe(false);
    await storage.close();
    expect(await payloadsOf(storage)).toEqual([1]);
  });

  it('refuses a directory in the place of its file, by a true name', async () => {
    mkdirSync(file('other'), { recursive: true });
    for (const work of [
      () => payloadsOf(open('other')),
      () => open('other').eventStore.append(stream, 0, [event(1)]),
    ]) {
      await expect(work).rejects.toMatchObject({
        code: 'STORE_CORRUPT',
        message: expect.stringContaining('not a file'),
      });
    }
  });

  it('refuses a directory that is a file', async () => {
    writeFileSync(join(directory, 'file'), 'x');
    expect(await codeOf(() => payloadsOf(open('file')))).toBe('STORE_IO');
  });

  it('is made by its first call, and goes on after its directory was moved', async () => {
    const storage = open('first');
    expect(existsSync(join(directory, 'first'))).toBe(false);
    await storage.eventStore.append(stream, 0, [event(1)]);
    await storage.close();
    renameSync(join(directory, 'first'), join(directory, 'second'));
    const moved = open('second');
    expect(await payloadsOf(moved)).toEqual([1]);
    expect(moved.record).toEqual(storage.record);
    await moved.eventStore.append(stream, 1, [event(2)]);
    expect(await payloadsOf(moved)).toEqual([1, 2]);
  });

  it('may be opened for the first time by many at once', async () => {
    const storages = Array.from({ length: 8 }, () => open('new'));
    await Promise.all(
      storages.map((storage, place) =>
        storage.eventStore.append({ ...stream, streamId: `run-${place}` }, 0, [event(place)]),
      ),
    );
    const [first] = storages;
    for (let place = 0; place < 8; place += 1) {
      const target = { ...stream, streamId: `run-${place}` };
      expect(first && (await payloadsOf(first, target))).toEqual([place]);
    }
  });
});

/** Runs `work` without the powers of root, which ignores permissions. */
async function asNobody<T>(work: () => Promise<T>): Promise<T> {
  const { geteuid, seteuid } = process;
  if (geteuid === undefined || seteuid === undefined || geteuid() !== 0) return work();
  seteuid(65_534);
  try {
    return await work();
  } finally {
    seteuid(0);
  }
}
