/** What may become a node's result, whoever gives it; and graph code that throws. */
import {
  compileGraph,
  type DagDefinition,
  dagGraphType,
  dataNode,
  isHoldfastError,
  type JsonValue,
  type NodeResultIssue,
  waitNode,
} from 'holdfast';
import { describe, expect, test } from 'vitest';
import { type DagShape, dagOf, gate, RUN, type World, worldOf } from './world.ts';

type Compilation = ReturnType<typeof dagGraphType.compile>;

/** The dag of the world with other operations. */
function graphWith(
  ids: readonly string[],
  changed: (own: Compilation) => Partial<Compilation>,
  shape: DagShape = {},
) {
  const { definition } = dagOf(ids, shape);
  return compileGraph(
    {
      kind: dagGraphType.kind,
      version: dagGraphType.version,
      compile: (...given: Parameters<typeof dagGraphType.compile>) => {
        const own = dagGraphType.compile(...given);
        return { ...own, ...changed(own) };
      },
    },
    definition.value as DagDefinition,
  );
}

const only = async (world: World, type: string) =>
  (await world.events()).filter((event) => event.type === `graph:${type}`).map((e) => e.payload);

/** The refusal of what is a promise to be kept. */
const refusal = async (promise: Promise<unknown>) =>
  promise.then(
    () => null,
    (error: unknown) => (isHoldfastError(error) ? error : null),
  );

describe('the graph judges the result that it is to reduce', () => {
  const seen: JsonValue[] = [];
  const referencesOnly = () => ({
    validateNodeResult: (_nodeId: string, result: JsonValue): NodeResultIssue | null => {
      seen.push(result);
      const isReference = typeof result === 'object' && result !== null && 'artifact' in result;
      return isReference ? null : { code: 'NO_REFERENCE', path: '', message: 'too plain' };
    },
  });

  test('of one that is kept as an artifact it sees the reference, as reduce does', async () => {
    const nodes = { a: dataNode(() => 'x'.repeat(300_000), { largeResult: 'artifact' }) };
    const world = await worldOf(nodes);
    const graph = graphWith(['a'], referencesOnly);
    expect(await (await world.open({ graph })).run()).toMatchObject({ kind: 'complete' });
    expect(seen.every((result) => JSON.stringify(result).length < 1_000)).toBe(true);
    expect(await only(world, 'node-completed')).toMatchObject([
      { result: { artifact: { byteLength: 300_002 } } },
    ]);
  });

  test('an answer that it refuses is refused to its sender, and the pause stays open', async () => {
    const world = await worldOf({ a: waitNode({ kind: 'approval', prompt: 'Go?' }) });
    const executor = await world.open({ graph: graphWith(['a'], referencesOnly) });
    await executor.run();
    const [pause] = await executor.pauses();
    const answer = executor.answer(pause?.pauseId ?? '', 'yes', { by: 'ada' });
    expect(await refusal(answer)).toMatchObject({
      code: 'ANSWER_INVALID',
      message: expect.stringContaining('NO_REFERENCE'),
    });
    expect(await executor.pauses()).toHaveLength(1);
    expect(await only(world, 'pause-answered')).toEqual([]);
  });

  test('a signal that it refuses as a result fails the node that waited', async () => {
    const world = await worldOf({ a: waitNode({ kind: 'signal', name: 'paid' }) });
    const executor = await world.open({ graph: graphWith(['a'], referencesOnly) });
    await executor.run();
    await executor.signal('paid', 7, { signalId: 's1' });
    await executor.run();
    expect(await only(world, 'node-failed')).toMatchObject([
      { code: 'RESULT_INVALID', message: expect.stringContaining('NO_REFERENCE') },
    ]);
  });
});

describe('a result contract', () => {
  const even = {
    schema: { type: 'number' },
    validate: (value: JsonValue) => {
      if (typeof value === 'number' && value % 2 === 0) return { even: value };
      throw new Error('the number is not even');
    },
  };

  test('holds for what a person says became of an attempt', async () => {
    const started = gate();
    const hang = () => {
      started.open();
      return new Promise(() => {});
    };
    const world = await worldOf({ a: dataNode(hang, { resultContract: even, graceMs: 0 }) });
    const halt = new AbortController();
    const running = refusal((await world.open()).run(halt.signal));
    await started.opened;
    halt.abort();
    await running;
    const executor = await world.open();
    await executor.resume('dag/a/1');
    const [pause] = await executor.pauses();
    const reconciled = (result: JsonValue) =>
      executor.reconcile(pause?.pauseId ?? '', {
        kind: 'completed',
        result,
        by: 'ada',
        reason: 'I saw it',
      });
    expect(await refusal(reconciled(3))).toMatchObject({
      code: 'RESULT_INVALID',
      message: expect.stringContaining('the number is not even'),
    });
    await reconciled(4);
    expect(await only(world, 'node-completed')).toMatchObject([{ result: { even: 4 } }]);
  });
});

describe('graph code that throws', () => {
  test.each(['decide', 'reduce'])('%s: one error, and no harm done', async (name) => {
    const world = await worldOf({ a: dataNode(() => 1) });
    const boom = new TypeError('boom');
    const throwing = () => {
      throw boom;
    };
    const broken = graphWith(['a'], () => ({ open: undefined, [name]: throwing }) as never);
    const error = await refusal((await world.open({ graph: broken })).run());
    expect(error).toMatchObject({
      code: 'GRAPH_CODE_FAILED',
      message: expect.stringContaining('boom'),
      cause: boom,
      details: { runId: RUN },
    });
    expect(await (await world.open()).run()).toMatchObject({ kind: 'complete' });
  });
});
