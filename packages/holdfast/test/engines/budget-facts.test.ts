/** What a token budget knows of the calls of other nodes, child runs and ended runs. Issue 3. */
import {
  compileGraph,
  createGraphExecutor,
  createTokenBudget,
  type DagDefinition,
  dagGraphType,
  type Engine,
  engineNode,
  graphNode,
  MockEngine,
  type NodeBinding,
  type RunStorage,
  startRun,
  type TokenBudget,
} from 'holdfast';
import { createMemoryRunStorage } from 'holdfast/storage/memory';
import { describe, expect, it } from 'vitest';
import { gate } from '../executor/world.ts';
import { eventsOf } from '../support/stored-events.ts';
import { target } from './world.ts';

const big = target('big');
const lane = { id: 'lane', requested: big, knownSubstitutions: [] };

/** Nodes that do not wait for each other; those that are named last have no lane. */
function side(engineBacked: readonly string[], plain: readonly string[] = []) {
  const data = { kind: 'required', key: null } as const;
  const definition: DagDefinition = {
    id: 'side',
    definitionVersion: 1,
    data: { globalConcurrency: 4, keyedConcurrency: {}, stopOnError: false, retryCapPerNode: 0 },
    nodes: [
      ...plain.map((id) => ({ id, data })),
      ...engineBacked.map((id) => ({ id, data: { ...data, lane } })),
    ],
    edges: [],
  };
  return compileGraph(dagGraphType, definition);
}

const memory = () => createMemoryRunStorage({ namespace: 'test' });
const ask = (tokenBudget: TokenBudget) => engineNode({ prompt: () => 'hi', tokenBudget });
const hard = () => createTokenBudget(1_000, { mode: 'hard' });

interface Opened {
  readonly storage: RunStorage;
  readonly graph: ReturnType<typeof side>;
  readonly engine: Engine;
  readonly nodes: Readonly<Record<string, NodeBinding>>;
}

const executorOf = ({ engine, ...rest }: Opened, runId = 'r1') =>
  createGraphExecutor({
    runId,
    ...rest,
    engines: [{ target: big, engine, hardTokenLimitEnforceable: true }],
    maxConcurrentAttempts: 1,
  });

describe('an interrupted call closes a hard budget', () => {
  /** A process that died in a call, and an engine that would answer the next one. */
  async function died(graph: Opened['graph'], nodes: (budget: TokenBudget) => Opened['nodes']) {
    const called = gate();
    const storage = memory();
    await startRun(storage, { runId: 'r1', graph, input: {} });
    const dead: Engine = {
      name: 'dead',
      run: () => {
        called.open();
        return new Promise(() => {});
      },
    };
    const open = (budget: TokenBudget, engine: Engine) =>
      executorOf({ storage, graph, engine, nodes: nodes(budget) });
    void (await open(hard(), dead)).run().catch(() => {});
    await called.opened;
    const engine = MockEngine.forTarget(big, () => 'fine');
    return { storage, engine, open: (budget: TokenBudget) => open(budget, engine) };
  }

  const failures = async (storage: RunStorage) =>
    (await eventsOf(storage, 'r1'))
      .filter(({ type }) => type === 'graph:node-failed')
      .map(({ payload }) => payload);

  it('for the other nodes of its run', async () => {
    const graph = side(['a', 'b']);
    const world = await died(graph, (budget) => ({ a: ask(budget), b: ask(budget) }));
    const budget = hard();
    await (await world.open(budget)).resume('dag/a/1');
    expect(budget.snapshot()).toMatchObject({ closed: true, unknownUsageCalls: 1 });
    expect(await failures(world.storage)).toMatchObject([{ nodeId: 'b', code: 'TOKEN_BUDGET' }]);
    expect(world.engine.calls).toEqual([]);
  });

  it('for the run above its own', async () => {
    const inner = side(['ask']);
    const graph = side(['b'], ['child']);
    const world = await died(graph, (budget) => ({
      child: graphNode({ graph: inner, nodes: { ask: ask(budget) } }),
      b: ask(budget),
    }));
    const budget = hard();
    await (await world.open(budget)).resume('dag/child/1');
    expect(budget.snapshot()).toMatchObject({ closed: true, unknownUsageCalls: 1 });
    expect(await failures(world.storage)).toMatchObject([{ nodeId: 'b', code: 'TOKEN_BUDGET' }]);
    expect(world.engine.calls).toEqual([]);
  });
});

describe('a run that has ended', () => {
  const graph = side(['a']);

  async function ended(runIds: readonly string[]) {
    const storage = memory();
    const engine = MockEngine.forTarget(big, () => 'fine');
    const open = async (runId: string, tokenBudget: TokenBudget) => {
      if ((await storage.runIndex.get(runId)) === null) {
        await startRun(storage, { runId, graph, input: {} });
      }
      return executorOf({ storage, graph, engine, nodes: { a: ask(tokenBudget) } }, runId);
    };
    const first = createTokenBudget(1_000);
    for (const runId of runIds) await (await open(runId, first)).run();
    return { open, engine, used: first.snapshot().usedTokens };
  }

  it('counts for the budget of a process that drives it again', async () => {
    const { open, engine, used } = await ended(['r1', 'r2']);
    const budget = createTokenBudget(used);
    for (const runId of ['r1', 'r2', 'r1']) {
      expect(await (await open(runId, budget)).run()).toMatchObject({ kind: 'complete' });
    }
    expect(budget.snapshot()).toMatchObject({ calls: 2, usedTokens: used, remainingTokens: 0 });
    expect(await (await open('r3', budget)).run()).toMatchObject({ kind: 'fail' });
    expect(engine.calls).toHaveLength(2);
  });

  it('counts once where its process drives it twice', async () => {
    const { open, used } = await ended(['r1']);
    const budget = createTokenBudget(1_000);
    const executor = await open('r1', budget);
    await executor.run();
    await executor.run();
    expect(budget.snapshot()).toMatchObject({ calls: 1, usedTokens: used });
  });

  it('counts with its child runs', async () => {
    const storage = memory();
    const outer = side([], ['child']);
    const engine = MockEngine.forTarget(big, () => 'fine');
    await startRun(storage, { runId: 'r1', graph: outer, input: {} });
    const budgets = [createTokenBudget(1_000), createTokenBudget(1_000)] as const;
    for (const budget of budgets) {
      const engines = [{ target: big, engine }];
      const child = graphNode({ graph, nodes: { a: ask(budget) }, engines });
      const nodes = { child };
      const executor = await createGraphExecutor({ runId: 'r1', graph: outer, storage, nodes });
      expect(await executor.run()).toMatchObject({ kind: 'complete' });
    }
    expect(engine.calls).toHaveLength(1);
    expect(budgets[1].snapshot()).toEqual(budgets[0].snapshot());
  });
});
