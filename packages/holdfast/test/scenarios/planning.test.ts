/** Section A: join, branch and loop planning, as a whole run sees them. */
import { createGraphExecutor, dataNode, startRun, waitNode } from 'holdfast';
import { createMemoryRunStorage } from 'holdfast/storage/memory';
import { describe, expect, test } from 'vitest';
import { dagOf, gate } from '../executor/world.ts';
import { flowOf } from '../nodes/flow-world.ts';
import { flowScene, handClock, nextTurn, pauseIdOf, pausesOf, sceneOf } from './world.ts';

test('B01: a join behind a branch not taken runs once; nothing stays pending', async () => {
  const flow = flowOf(
    [
      ['which', 'control.condition', { expression: 'input == 1' }],
      ...['a', 'b', 'join', 'after'].map((id) => [id, 'task', { function: 'run' }] as const),
    ],
    ['start>which', 'which.true>a', 'which.false>b', 'a>join', 'b>join', 'join>after'],
  );
  for (const [input, taken, skipped] of [
    [1, 'a', 'b'],
    [2, 'b', 'a'],
  ] as const) {
    const ran: string[] = [];
    const scene = await flowScene(
      flow,
      { run: (_given, { nodeId }) => void ran.push(nodeId) },
      { input },
    );
    const result = await scene.run();
    expect(result.kind).toBe('complete');
    expect(ran).toEqual([taken, 'join', 'after']);
    expect(JSON.stringify(result)).not.toContain(`"${skipped}":`);
    const { occurrences } = await (await scene.open()).view();
    expect(occurrences.every(({ status }) => status === 'completed')).toBe(true);
  }
});

test.each([2, 10, 100])(
  'B10: %i completions of one moment share a decision, and none is left behind',
  async (width) => {
    const all = gate();
    const ids = Array.from({ length: width }, (_none, index) => `n${index}`);
    let joined = 0;
    const nodes = {
      ...Object.fromEntries(ids.map((id) => [id, dataNode(() => all.opened)])),
      join: dataNode(() => void joined++),
    };
    const edges = ids.map((id) => `${id}>join`);
    const clock = handClock();
    const shape = { edges, concurrency: width };
    const scene = await sceneOf(dagOf([...ids, 'join'], shape), nodes, { clock });
    const running = scene.run({ maxConcurrentAttempts: width });
    await clock.rest();
    all.open();
    expect(await running).toMatchObject({ kind: 'complete' });
    expect(joined).toBe(1);
    expect((await scene.positions()).filter((position) => position === 'dag/join/1')).toHaveLength(
      1,
    );
    await scene.verify();
  },
);

/** Goes three times round a question. */
const askingLoop = flowOf(
  [
    ['legs', 'control.loop', { maxIterations: 3 }],
    ['ask', 'approval', { prompt: 'leg {{ loop.iteration }}' }],
    ['note', 'task', { function: 'note', input: '{{ nodes["ask"].output.answer.leg }}' }],
  ],
  ['start>legs', 'legs.body>ask', 'ask.approved>note', 'note>legs.next'],
);

describe('pauses in a loop', () => {
  test('B11: the second iteration is given no stale answer and pauses again', async () => {
    const noted: unknown[] = [];
    const scene = await flowScene(askingLoop, { note: (leg) => void noted.push(leg) });
    let result = await scene.run();
    for (const leg of [1, 2, 3]) {
      expect(result).toMatchObject({ pauses: [{ request: { prompt: `leg ${leg}` } }] });
      expect(noted).toHaveLength(leg - 1);
      const executor = await scene.open();
      await executor.answer(pauseIdOf(result), { approved: true, leg }, { by: 'ada' });
      result = await executor.run();
    }
    expect(result.kind).toBe('complete');
    expect(noted).toEqual([1, 2, 3]);
    await scene.verify();
  });

  test('B16: each iteration has a pause of its own, found while it is open', async () => {
    const scene = await flowScene(askingLoop, { note: () => null });
    const first = pauseIdOf(await scene.run());
    const yes = { approved: true, leg: 0 };
    await (await scene.open()).answer(first, yes, { by: 'ada' });
    const parked = await scene.run();
    const second = pauseIdOf(parked);
    expect(parked).toMatchObject({ pauses: [{ position: 'flow/ask#2' }] });
    expect(second).not.toBe(first);
    const fresh = await scene.open();
    await expect(fresh.answer(first, yes, { by: 'ada' })).rejects.toMatchObject({
      code: 'PAUSE_MISMATCH',
    });
    await fresh.answer(second, yes, { by: 'ada' });
    expect(await fresh.run()).toMatchObject({ pauses: [{ position: 'flow/ask#3' }] });
  });
});

describe('B13: limits', () => {
  const body = [['work', 'task', { function: 'work' }] as const];

  test('a loop ends at its own limit, named in its output', async () => {
    let runs = 0;
    const flow = flowOf(
      [['again', 'control.loop', { maxIterations: 25 }], ...body],
      ['start>again', 'again.body>work', 'work>again.next'],
    );
    const scene = await flowScene(flow, { work: () => void runs++ });
    expect(await scene.run()).toMatchObject({ output: { nodes: { again: { iteration: 26 } } } });
    expect(runs).toBe(25);
  });

  test('a run over its limit fails by name, with the count', async () => {
    let runs = 0;
    const flow = flowOf(
      [['again', 'control.loop', { maxIterations: 1_000 }], ...body],
      ['start>again', 'again.body>work', 'work>again.next'],
    );
    const scene = await flowScene(flow, { work: () => void runs++ });
    const result = await scene.run({ maxDispatches: 25 });
    expect(result).toMatchObject({ kind: 'fail', code: 'BUDGET_STOP' });
    expect(result).toMatchObject({ message: expect.stringContaining('25 dispatches') });
    expect(await scene.positions()).toHaveLength(25);
    expect(runs).toBe(12);
    expect(await scene.run()).toEqual(result);
  });
});

test('B14: an option given as undefined keeps its default', async () => {
  const clock = undefined;
  const storage = createMemoryRunStorage({
    namespace: 'test',
    policy: undefined,
    knownSecrets: undefined,
    clock,
    backing: undefined,
    isProvenDead: undefined,
  } as never);
  const finish = gate();
  const ids = Array.from({ length: 70 }, (_none, index) => `n${index}`);
  let inFlight = 0;
  const held = () =>
    dataNode(
      () => {
        inFlight += 1;
        return finish.opened;
      },
      {
        retrySafe: undefined,
        timeoutMs: undefined,
        graceMs: undefined,
        decideAction: undefined,
        largeResult: undefined,
      } as never,
    );
  const ask = waitNode({
    kind: 'approval',
    prompt: 'ok?',
    deadlineMs: undefined,
    onDeadline: undefined,
  } as never);
  const nodes = { ask, ...Object.fromEntries(ids.map((id) => [id, held()])) };
  const graph = dagOf(['ask', ...ids], { concurrency: 100 });
  await startRun(storage, { runId: 'r1', graph, input: null, clock } as never);
  const executor = await createGraphExecutor({
    runId: 'r1',
    graph,
    storage,
    nodes,
    clock,
    lease: undefined,
    bindings: undefined,
    onLog: undefined,
    maxConcurrentAttempts: undefined,
    maxDispatches: undefined,
    maxIdleMs: undefined,
  } as never);
  const running = executor.run();
  const [pause] = await pausesOf(executor);
  while (inFlight < 64) await nextTurn();
  // 64 at once is the default; the question was one of them until it paused.
  expect(inFlight).toBe(64);
  expect(pause).not.toHaveProperty('dueAt');
  finish.open();
  expect(await running).toMatchObject({ kind: 'pause' });
  expect(inFlight).toBe(70);
});
