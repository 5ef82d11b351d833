/** Graphs in graphs: seed 000, the last of "Resume after a process stops"; issue 3, composition. */
import {
  createGraphExecutor,
  createTokenBudget,
  dataNode,
  type ExecutionLaneDescription,
  engineNode,
  type GraphExecutorOptions,
  graphNode,
  type JsonValue,
  MockEngine,
  type NodeBinding,
  type NodeContext,
  type RunStorage,
  startRun,
  waitNode,
} from 'holdfast';
import { createMemoryRunStorage } from 'holdfast/storage/memory';
import { expect, test } from 'vitest';
import { gate } from '../executor/world.ts';
import { inOrder, scripted, scriptWorld } from '../seeds/world.ts';

const target = { adapter: 'mock', provider: 'acme', modelFamily: 'm', model: 'big', tools: [] };
const lane: ExecutionLaneDescription = { id: 'lane', requested: target, knownSubstitutions: [] };
const one = { nodes: { a: null }, decide: inOrder(['a', 'a/1']) };
const single = scripted(one);
const memory = () => createMemoryRunStorage({ namespace: 'test' });

test(
  '000-46: a data-only node calls another executor and returns the ' + 'result of the child',
  async () => {
    const storage = memory();
    const child = async (_input: JsonValue, { signal }: NodeContext) => {
      await startRun(storage, { runId: 'child', graph: single, input: {} });
      const nodes = { a: dataNode(() => 'from the child') };
      return (await createGraphExecutor({ runId: 'child', graph: single, storage, nodes })).run(
        signal,
      );
    };
    const world = await scriptWorld(one, { storage, nodes: { a: dataNode(child) } });
    expect(await (await world.open()).run()).toEqual({
      kind: 'complete',
      output: [{ kind: 'complete', output: ['from the child'] }],
    });
  },
);

test(
  'the parent names the run of a graph node when it starts, and returns ' + 'its output',
  async () => {
    const world = await scriptWorld(one, {
      nodes: {
        a: graphNode({
          graph: single,
          nodes: { a: dataNode((_input, { runInput }) => runInput) },
          input: () => ({ topic: 'inner' }),
          result: (output) => ({ inner: output }),
        }),
      },
    });
    const executor = await world.open();
    expect(await executor.run()).toEqual({
      kind: 'complete',
      output: [{ inner: [{ topic: 'inner' }] }],
    });
    const { occurrences } = await executor.view();
    const childRunId = occurrences[0]?.childRunId ?? '';
    expect(await world.payload('node-attempt-started')).toMatchObject({ childRunId });
    expect(await world.storage.runIndex.get(childRunId)).toMatchObject({ status: 'complete' });
  },
);

test('what a child fails with, its node fails with', async () => {
  const failing = scripted({
    nodes: { a: null },
    decide: () => [{ kind: 'fail', code: 'NO_LUCK', message: 'not today' }],
  });
  const nodes = { a: graphNode({ graph: failing, nodes: { a: dataNode(() => 1) } }) };
  const world = await scriptWorld(one, { nodes });
  await (await world.open()).run();
  expect(await world.payload('node-failed')).toMatchObject({
    code: 'NO_LUCK',
    message: expect.stringContaining('not today'),
  });
});

test('a child that waits is listed, answered and resumed through its parent', async () => {
  const nodes = {
    a: graphNode({ graph: single, nodes: { a: waitNode({ kind: 'approval', prompt: 'Go?' }) } }),
  };
  const world = await scriptWorld(one, { nodes });
  const executor = await world.open();
  const result = await executor.run();
  const [pause] = result.kind === 'pause' ? result.pauses : [];
  expect(pause).toMatchObject({
    runId: expect.stringMatching(/^r1\./),
    request: { prompt: 'Go?' },
  });
  const next = await world.open();
  await next.answer(pause?.pauseId ?? '', true, { by: 'ada' });
  expect(await next.run()).toMatchObject({ kind: 'complete' });
});

test(
  'a child goes on in the next process when its parent is resumed; ' + 'nothing runs twice',
  async () => {
    const two = scripted({
      nodes: { a: null, b: null },
      decide: inOrder(['a', 'a/1'], ['b', 'b/1']),
    });
    const ran: string[] = [];
    const hangs = gate();
    const nodes = () => ({
      a: graphNode({
        graph: two,
        nodes: {
          a: dataNode(() => ran.push('a')),
          b: dataNode(
            () => {
              ran.push('b');
              hangs.open();
              return ran.length > 2 ? 'done' : new Promise(() => {});
            },
            { retrySafe: true },
          ),
        },
      }),
    });
    const world = await scriptWorld(one, { nodes: nodes() });
    void (await world.open()).run().catch(() => {});
    await hangs.opened;
    const next = await world.open({ nodes: nodes() });
    expect(await next.run()).toEqual({ kind: 'waiting', positions: ['a/1'] });
    expect(await next.resume('a/1')).toMatchObject({ kind: 'complete', output: [[1, 'done']] });
    expect(ran).toEqual(['a', 'b', 'b']);
  },
);

/** Graph nodes inside graph nodes, `depth` of them, around `leaf`. */
function nested(depth: number, leaf: NodeBinding): NodeBinding {
  return depth === 0 ? leaf : graphNode({ graph: single, nodes: { a: nested(depth - 1, leaf) } });
}

test('a cancel reaches node code four runs down, and ends all of them as cancelled', async () => {
  const started = gate();
  const told = gate<unknown>();
  const leaf = dataNode((_input, { signal }) => {
    started.open();
    return new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => {
        told.open(signal.reason);
        reject(signal.reason);
      });
    });
  });
  const world = await scriptWorld(one, { nodes: { a: nested(4, leaf) } });
  const executor = await world.open();
  const run = executor.run();
  await started.opened;
  await executor.cancel({ by: 'ada', reason: 'enough' });
  expect(await told.opened).toMatchObject({ code: 'ABORTED' });
  expect(await run).toMatchObject({ kind: 'fail', code: 'CANCELLED' });
  const { runs } = await world.storage.runIndex.list({}, { limit: 10 });
  expect(runs.map(({ status }) => status)).toEqual(Array.from({ length: 5 }, () => 'cancelled'));
});

test('a child may use the engines of its parent, and shares a token budget with it', async () => {
  const engine = MockEngine.forTarget(target, () => 'fine');
  const tokenBudget = createTokenBudget(40);
  const ask = engineNode({ prompt: () => 'hi', tokenBudget });
  const inner = scripted({ nodes: { a: lane }, decide: inOrder(['a', 'a/1']) });
  const world = await scriptWorld(
    {
      nodes: { own: lane, sub: null },
      decide: inOrder(['own', '1'], ['sub', '2'], ['own', '3'], ['own', '4']),
    },
    {
      nodes: { own: ask, sub: graphNode({ graph: inner, nodes: { a: ask } }) },
      engines: [{ target, engine }],
    },
  );
  await (await world.open()).run();
  expect(engine.calls).toHaveLength(3);
  expect(tokenBudget.snapshot()).toMatchObject({ usedTokens: 45 });
  expect(await world.payload('node-failed')).toMatchObject({ position: '4', code: 'TOKEN_BUDGET' });
});

test('each run counts its own dispatches', async () => {
  const two = scripted({ nodes: { a: null }, decide: inOrder(['a', 'a/1'], ['a', 'a/2']) });
  const nodes = { a: graphNode({ graph: two, nodes: { a: dataNode(() => 1) } }) };
  const open = async (maxDispatches: number, storage: RunStorage = memory()) => {
    const host: Partial<GraphExecutorOptions> = { maxDispatches, storage };
    return (await scriptWorld(one, { nodes, ...host })).open();
  };
  expect(await (await open(2)).run()).toMatchObject({ kind: 'complete' });
  const stopped = await (await open(1)).run();
  expect(stopped).toMatchObject({ kind: 'complete', output: [] });
});
