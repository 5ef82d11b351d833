/** What becomes of a check that the store refuses to keep. */
import {
  defaultStoragePolicy,
  type EventStore,
  interruptRunPreflight,
  type NewEvent,
  type RunStorage,
  readRunPreflight,
} from 'holdfast';
import { createMemoryRunStorage } from 'holdfast/storage/memory';
import { describe, expect, test } from 'vitest';
import { failing, pauseOf, payloads, RUN, worldOf } from './world.ts';

const A = 'cli/p/a';
const ONE = { lanes: { one: { targets: [A] } } } as const;

describe('evidence that cannot be stored', () => {
  test('an answer over the artifact limit pauses the run with the code of the store', async () => {
    const policy = { ...defaultStoragePolicy, maxArtifactBytes: 20_000 };
    const storage = createMemoryRunStorage({ namespace: 'test', policy });
    const world = await worldOf({ ...ONE, storage }, { [A]: { live: ['long '.repeat(10_000)] } });
    const paused = await (await world.open()).run();
    expect(paused).toMatchObject({
      code: 'PREFLIGHT_PAUSED',
      reason: expect.stringContaining('STORAGE_LIMIT_EXCEEDED'),
    });
    const [end] = payloads(await world.events(), 'preflight:probe-finished').slice(-1);
    expect(end?.['outcome']).toMatchObject({
      kind: 'recording-failed',
      storageCode: 'STORAGE_LIMIT_EXCEEDED',
      usage: { kind: 'reported', inputTokens: 10, outputTokens: 5 },
    });
    world.script({});
    expect(await (await world.open()).resume(pauseOf(paused))).toMatchObject({ kind: 'complete' });
  });

  test('an answer that holds a known secret is stored nowhere, and pauses the run', async () => {
    const storage = createMemoryRunStorage({
      namespace: 'test',
      knownSecrets: ['hunter2-hunter2'],
    });
    const world = await worldOf({ ...ONE, storage }, { [A]: { live: ['ready, hunter2-hunter2'] } });
    expect(await (await world.open()).run()).toMatchObject({
      reason: expect.stringContaining('KNOWN_SECRET'),
    });
    expect(JSON.stringify(await world.events())).not.toContain('hunter2');
  });

  test('a secret in the text of a failure is taken out, and the failure counts', async () => {
    const storage = createMemoryRunStorage({
      namespace: 'test',
      knownSecrets: ['hunter2-hunter2'],
    });
    const live = [failing('rate-limit', 'slow down, hunter2-hunter2')];
    const world = await worldOf({ ...ONE, storage }, { [A]: { live } });
    expect(await (await world.open()).run()).toMatchObject({
      reason: expect.stringContaining('rate-limit'),
    });
    const [end] = payloads(await world.events(), 'preflight:probe-finished').slice(-1);
    const { diagnostic } = (end?.['outcome'] ?? {}) as { readonly diagnostic: never };
    const scope = { namespace: 'test', runId: RUN };
    const text = Buffer.from(await storage.artifactStore.read(scope, diagnostic)).toString();
    expect(text).toContain('slow down');
    expect(text).not.toContain('hunter2');
  });

  test('an error that is none of the store leaves the check open and rejects', async () => {
    const storage = createMemoryRunStorage({ namespace: 'test' });
    const artifactStore = {
      ...storage.artifactStore,
      preflightWrite: () => Promise.reject(new TypeError('broken')),
      write: () => Promise.reject(new TypeError('broken')),
      read: () => Promise.reject(new TypeError('broken')),
      deleteRun: () => Promise.resolve(),
    };
    const world = await worldOf({ ...ONE, storage });
    const executor = await world.open({ storage: { ...storage, artifactStore } });
    await expect(executor.run()).rejects.toThrow('broken');
    expect((await readRunPreflight(storage, RUN)).unfinishedProbeEventId).not.toBeNull();
  });
});

describe('events that cannot be appended', () => {
  test('a refused start calls no engine, dispatches nothing, and may be tried again', async () => {
    const world = await worldOf(ONE);
    const storage = refusing(world.storage, 'preflight:probe-started');
    await expect((await world.open({ storage })).run()).rejects.toThrow('refused');
    expect(world.calls).toEqual([]);
    expect(await world.types()).toEqual(['graph:run-started']);
    expect(await (await world.open()).run()).toMatchObject({ kind: 'complete' });
  });

  test.each(['preflight:probe-finished', 'preflight:paused', 'graph:model-unavailable'])(
    'a refused %s leaves the check open: it is interrupted, then resumed',
    async (type) => {
      const kind = type === 'graph:model-unavailable' ? 'quota' : 'rate-limit';
      const world = await worldOf(ONE, { [A]: { admit: kind } });
      const storage = refusing(world.storage, type);
      await expect((await world.open({ storage })).run()).rejects.toThrow('refused');
      expect(await world.types()).toEqual(['graph:run-started', 'preflight:probe-started']);
      const { preflightEventId = '' } = (await interruptRunPreflight(world.storage, RUN)) ?? {};
      world.script({});
      expect(await (await world.open()).resume({ preflightEventId })).toMatchObject({
        kind: 'complete',
      });
    },
  );

  test('a refused resume leaves the pause as it was', async () => {
    const world = await worldOf(ONE, { [A]: { live: [failing('transient')] } });
    const pause = pauseOf(await (await world.open()).run());
    const calls = [...world.calls];
    const storage = refusing(world.storage, 'preflight:resumed');
    await expect((await world.open({ storage })).resume(pause)).rejects.toThrow('refused');
    expect(world.calls).toEqual(calls);
    expect(pauseOf(await (await world.open()).run())).toEqual(pause);
  });

  test('two processes that begin at once do not check twice: one of them stops', async () => {
    const world = await worldOf(ONE);
    const [one, two] = [await world.open(), await world.open()];
    const ends = await Promise.allSettled([one.run(), two.run()]);
    const codes = ends.map((end) =>
      end.status === 'fulfilled' ? end.value.kind : (end.reason as { code: string }).code,
    );
    expect(codes).toContain('complete');
    expect(world.calls.filter((call) => call.startsWith('live'))).toHaveLength(1);
    expect(world.calls.filter((call) => call.startsWith('ordinary'))).toHaveLength(1);
  });
});

/** A store that refuses every append of this type. */
function refusing(storage: RunStorage, type: string): RunStorage {
  const { eventStore } = storage;
  const refuses = (events: readonly NewEvent[]) => events.some((event) => event.type === type);
  const watched: EventStore = {
    append: (stream, expected, events, options) =>
      refuses(events)
        ? Promise.reject(new Error('refused'))
        : eventStore.append(stream, expected, events, options),
    read: (...args) => eventStore.read(...args),
    readAt: (...args) => eventStore.readAt(...args),
    end: (...args) => eventStore.end(...args),
    compact: (...args) => eventStore.compact(...args),
    subscribe: (...args) => eventStore.subscribe(...args),
    sync: () => eventStore.sync(),
  };
  return { ...storage, eventStore: watched };
}
