/** What comparable executors suffer from, and ours does not: see docs/seeds/000.md. */
import {
  createGraphExecutor,
  createTokenBudget,
  dataNode,
  EngineError,
  type ExecutionLaneDescription,
  engineNode,
  type JsonObject,
  MockEngine,
  type RunStorage,
  startRun,
} from 'holdfast';
import { createMemoryRunStorage } from 'holdfast/storage/memory';
import { expect, test } from 'vitest';
import { gate, worldOf } from '../executor/world.ts';
import { complete, dispatch, inOrder, RUN, scripted, scriptWorld, settled } from './world.ts';

const target = { adapter: 'mock', provider: 'acme', modelFamily: 'm', model: 'big', tools: [] };
const lane: ExecutionLaneDescription = { id: 'lane', requested: target, knownSubstitutions: [] };

test('weak-01: a slow node does not hold back the successors of a quick one', async () => {
  const slow = gate();
  const done: string[] = [];
  const world = await worldOf(
    {
      slow: dataNode(() => slow.opened),
      quick: dataNode(() => done.push('quick')),
      after: dataNode(() => {
        done.push('after');
        slow.open();
      }),
    },
    { edges: ['quick>after'] },
  );
  expect(await (await world.open()).run()).toMatchObject({ kind: 'complete' });
  expect(done).toEqual(['quick', 'after']);
});

/** A run whose process stopped in its only node, opened again with a graph that decides `input`. */
async function reopened(input: JsonObject, position = 'a/1') {
  const started = gate();
  const hang = dataNode(
    () => {
      started.open();
      return new Promise(() => {});
    },
    { retrySafe: true },
  );
  const world = await scriptWorld(
    {
      nodes: { a: null },
      decide: (told) =>
        told.length === 0
          ? [dispatch('a', 'a/1', { amount: 10 })]
          : settled(told, 'a/1')
            ? complete(1)
            : [],
    },
    { nodes: { a: hang } },
  );
  void (await world.open()).run().catch(() => {});
  await started.opened;
  const changed = scripted({
    nodes: { a: null },
    decide: (told) => (told.length === 0 ? [dispatch('a', position, input)] : complete(1)),
  });
  return world.open({ graph: changed, nodes: { a: dataNode(() => 1) } });
}

test(
  'weak-02: an input that is computed otherwise than it was recorded is ' + 'refused by name',
  async () => {
    const executor = await reopened({ amount: 1_000 });
    await expect(executor.run()).rejects.toMatchObject({
      code: 'DETERMINISM_VIOLATION',
      message: expect.stringContaining('a/1'),
    });
  },
);

test('weak-03: decisions changed under the same version are refused by name', async () => {
  const executor = await reopened({ amount: 10 }, 'a/other');
  await expect(executor.run()).rejects.toMatchObject({ code: 'DETERMINISM_VIOLATION' });
});

test('weak-04: the end is an event, told again without asking the graph', async () => {
  const script = { nodes: { a: null }, decide: inOrder(['a', 'a/1']) };
  const world = await scriptWorld(script, { nodes: { a: dataNode(() => 'x') } });
  await (await world.open()).run();
  expect(await world.payload('run-finished')).toEqual({ outcome: 'complete', output: ['x'] });
  const silent = scripted({
    ...script,
    decide: () => {
      throw new Error('asked');
    },
  });
  const again = await world.open({ graph: silent });
  expect(await again.run()).toEqual({ kind: 'complete', output: ['x'] });
});

test('weak-05: built-in forms need nothing but the events that the executor writes', async () => {
  const world = await worldOf({ a: dataNode(() => 1), b: dataNode(() => 2) }, { edges: ['a>b'] });
  await (await world.open()).run();
  const written = new Set((await world.types()).filter((type) => type !== 'run-started'));
  expect([...written]).toEqual([
    'node-dispatched',
    'node-attempt-started',
    'node-completed',
    'run-finished',
  ]);
});

test(
  'weak-06: a failure keeps its message, whether it may be tried again, ' + 'and its call',
  async () => {
    const engine = MockEngine.forTarget(target, () => {
      const usage = { kind: 'reported', inputTokens: 7, outputTokens: 0 } as const;
      throw new EngineError({ kind: 'rate-limit', message: 'slow down', usage });
    });
    const world = await scriptWorld(
      { nodes: { a: lane }, decide: inOrder(['a', 'a/1']) },
      { nodes: { a: engineNode({ prompt: () => 'hi' }) }, engines: [{ target, engine }] },
    );
    await (await world.open()).run();
    expect(await world.payload('node-failed')).toMatchObject({
      code: 'EFFECT_FAILED',
      message: expect.stringContaining('slow down'),
      retryable: true,
    });
    expect(await world.payload('engine-attempt-recorded')).toMatchObject({
      failure: 'rate-limit',
      requested: { provider: 'acme', model: 'big' },
      usage: { inputTokens: 7 },
    });
  },
);

test.each(['401 unauthorized, please login', 'model not found (404)', 'quota exceeded', 'ENOENT'])(
  'weak-07: the message %j proves no lane dead',
  async (message) => {
    const engine = MockEngine.forTarget(target, () => {
      throw new Error(message);
    });
    const world = await scriptWorld(
      { nodes: { a: lane }, decide: inOrder(['a', 'a/1']) },
      { nodes: { a: engineNode({ prompt: () => 'hi' }) }, engines: [{ target, engine }] },
    );
    await (await world.open()).run();
    expect(await world.types()).not.toContain('model-unavailable');
    expect(await world.payload('engine-attempt-recorded')).toMatchObject({ failure: 'unknown' });
  },
);

test(
  'weak-08: a prompt builder that throws is a recorded failure, and the ' + 'run goes on',
  async () => {
    const broken = engineNode({
      prompt: () => {
        throw new Error('no prompt for you');
      },
    });
    const world = await scriptWorld(
      { nodes: { a: lane, b: null }, decide: inOrder(['a', 'a/1'], ['b', 'b/1']) },
      {
        nodes: { a: broken, b: dataNode(() => 'went on') },
        engines: [{ target, engine: MockEngine.forTarget(target) }],
      },
    );
    expect(await (await world.open()).run()).toMatchObject({ output: ['went on'] });
    expect(await world.payload('node-failed')).toMatchObject({
      message: expect.stringContaining('no prompt for you'),
    });
  },
);

test(
  'weak-09: a result that the graph refuses is never recorded; one it ' + 'cannot fold fails alone',
  async () => {
    const refused = await scriptWorld(
      {
        nodes: { a: null },
        decide: inOrder(['a', 'a/1']),
        validate: (_nodeId, result) =>
          result === 'good' ? null : { code: 'BAD', path: '', message: 'not good' },
      },
      { nodes: { a: dataNode(() => 'bad') } },
    );
    expect(await (await refused.open()).run()).toMatchObject({ kind: 'complete' });
    expect(await refused.payload('node-failed')).toMatchObject({ code: 'RESULT_INVALID' });
    expect(await refused.types()).not.toContain('node-completed');
    const unfoldable = await scriptWorld(
      {
        nodes: { a: null, b: null },
        decide: inOrder(['a', 'a/1'], ['b', 'b/1']),
        reduce: ({ type, payload }) => {
          const { nodeId } = payload as { nodeId: string };
          if (type === 'node-completed' && nodeId === 'a') throw new Error('poison');
        },
      },
      { nodes: { a: dataNode(() => 'x'), b: dataNode(() => 'went on') } },
    );
    expect(await (await unfoldable.open()).run()).toMatchObject({ output: ['went on'] });
    expect(await unfoldable.payload('node-failed')).toMatchObject({
      code: 'RESULT_INVALID',
      message: expect.stringContaining('poison'),
    });
  },
);

test(
  'weak-10: a person says what became of an uncertain attempt, recorded ' + 'with who and why',
  async () => {
    const started = gate();
    const world = await worldOf({
      a: dataNode(() => {
        started.open();
        return new Promise(() => {});
      }),
    });
    void (await world.open()).run().catch(() => {});
    await started.opened;
    const executor = await world.open();
    const result = await executor.resume('dag/a/1');
    const pauseId = result.kind === 'pause' ? (result.pauses[0]?.pauseId ?? '') : '';
    await executor.reconcile(pauseId, {
      kind: 'completed',
      result: 'paid',
      by: 'ada',
      reason: 'The bank shows it.',
    });
    expect(await executor.run()).toMatchObject({ output: { nodes: { a: 'paid' } } });
    const audit = (await world.events()).find(({ type }) => type === 'graph:attempt-reconciled');
    expect(audit?.payload).toMatchObject({
      kind: 'completed',
      by: 'ada',
      reason: 'The bank shows it.',
    });
  },
);

test(
  'weak-11: resuming an uncertain attempt is the recorded answer retry, ' + 'never a silent one',
  async () => {
    const started = gate();
    let runs = 0;
    const world = await worldOf({
      a: dataNode(() => {
        runs += 1;
        started.open();
        return runs > 1 ? 'again' : new Promise(() => {});
      }),
    });
    void (await world.open()).run().catch(() => {});
    await started.opened;
    await (await world.open()).resume('dag/a/1');
    expect(await (await world.open()).run()).toMatchObject({ kind: 'pause' });
    expect(runs).toBe(1);
    expect(await (await world.open()).resume('dag/a/1')).toMatchObject({ kind: 'complete' });
    const audit = (await world.events()).find(({ type }) => type === 'graph:attempt-reconciled');
    expect(audit?.payload).toMatchObject({ kind: 'retry', by: 'resume' });
  },
);

test('weak-12: what a token budget has spent is known to the next process', async () => {
  const storage: RunStorage = createMemoryRunStorage({ namespace: 'test' });
  const graph = scripted({
    nodes: { a: lane },
    decide: (told) =>
      told.some(({ type }) => type === 'node-paused')
        ? [{ kind: 'pause', reason: 'stop' }]
        : inOrder(['a', 'a/1'], ['a', 'a/2'])(told),
  });
  await startRun(storage, { runId: RUN, graph, input: null });
  let asked = 0;
  const open = (tokenBudget: ReturnType<typeof createTokenBudget>) =>
    createGraphExecutor({
      runId: RUN,
      graph,
      storage,
      nodes: {
        a: engineNode({
          prompt: () => 'hi',
          tokenBudget,
          decideAction: () => {
            asked += 1;
            return asked === 2 ? { kind: 'wait', reason: 'later', request: {} } : { kind: 'allow' };
          },
        }),
      },
      engines: [{ target, engine: MockEngine.forTarget(target, () => 'fine') }],
    });
  await (await open(createTokenBudget(20))).run();
  const fresh = createTokenBudget(20);
  await open(fresh).then((executor) => executor.run());
  expect(fresh.snapshot()).toMatchObject({ usedTokens: 15, calls: 1 });
});

test('weak-13: appending a step does not read the stream again', async () => {
  const storage = createMemoryRunStorage({ namespace: 'test' });
  let reads = 0;
  const counting: RunStorage = {
    ...storage,
    eventStore: new Proxy(storage.eventStore, {
      get: (store, name) => {
        const value: unknown = Reflect.get(store, name, store);
        if (typeof value !== 'function') return value;
        if (name === 'read' || name === 'readAt') reads += 1;
        return value.bind(store);
      },
    }),
  };
  const positions = Array.from({ length: 100 }, (_each, place) => ['a', `a/${place}`] as const);
  const world = await scriptWorld(
    { nodes: { a: null }, decide: inOrder(...positions) },
    { nodes: { a: dataNode(() => 1) }, storage: counting },
  );
  const executor = await world.open();
  const before = reads;
  await executor.run();
  expect((await world.types()).filter((type) => type === 'node-completed')).toHaveLength(100);
  expect(reads - before).toBeLessThan(10);
});
