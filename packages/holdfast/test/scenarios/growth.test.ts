/** Section H: growth and size. Work is counted, never timed. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  createGraphExecutor,
  dataNode,
  defaultStoragePolicy,
  type NodeBinding,
  type RunStorage,
  type RunStoragePolicy,
  waitNode,
} from 'holdfast';
import { createLocalRunStorage } from 'holdfast/storage/local';
import { createMemoryRunStorage } from 'holdfast/storage/memory';
import { afterAll, describe, expect, test } from 'vitest';
import { dagOf, gate } from '../executor/world.ts';
import { flowOf } from '../nodes/flow-world.ts';
import { flowScene, nextTurn, pausesOf, sceneOf } from './world.ts';

const base = mkdtempSync(path.join(tmpdir(), 'holdfast-growth-'));
afterAll(() => rmSync(base, { recursive: true, force: true }));

/** A storage that counts what its event store is asked for. */
function counted(storage: RunStorage) {
  const { eventStore } = storage;
  const counts = { appends: 0, appended: 0, read: 0, bytes: [] as number[] };
  const watched: RunStorage = {
    ...storage,
    eventStore: {
      append: async (stream, expected, events, options) => {
        counts.appends += 1;
        counts.appended += events.length;
        counts.bytes.push(JSON.stringify(events).length);
        return eventStore.append(stream, expected, events, options);
      },
      read: async function* (...args) {
        for await (const event of eventStore.read(...args)) {
          counts.read += 1;
          yield event;
        }
      },
      readAt: (...args) => eventStore.readAt(...args),
      end: (...args) => eventStore.end(...args),
      compact: (...args) => eventStore.compact(...args),
      subscribe: (...args) => eventStore.subscribe(...args),
      sync: () => eventStore.sync(),
    },
  };
  return { storage: watched, counts };
}

/** A loop with an empty body: two dispatches an iteration. */
const rounds = (maxIterations: number) =>
  flowOf(
    [
      ['again', 'control.loop', { maxIterations }],
      ['work', 'task', { function: 'work' }],
    ],
    ['start>again', 'again.body>work', 'work>again.next'],
  );

describe('B100: the work of a step does not grow with the steps behind it', () => {
  test('a loop of 1,000 rounds appends as much for its last rounds as for its first', async () => {
    const { storage, counts } = counted(createMemoryRunStorage({ namespace: 'test' }));
    const scene = await flowScene(rounds(1_000), { work: () => null }, { storage });
    expect(await scene.run()).toMatchObject({ kind: 'complete' });
    const sum = (from: number, to: number) =>
      counts.bytes.slice(from, to).reduce((total, bytes) => total + bytes, 0);
    // Digits of positions and sequences grow; nothing else may.
    expect(sum(1_800, 2_000) / sum(20, 220)).toBeLessThan(1.1);
    expect(counts.read).toBeLessThan(10);
    expect(counts.appends).toBeLessThan(2_010);
  });

  test('a chain of 1,000 nodes reads nothing again', async () => {
    const { storage, counts } = counted(createMemoryRunStorage({ namespace: 'test' }));
    const ids = Array.from({ length: 1_000 }, (_none, index) => `n${index}`);
    const edges = ids.slice(1).map((id, index) => `n${index}>${id}`);
    const node = dataNode(() => null);
    const nodes = Object.fromEntries(ids.map((id) => [id, node]));
    const scene = await sceneOf(dagOf(ids, { edges }), nodes, { storage });
    expect(await scene.run()).toMatchObject({ kind: 'complete' });
    expect(counts.read).toBeLessThan(10);
    // Besides the run's start: one append a step, each with an outcome, a dispatch and a start.
    expect(counts.appends).toBe(1_002);
    expect(counts.appended).toBe(1 + 3 * 1_000 + 1);
  });
});

test('B101: a run of any length is opened by reading a bounded tail', async () => {
  const { storage, counts } = counted(createMemoryRunStorage({ namespace: 'test' }));
  const stop = gate();
  let works = 0;
  const work = async () => {
    works += 1;
    if (works < 4_000) return;
    stop.open();
    await new Promise(() => {});
  };
  const scene = await flowScene(rounds(5_000), { work }, { storage });
  void scene.run();
  await stop.opened;
  const { sequence } = await (await scene.open()).view();
  expect(sequence).toBeGreaterThan(20_000);
  const before = counts.read;
  const executor = await scene.open();
  expect(await executor.run()).toMatchObject({ kind: 'waiting' });
  expect(counts.read - before).toBeLessThan(2_000);
  await scene.verify();
});

const smallPolicy: RunStoragePolicy = {
  ...defaultStoragePolicy,
  maxEventPayloadBytes: 8 * 1024,
  maxAppendBatchBytes: 16 * 1024,
};

/** Runs `a` with `b` behind it under the small policy. */
async function withSmallEvents(a: NodeBinding, b: NodeBinding = dataNode(() => 'b')) {
  const storage = createMemoryRunStorage({ namespace: 'test', policy: smallPolicy });
  const scene = await sceneOf(dagOf(['a', 'b'], { edges: ['a>b'] }), { a, b }, { storage });
  return { scene, result: await scene.run() };
}

describe('B103: what is too large for the store', () => {
  const limit = smallPolicy.maxEventPayloadBytes;

  test('every result around the limit is kept whole or refused small', async () => {
    for (let size = limit - 400; size <= limit + 1; size += 7) {
      const { scene, result } = await withSmallEvents(dataNode(() => 'x'.repeat(size)));
      expect(['complete', 'fail'], `${size}`).toContain(result.kind);
      if (result.kind === 'complete') continue;
      const failed = (await scene.events()).find(({ type }) => type === 'graph:node-failed');
      expect(failed?.payload).toMatchObject({ code: 'RESULT_TOO_LARGE', retryable: false });
      expect(JSON.stringify(failed).length).toBeLessThan(1_000);
    }
  });

  test.each([
    ['ascii', 'x'],
    ['three-byte characters', '\u20ac'],
    ['quotes', '"'],
    ['control characters', '\u0001'],
    ['emoji', '😀'],
  ])('is measured in the bytes that are stored: %s', async (_what, character) => {
    for (const size of [limit / 12, limit / 6, limit / 3, limit / 2, limit, limit * 2]) {
      const { scene, result } = await withSmallEvents(
        dataNode(() => ({ text: character.repeat(Math.floor(size)) })),
      );
      expect(['complete', 'fail']).toContain(result.kind);
      await scene.verify();
    }
  });

  test.each([
    ['a step', dataNode((_input, { step }) => step('s', () => 'x'.repeat(limit + 1)))],
    [
      'a pause request',
      dataNode(() => null, {
        decideAction: () => ({ kind: 'wait', reason: 'ask', request: { text: 'x'.repeat(limit) } }),
      }),
    ],
    [
      'a pause reason',
      dataNode(() => null, {
        decideAction: () => ({ kind: 'wait', reason: 'x'.repeat(limit), request: {} }),
      }),
    ],
    [
      'an error message',
      dataNode(() => {
        throw new Error('x'.repeat(limit * 4));
      }),
    ],
    [
      'a denial',
      dataNode(() => null, { decideAction: () => ({ kind: 'deny', reason: 'x'.repeat(limit) }) }),
    ],
  ])('%s: a small failure is recorded and the run goes by its policy', async (_what, node) => {
    const { scene, result } = await withSmallEvents(node);
    expect(['fail', 'pause']).toContain(result.kind);
    for (const event of await scene.events()) {
      if (event.type === 'graph:run-started') continue;
      expect(JSON.stringify(event.payload).length).toBeLessThan(limit);
    }
    expect(await scene.run()).toEqual(result);
  });

  test('an answer or a signal that is too large is refused, and the pause stays open', async () => {
    const flow = flowOf([['ask', 'approval', { prompt: 'ok?' }]], ['start>ask']);
    const storage = createMemoryRunStorage({ namespace: 'test', policy: smallPolicy });
    const scene = await flowScene(flow, {}, { storage });
    const paused = await scene.run();
    const executor = await scene.open();
    const pauseId = paused.kind === 'pause' ? (paused.pauses[0]?.pauseId ?? '') : '';
    const large = { approved: true, text: 'x'.repeat(limit) };
    await expect(executor.answer(pauseId, large, { by: 'ada' })).rejects.toThrow();
    await expect(executor.signal('go', large, { signalId: 'one' })).rejects.toThrow();
    expect(await scene.run()).toEqual(paused);
    await executor.answer(pauseId, true, { by: 'ada' });
    expect(await executor.run()).toMatchObject({ kind: 'complete' });
  });

  test('a hundred medium results of one moment are stored in several batches', async () => {
    const all = gate();
    const ids = Array.from({ length: 100 }, (_none, index) => `n${index}`);
    const text = 'x'.repeat(limit / 2);
    const node = dataNode(() => all.opened.then(() => text));
    const nodes = Object.fromEntries(ids.map((id) => [id, node]));
    const { storage, counts } = counted(
      createMemoryRunStorage({ namespace: 'test', policy: smallPolicy }),
    );
    const scene = await sceneOf(dagOf(ids, { concurrency: 100 }), nodes, { storage });
    const running = scene.run({ maxConcurrentAttempts: 100 });
    while (!(await scene.types()).includes('node-attempt-started')) await nextTurn();
    all.open();
    const output = { nodes: Object.fromEntries(ids.map((id) => [id, text])) };
    expect(await running).toEqual({ kind: 'complete', output });
    expect(counts.appends).toBeGreaterThan(25);
    await scene.verify();
  });

  test('a decision larger than a batch is stored whole before any of it starts', async () => {
    const ids = Array.from({ length: 300 }, (_none, index) => `node-${index}`);
    const started: string[] = [];
    const nodes = Object.fromEntries(
      ids.map((id) => [id, dataNode((_input, { nodeId }) => void started.push(nodeId))]),
    );
    const storage = createMemoryRunStorage({ namespace: 'test', policy: smallPolicy });
    const scene = await sceneOf(dagOf(ids, { concurrency: 300 }), nodes, { storage });
    expect(await scene.run()).toMatchObject({ kind: 'complete' });
    expect(started).toHaveLength(300);
    const types = await scene.types();
    const firstStart = types.indexOf('node-attempt-started');
    expect(types.slice(0, firstStart).filter((type) => type === 'node-dispatched')).toHaveLength(
      300,
    );
    await scene.verify();
  });

  test.each(['x', '\u20ac', '"', '\u0001', '😀'])(
    'nothing of one moment is together too large for a batch: results, prompts, answers of %j',
    async (character) => {
      const bytes = Buffer.byteLength(JSON.stringify(character)) - 2;
      const textOf = (size: number) => character.repeat(Math.floor(size / bytes));
      for (const batches of [2, 4]) {
        const policy = { ...smallPolicy, maxAppendBatchBytes: limit * batches };
        const all = gate();
        const held = (size: number) => dataNode(() => all.opened.then(() => ({ t: textOf(size) })));
        const sizes = Array.from({ length: 12 }, (_none, index) => 7_500 - index * 500);
        const nodes = {
          ...Object.fromEntries(sizes.map((size) => [`n${size}`, held(size)])),
          one: waitNode({ kind: 'approval', prompt: textOf(7_000) }),
          two: waitNode({ kind: 'approval', prompt: textOf(7_000) }),
        };
        const storage = createMemoryRunStorage({ namespace: 'test', policy });
        const scene = await sceneOf(dagOf(Object.keys(nodes), { concurrency: 20 }), nodes, {
          storage,
        });
        const executor = await scene.open();
        const running = executor.run();
        await pausesOf(executor, 2);
        all.open();
        const paused = await running;
        for (const { pauseId } of paused.kind === 'pause' ? paused.pauses : []) {
          await executor.answer(pauseId, textOf(7_000), { by: 'ada' });
        }
        expect(await executor.run()).toMatchObject({ kind: 'complete' });
        await scene.verify();
      }
    },
  );

  test('an output over the limit is returned whole, now and later', async () => {
    const storage = createMemoryRunStorage({ namespace: 'test', policy: smallPolicy });
    const ids = ['a', 'b', 'c', 'd'];
    const node = dataNode(() => 'x'.repeat(limit / 2));
    const nodes = Object.fromEntries(ids.map((id) => [id, node]));
    const scene = await sceneOf(dagOf(ids), nodes, { storage });
    const result = await scene.run();
    expect(result.kind).toBe('complete');
    expect(JSON.stringify(result).length).toBeGreaterThan(limit);
    expect(await scene.run()).toEqual(result);
    await scene.verify();
  });
});

test('B106: a cancel from another handle is taken in while many runs write', async () => {
  const directory = mkdtempSync(path.join(base, 'run-'));
  const storage = createLocalRunStorage({ directory, namespace: 'test' });
  const other = createLocalRunStorage({ directory, namespace: 'test' });
  const endless = rounds(1_000_000);
  const stop = new AbortController();
  const busy = await Promise.all(
    Array.from({ length: 8 }, (_none, index) =>
      flowScene(endless, { work: () => nextTurn() }, { storage, runId: `busy-${index}` }),
    ),
  );
  const writing = busy.map(async (scene) => (await scene.open()).run(stop.signal));
  const ends = Promise.allSettled(writing);
  const target = await flowScene(endless, { work: () => nextTurn() }, { storage, runId: 'target' });
  const running = target.run();
  while ((await target.positions()).length < 10) await nextTurn();
  const { graph, nodes } = target;
  const outside = await createGraphExecutor({ runId: 'target', graph, nodes, storage: other });
  await outside.cancel({ by: 'ada', reason: 'enough' });
  const positionsThen = (await target.positions()).length;
  expect(await running).toMatchObject({ kind: 'fail', code: 'CANCELLED' });
  // It was heard within a few turns of a run that never rests.
  expect((await target.positions()).length - positionsThen).toBeLessThan(1_000);
  stop.abort();
  for (const end of await ends) expect(end).toMatchObject({ reason: { code: 'ABORTED' } });
  await storage.close();
  await other.close();
});
