/** What a parent shows of the pauses of its child runs, and who may end them. */
import {
  type CompiledGraphType,
  dataNode,
  EngineError,
  engineNode,
  graphNode,
  isHoldfastError,
  MockEngine,
  type NodeBinding,
  resolveGraphPlan,
  waitNode,
} from 'holdfast';
import { describe, expect, test } from 'vitest';
import { target } from '../engines/world.ts';
import { scratch } from '../preflight/world.ts';
import { handClock } from '../scenarios/world.ts';
import { inOrder, scripted } from '../seeds/world.ts';
import { dagOf, gate, worldOf } from './world.ts';

const refusal = async (promise: Promise<unknown>) =>
  promise.then(
    () => null,
    (error: unknown) => (isHoldfastError(error) ? error : null),
  );

const nested = (nodes: Readonly<Record<string, NodeBinding>>) =>
  graphNode({ graph: dagOf(Object.keys(nodes), { concurrency: 200 }), nodes });

describe('the pause that a parent shares with its child', () => {
  const sleeping = async () => {
    const clock = handClock();
    const graph = scripted({
      nodes: { a: null },
      decide: () => [{ kind: 'pause', reason: 'so the graph says' }],
    });
    const child = graphNode({ graph, nodes: { a: dataNode(() => 1) } });
    const world = await worldOf({ c: child });
    const executor = await world.open({ clock });
    await executor.run();
    return { world, executor, pauses: await executor.pauses() };
  };

  test('takes no answer and no reconciliation: only the child ends it', async () => {
    const { world, executor, pauses } = await sleeping();
    expect(pauses).toMatchObject([{ request: { kind: 'child' } }]);
    const pauseId = pauses[0]?.pauseId ?? '';
    const said = { kind: 'completed', result: 1, by: 'ada', reason: 'so' } as const;
    for (const call of [
      executor.answer(pauseId, { any: true }, { by: 'ada' }),
      executor.reconcile(pauseId, said),
    ]) {
      expect(await refusal(call)).toMatchObject({
        code: 'PROTOCOL',
        message: expect.stringContaining('lasts until run r1.'),
      });
    }
    expect(await world.types()).not.toContain('node-completed');
  });
});

describe('a child with more open pauses than an event of its parent holds', () => {
  const ids = Array.from({ length: 100 }, (_none, place) => `ok${place}`);
  const prompt = `May I? ${'text '.repeat(600)}`;
  const many = () =>
    worldOf({
      c: nested(Object.fromEntries(ids.map((id) => [id, waitNode({ kind: 'approval', prompt })]))),
    });

  test('pauses its parent, which lists and ends all of them', async () => {
    const world = await many();
    const executor = await world.open();
    expect(await executor.run()).toMatchObject({ kind: 'pause' });
    const pauses = await executor.pauses();
    expect(pauses.map(({ nodeId }) => nodeId)).toEqual(ids);
    for (const { pauseId } of pauses) await executor.answer(pauseId, true, { by: 'ada' });
    expect(await executor.run()).toMatchObject({ kind: 'complete' });
  });
});

describe('engine checks of a child that have paused', () => {
  const big = target('big');
  const checked = (graph: CompiledGraphType, engine: MockEngine) => {
    const digest = graph.definition.digest;
    const id = { source: 's', version: '1', digest };
    return graphNode({
      graph,
      nodes: { a: engineNode({ prompt: () => 'hi' }) },
      engines: [{ target: big, engine }],
      resolvedPlan: resolveGraphPlan(graph.describe(), {
        package: id,
        admission: { package: id, permissions: [] },
        executionLanes: [{ id: 'lane', effective: big, fallbacks: [] }],
        preflight: {
          timeoutMs: 5_000,
          lanes: [{ laneId: 'lane', live: 'required', unsupportedStatic: 'block' }],
        },
      }),
    });
  };

  test.each([1, 2])('are resumed through the parent by their event, at depth %i', async (depth) => {
    let calls = 0;
    const engine = MockEngine.forTarget(big, () => {
      calls += 1;
      if (calls === 1) throw new EngineError({ kind: 'transient', message: 'not now' });
      return 'fine';
    });
    const lane = { id: 'lane', requested: big, knownSubstitutions: [] };
    const graph = scripted({ nodes: { a: lane }, decide: inOrder(['a', 'a/1']) });
    const child = checked(graph as never, engine);
    const world = await worldOf({ c: depth === 1 ? child : nested({ d: child }) });
    const open = () => world.open({ preflightScratchDirectory: scratch() });
    const paused = await (await open()).run();
    expect(paused).toMatchObject({ kind: 'pause' });
    const [pause] = await (await open()).pauses();
    const preflightEventId = String(pause?.request['preflightEventId']);
    expect(await (await open()).run()).toMatchObject({ kind: 'pause' });
    expect(calls).toBe(1);
    const other = (await open()).resume({ preflightEventId: `${preflightEventId}0` });
    expect(await refusal(other)).toMatchObject({ code: 'RESUME_EVENT_MISMATCH' });
    const executor = await open();
    const halted = executor.resume({ preflightEventId }, AbortSignal.abort());
    expect(await refusal(halted)).toMatchObject({ code: 'ABORTED' });
    expect(await executor.resume('dag/c/1')).toMatchObject({ kind: 'pause' });
    expect(calls).toBe(1);
    const result = await executor.resume({ preflightEventId });
    expect(result).toMatchObject({ kind: 'complete' });
  });
});

test('a cancel ends the wait of a shutdown for code that does not stop', async () => {
  const clock = handClock();
  const started = gate();
  const hang = () => {
    started.open();
    return new Promise(() => {});
  };
  const world = await worldOf({ a: dataNode(hang, { graceMs: 100 }) });
  const executor = await world.open({ clock });
  const running = executor.run();
  await started.opened;
  const stopping = executor.shutdown();
  await executor.cancel({ by: 'ada', reason: 'enough' });
  await clock.rest();
  clock.pass(200);
  await stopping;
  expect(await running).toEqual({ kind: 'waiting', positions: [] });
  expect(await (await world.open()).run()).toMatchObject({ kind: 'fail', code: 'CANCELLED' });
});
