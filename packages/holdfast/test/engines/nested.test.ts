/** Runs in runs whose processes die, halts and budgets that reach them. Issue 3, composition. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  createGraphExecutor,
  createTokenBudget,
  dataNode,
  type ExecutionLaneDescription,
  engineNode,
  graphNode,
  type JsonValue,
  MockEngine,
  type NodeBinding,
  type NodeContext,
  type RunResult,
  type RunStorage,
  resolveGraphPlan,
  startRun,
  type TokenBudgetSnapshot,
} from 'holdfast';
import { createLocalRunStorage } from 'holdfast/storage/local';
import { createMemoryRunStorage } from 'holdfast/storage/memory';
import { afterAll, describe, expect, it, test } from 'vitest';
import { gate } from '../executor/world.ts';
import { inOrder, scripted, scriptWorld } from '../seeds/world.ts';
import { eventsOf } from '../support/stored-events.ts';
import { target } from './world.ts';

const script = fileURLToPath(new URL('nested-process.ts', import.meta.url));
const base = mkdtempSync(path.join(tmpdir(), 'holdfast-nested-'));
afterAll(() => rmSync(base, { recursive: true, force: true }));

interface Said {
  readonly result: RunResult;
  readonly budget: TokenBudgetSnapshot;
}

function processOf(directory: string, act: string, kill = 'none') {
  return new Promise<{ readonly signal: string | null; readonly said: Said | null }>(
    (resolve, reject) => {
      const args = ['--import', 'tsx', '--no-warnings', script, directory, act, kill];
      execFile(process.execPath, args, (error, said, errors) => {
        const { signal = null } = (error ?? {}) as { readonly signal?: string };
        if (signal === null && said === '') reject(new Error(errors));
        else resolve({ signal, said: said === '' ? null : JSON.parse(said) });
      });
    },
  );
}

describe.concurrent('a process that dies (SIGKILL) in the child of its run', () => {
  const output = [['first', 'inner', 'last'], 'outer'];
  it.each([
    ['first', false, ['first', 'first', 'inner', 'last', 'outer']],
    ['inner', true, ['first', 'inner', 'inner', 'last', 'outer']],
    ['last', false, ['first', 'inner', 'last', 'last', 'outer']],
    ['outer', false, ['first', 'inner', 'last', 'outer', 'outer']],
  ] as const)('in %s: the owner of the parent goes on with both', async (kill, isSafe, calls) => {
    const directory = mkdtempSync(path.join(base, 'run-'));
    expect(await processOf(directory, 'start', kill)).toMatchObject({ signal: 'SIGKILL' });
    let { said } = await processOf(directory, 'host');
    if (!isSafe) {
      // Node code that is not retry-safe is never repeated unasked, however deep it stands.
      expect(said?.result).toMatchObject({
        kind: 'pause',
        pauses: [{ request: { kind: 'reconcile-attempt' } }],
      });
      said = (await processOf(directory, 'retry')).said;
    }
    expect(said?.result).toEqual({ kind: 'complete', output });
    expect(readFileSync(path.join(directory, 'calls'), 'utf8').trim().split('\n')).toEqual(calls);

    const storage = createLocalRunStorage({ directory, namespace: 'test' });
    const { runs } = await storage.runIndex.list();
    const events = await eventsOf(storage, 'r1');
    const start = events.find(({ type }) => type === 'graph:node-attempt-started');
    const { childRunId = '' } = (start?.payload ?? {}) as { readonly childRunId?: string };
    expect(runs.map(({ runId, status }) => [runId, status]).sort()).toEqual([
      ['r1', 'complete'],
      [childRunId, 'complete'],
    ]);
    const receipts = (await Promise.all(['r1', childRunId].map((id) => eventsOf(storage, id))))
      .flat()
      .filter(({ type }) => type === 'graph:engine-attempt-recorded');
    // The last process counts what every other one has used, in both runs.
    expect(said?.budget.calls).toBe(receipts.length);
    await storage.close();
  });
});

const big = target('big');
const lane: ExecutionLaneDescription = { id: 'lane', requested: big, knownSubstitutions: [] };
const one = { nodes: { a: null }, decide: inOrder(['a', 'a/1']) };
const single = scripted(one);
const memory = () => createMemoryRunStorage({ namespace: 'test' });

describe('a token budget that a graph node shares with its parent', () => {
  const asking = scripted({ nodes: { ask: lane }, decide: inOrder(['ask', '1']) });

  /** `depth` runs down an engine is asked, then one of the parent's own, each for 15 tokens. */
  async function shared(depth: number) {
    const storage = memory();
    const engine = MockEngine.forTarget(big, () => 'fine');
    const halt = { now: (): void => {} };
    const open = async (limit: number) => {
      const tokenBudget = createTokenBudget(limit);
      const ask = engineNode({ prompt: () => 'hi', tokenBudget });
      const engines = [{ target: big, engine }];
      let child = graphNode({ graph: asking, nodes: { ask }, engines });
      for (let level = 1; level < depth; level += 1) {
        child = graphNode({ graph: single, nodes: { a: child } });
      }
      const between = dataNode(() => halt.now());
      return { nodes: { child, between, ask }, engines, tokenBudget };
    };
    const graph = scripted({
      nodes: { child: null, between: null, ask: lane },
      decide: inOrder(['child', '1'], ['between', '2'], ['ask', '3']),
    });
    await startRun(storage, { runId: 'r1', graph, input: null });
    return { storage, engine, halt, open, graph };
  }

  it.each([1, 2, 4])(
    'counts in a fresh process what the child used, %i runs down',
    async (depth) => {
      const { storage, engine, halt, open, graph } = await shared(depth);
      const stopped = new AbortController();
      halt.now = () => stopped.abort();
      const { tokenBudget: _own, ...first } = await open(20);
      const old = await createGraphExecutor({ runId: 'r1', graph, storage, ...first });
      await expect(old.run(stopped.signal)).rejects.toMatchObject({ code: 'ABORTED' });
      expect(engine.calls).toHaveLength(1);

      const { tokenBudget, ...next } = await open(15);
      const executor = await createGraphExecutor({ runId: 'r1', graph, storage, ...next });
      await executor.run();
      expect(tokenBudget.snapshot()).toMatchObject({ usedTokens: 15, calls: 1 });
      expect(engine.calls).toHaveLength(1);
      const events = await eventsOf(storage, 'r1');
      const failed = events.find(({ type }) => type === 'graph:node-failed');
      expect(failed?.payload).toMatchObject({ nodeId: 'ask', code: 'TOKEN_BUDGET' });
    },
  );
});

test('a token budget counts what each successor of a child has used', async () => {
  const calls: string[] = [];
  const engine = MockEngine.forTarget(big, ({ prompt }) => {
    calls.push(prompt);
    return 'fine';
  });
  const asking = scripted({
    nodes: { ask: lane },
    decide: (told) => {
      const done = inOrder(['ask', '1'])(told);
      const ends = done[0]?.kind === 'complete' && calls.length < 3;
      return ends ? [{ kind: 'complete', output: { continueAs: { input: {} } } }] : done;
    },
  });
  const storage = memory();
  const stopped = new AbortController();
  const open = async () => {
    const tokenBudget = createTokenBudget(1_000);
    const nodes = {
      sub: graphNode({
        graph: asking,
        nodes: { ask: engineNode({ prompt: () => 'hi', tokenBudget }) },
        engines: [{ target: big, engine }],
      }),
      stop: dataNode(() => stopped.abort()),
    };
    return { nodes, tokenBudget };
  };
  const graph = scripted({
    nodes: { sub: null, stop: null },
    decide: inOrder(['sub', '1'], ['stop', '2']),
  });
  await startRun(storage, { runId: 'r1', graph, input: null });
  const first = await open();
  const old = await createGraphExecutor({ runId: 'r1', graph, storage, nodes: first.nodes });
  await expect(old.run(stopped.signal)).rejects.toMatchObject({ code: 'ABORTED' });
  expect(calls).toHaveLength(3);
  const { nodes, tokenBudget } = await open();
  await (await createGraphExecutor({ runId: 'r1', graph, storage, nodes })).run();
  expect(tokenBudget.snapshot()).toMatchObject({ calls: 3, usedTokens: 45 });
});

describe('the time until node code four runs down is told to stop', () => {
  /** Node code that waits for its signal, and when it was told. */
  function leaf() {
    const started = gate();
    const told = gate<number>();
    const node = dataNode((_input, { signal }) => {
      started.open();
      return new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          told.open(performance.now());
          reject(signal.reason);
        });
      });
    });
    return { node, started: started.opened, told: told.opened };
  }

  /** A function that drives a run of its own and returns its result object. */
  function calling(storage: RunStorage, runId: string, node: NodeBinding): NodeBinding {
    return dataNode(async (_input: JsonValue, { signal }: NodeContext) => {
      await startRun(storage, { runId, graph: single, input: {} });
      const nodes = { a: node };
      return (await createGraphExecutor({ runId, graph: single, storage, nodes })).run(signal);
    });
  }

  const ways: readonly [string, (storage: RunStorage, node: NodeBinding) => NodeBinding][] = [
    [
      'graphNode',
      (_storage, node) =>
        [1, 2, 3, 4].reduce((child) => graphNode({ graph: single, nodes: { a: child } }), node),
    ],
    [
      'executors that data nodes call',
      (storage, node) =>
        [1, 2, 3, 4].reduce((child, level) => calling(storage, `level-${level}`, child), node),
    ],
  ];

  it.each(ways)('by a halt is under 250 ms: %s', async (_way, nest) => {
    const storage = memory();
    const { node, started, told } = leaf();
    const world = await scriptWorld(one, { storage, nodes: { a: nest(storage, node) } });
    const halt = new AbortController();
    const running = (await world.open()).run(halt.signal);
    await started;
    const at = performance.now();
    halt.abort();
    expect((await told) - at).toBeLessThan(250);
    await expect(running).rejects.toMatchObject({ code: 'ABORTED' });
    const { runs } = await storage.runIndex.list();
    expect(runs).toHaveLength(5);
    for (const { status } of runs) expect(['running', 'paused']).toContain(status);
  });

  it.each(ways)('by a cancel is under 250 ms: %s', async (_way, nest) => {
    const storage = memory();
    const { node, started, told } = leaf();
    const world = await scriptWorld(one, { storage, nodes: { a: nest(storage, node) } });
    const executor = await world.open();
    const running = executor.run();
    await started;
    const at = performance.now();
    await executor.cancel({ by: 'ada', reason: 'enough' });
    expect((await told) - at).toBeLessThan(250);
    expect(await running).toMatchObject({ kind: 'fail', code: 'CANCELLED' });
  });
});

test('a child of a plan of its own is given the engines of its parent that it names', async () => {
  const small = target('small', { provider: 'other' });
  const both = { id: 'lane', requested: big, knownSubstitutions: [small] };
  const inner = scripted({ nodes: { a: both }, decide: inOrder(['a', '1']) });
  const identity = { source: 'test', version: '1', digest: inner.definition.digest };
  const resolvedPlan = resolveGraphPlan(inner.describe(), {
    package: identity,
    admission: { package: identity, permissions: [] },
    executionLanes: [{ id: 'lane', effective: small }],
  });
  const engines = [big, small].map((each) => ({
    target: each,
    engine: MockEngine.forTarget(each),
  }));
  const ask = engineNode({ prompt: () => 'hi' });
  const world = await scriptWorld(
    { nodes: { own: both, sub: null }, decide: inOrder(['own', '1'], ['sub', '2']) },
    {
      engines,
      nodes: { own: ask, sub: graphNode({ graph: inner, nodes: { a: ask }, resolvedPlan }) },
    },
  );
  expect(await (await world.open()).run()).toMatchObject({ kind: 'complete' });
  expect(engines.map(({ engine }) => engine.calls.length)).toEqual([1, 1]);
});

test('an output too large for an event of the parent is a failure of its node', async () => {
  const huge = 'x'.repeat(300_000);
  const big2 = scripted({
    nodes: { a: null },
    decide: (told) =>
      told.length < 2 ? inOrder(['a', '1'])(told) : [{ kind: 'complete', output: huge }],
  });
  const nodes = { a: graphNode({ graph: big2, nodes: { a: dataNode(() => 1) } }) };
  const world = await scriptWorld(one, { nodes });
  await (await world.open()).run();
  expect(await world.payload('node-failed')).toMatchObject({ code: 'RESULT_TOO_LARGE' });
});

describe('what a graph that stands for a node lacks is missed before anything runs', () => {
  const asking = scripted({ nodes: { ask: lane }, decide: inOrder(['ask', '1']) });
  const ask = engineNode({ prompt: () => 'hi' });
  const remembering = scripted({ ...one, memory: 'required' });
  const within = (node: NodeBinding) => graphNode({ graph: single, nodes: { a: node } });
  const huge = [{ target: target('huge'), engine: MockEngine.forTarget(target('huge')) }];

  it.each<[string, NodeBinding, string, RegExp]>([
    [
      'an engine',
      graphNode({ graph: asking, nodes: { ask } }),
      'MISSING_ENGINE_BINDING',
      /node a: target .*big.* has no engine/,
    ],
    [
      'the right engine',
      graphNode({ graph: asking, nodes: { ask }, engines: huge }),
      'MISSING_ENGINE_BINDING',
      /node a: target .*big.* has no engine/,
    ],
    [
      'a prompt',
      graphNode({ graph: asking, nodes: { ask: dataNode(() => 1) }, engines: huge }),
      'MISSING_ENGINE_BINDING',
      /node a: /,
    ],
    [
      'a function',
      graphNode({ graph: single, nodes: { a: ask } }),
      'MISSING_NODE_BINDING',
      /node a: Node a has no lane/,
    ],
    [
      'its memory',
      graphNode({ graph: remembering, nodes: { a: dataNode(() => 1) } }),
      'MISSING_MEMORY',
      /node a: Graph scripted requires memory/,
    ],
    [
      'an engine three runs down',
      within(within(graphNode({ graph: asking, nodes: { ask } }))),
      'MISSING_ENGINE_BINDING',
      /node a: The graph of node a: The graph of node a: target/,
    ],
  ])('%s', async (_what, node, code, message) => {
    const world = await scriptWorld(one, { nodes: { a: node } });
    await expect(world.open()).rejects.toMatchObject({
      code,
      message: expect.stringMatching(message),
    });
    expect(await world.types()).toEqual(['run-started']);
  });
});

test.each<[string, () => JsonValue, string]>([
  [
    'throws',
    () => {
      throw new Error('no input');
    },
    'EFFECT_FAILED',
  ],
  ['is no JSON', () => new Map() as never, 'INVALID_JSON_VALUE'],
])(
  'an input of a child that %s fails its node, and no run is stored',
  async (_what, input, code) => {
    const nodes = { a: graphNode({ graph: single, nodes: { a: dataNode(() => 1) }, input }) };
    const world = await scriptWorld(one, { nodes });
    await (await world.open()).run();
    expect(await world.payload('node-failed')).toMatchObject({ code });
    expect((await world.storage.runIndex.list()).runs).toHaveLength(1);
  },
);
