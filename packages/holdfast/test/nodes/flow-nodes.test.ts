/** Each node type of the catalogue, run. */
import {
  compileGraph,
  createGraphExecutor,
  defineFlow,
  type FlowNodesOptions,
  type FlowOutput,
  flowDefinition,
  flowGraphType,
  flowNodes,
  NodeFailure,
  type RunResult,
  type StoredValue,
  startRun,
  task,
} from 'holdfast';
import { createMemoryRunStorage } from 'holdfast/storage/memory';
import { createFakeClock } from 'holdfast/testing';
import { describe, expect, test } from 'vitest';
import { flowOf, flowWorld } from './flow-world.ts';

async function run(...args: Parameters<typeof flowWorld>) {
  return (await (await flowWorld(...args)).open()).run();
}

describe('tasks and templates', () => {
  test('a task is given its filled-in input', async () => {
    const flow = flowOf(
      [['hi', 'task', { function: 'greet', input: { to: 'Ms {{ input.name }}' } }]],
      ['start>hi'],
    );
    const greet = ({ to }: { to: string }) => `Hello ${to}`;
    const result = await run(flow, { greet }, { input: { name: 'Ada' } });
    expect(result).toMatchObject({ output: { nodes: { hi: 'Hello Ms Ada' } } });
  });

  test('a task without an input is given the run input and the outputs before it', async () => {
    const flow = flowOf(
      [
        ['a', 'task', { function: 'one' }],
        ['b', 'task', { function: 'show' }],
      ],
      ['start>a', 'a>b'],
    );
    const result = await run(flow, { one: () => 1, show: (given: never) => given }, { input: 7 });
    expect(result).toMatchObject({ output: { nodes: { b: { input: 7, nodes: { a: 1 } } } } });
  });

  test('a missing key in a template fails the node by name', async () => {
    const flow = flowOf(
      [['a', 'task', { function: 'f', input: '{{ input.nothing }}' }]],
      ['start>a'],
    );
    const result = await run(flow, { f: () => 1 }, { input: {} });
    expect(result).toMatchObject({ kind: 'fail', code: 'FLOW_NODE_FAILED' });
    expect(result).toMatchObject({ message: expect.stringContaining('EXPRESSION_MISSING_KEY') });
  });

  test('a task that fails with several lines fails its run by name', async () => {
    const flow = flowOf([['a', 'task', { function: 'f' }]], ['start>a']);
    const f = () => {
      throw new Error('first\n\tsecond');
    };
    expect(await run(flow, { f })).toMatchObject({
      code: 'FLOW_NODE_FAILED',
      message: expect.stringContaining('first second'),
    });
  });

  test('a failed task is tried again by its policy, then leaves by error', async () => {
    let tries = 0;
    const flow = flowOf(
      [
        ['a', 'task', { function: 'f', retry: { max: 2, delayMs: 1, factor: 1 } }],
        ['rescue', 'task', { function: 'show', input: '{{ nodes.a.output.code }}' }],
      ],
      ['start>a', 'a.error>rescue'],
    );
    const f = () => {
      tries += 1;
      throw new NodeFailure('FLAKY', 'no');
    };
    const result = await run(flow, { f, show: (given: never) => given });
    expect(tries).toBe(3);
    expect(result).toMatchObject({ kind: 'complete', output: { nodes: { rescue: 'FLAKY' } } });
  });
});

describe('large outputs', () => {
  const big = 'x'.repeat(300_000);

  test('a large output becomes an artifact; what comes after sees the reference', async () => {
    const flow = flowOf(
      [
        ['big', 'task', { function: 'big', largeResult: 'artifact' }],
        ['next', 'task', { function: 'show', input: '{{ nodes.big.output.artifact }}' }],
      ],
      ['start>big', 'big>next'],
    );
    const world = await flowWorld(flow, { big: () => ({ big }), show: (given: never) => given });
    const result = await (await world.open()).run();
    if (result.kind !== 'complete') throw new Error(JSON.stringify(result));
    const { nodes } = result.output as unknown as {
      nodes: { big: StoredValue; next: StoredValue['artifact'] };
    };
    expect(nodes.next).toEqual(nodes.big.artifact);
    const scope = { namespace: 'test', runId: 'r1' };
    const bytes = await world.storage.artifactStore.read(scope, nodes.next);
    expect(JSON.parse(Buffer.from(bytes).toString())).toEqual({ big });
  });

  test('an output that fits an event stands in it, largeResult or not', async () => {
    const config = { function: 'f', largeResult: 'artifact' };
    const result = await run(flowOf([['a', 'task', config]], ['start>a']), { f: () => 'small' });
    expect(result).toMatchObject({ output: { nodes: { a: 'small' } } });
  });

  test('in code the output is typed as itself or its reference', async () => {
    const { flow, functions } = defineFlow({
      id: 'large',
      nodes: { a: task(() => big, { largeResult: 'artifact', graceMs: 10 }) },
    });
    expect(flow.nodes[1]?.config).toEqual({ function: 'a', largeResult: 'artifact', graceMs: 10 });
    const typed: FlowOutput<{ a: ReturnType<typeof largeTask> }>['nodes']['a'] = {
      artifact: {} as StoredValue['artifact'],
    };
    expect(typed).toBeDefined();
    expect(await run(flow, functions)).toMatchObject({
      output: { nodes: { a: { artifact: { mediaType: 'application/json' } } } },
    });
  });
});

const largeTask = () => task(() => 'text', { largeResult: 'artifact' });

test('graceMs is how long a task that was told to stop may still settle', async () => {
  const clock = createFakeClock();
  const storage = createMemoryRunStorage({ namespace: 'test', clock });
  const config = { function: 'f', timeoutMs: 100, graceMs: 20 };
  const flow = flowOf([['a', 'task', config]], ['start>a']);
  const graph = compileGraph(flowGraphType, flowDefinition(flow));
  const nodes = flowNodes(flow, { f: () => new Promise(() => undefined) });
  await startRun(storage, { runId: 'r1', graph, input: null, clock });
  const executor = await createGraphExecutor({ runId: 'r1', graph, storage, nodes, clock });
  let ended: RunResult | null = null;
  void executor.run().then((result) => {
    ended = result;
  });
  await clock.advance(119);
  expect(ended).toBeNull();
  await clock.advance(1);
  expect(ended).toMatchObject({ message: expect.stringContaining('TIMEOUT') });
});

describe('control', () => {
  test.each([
    [5, 'small'],
    [50, 'big'],
  ])('a condition takes one branch, the other is skipped: %i', async (amount, taken) => {
    const flow = flowOf(
      [
        ['big?', 'control.condition', { expression: 'input.amount > 10' }],
        ['big', 'task', { function: 'id' }],
        ['small', 'task', { function: 'id' }],
        ['join', 'task', { function: 'id' }],
      ],
      ['start>big?', 'big?.true>big', 'big?.false>small', 'big>join', 'small>join'],
    );
    const result = await run(flow, { id: () => 'ran' }, { input: { amount } });
    const output = result.kind === 'complete' ? result.output : null;
    expect(output).toMatchObject({ nodes: { [taken]: 'ran', join: 'ran' } });
    expect(output).not.toMatchObject({ nodes: { [taken === 'big' ? 'small' : 'big']: 'ran' } });
  });

  test('nested loops iterate fully', async () => {
    const flow = flowOf(
      [
        ['outer', 'control.loop', { maxIterations: 2 }],
        ['inner', 'control.loop', { maxIterations: 3 }],
        ['body', 'task', { function: 'count' }],
        ['after', 'task', { function: 'total' }],
      ],
      [
        'start>outer',
        'outer.body>inner',
        'inner.body>body',
        'body>inner.next',
        'inner.done>outer.next',
        'outer.done>after',
      ],
    );
    let count = 0;
    const functions = { count: () => void count++, total: () => count };
    expect(await run(flow, functions)).toMatchObject({ output: { nodes: { after: 6 } } });
  });

  test('a switch takes the first case that is true, else otherwise', async () => {
    const config = {
      cases: [
        { output: 'low', expression: 'input < 3' },
        { output: 'mid', expression: 'input < 6' },
      ],
      otherwise: 'high',
    };
    const flow = flowOf([['s', 'control.switch', config]], ['start>s']);
    const outputs = await Promise.all([1, 4, 9].map((input) => run(flow, {}, { input })));
    expect(outputs).toMatchObject([
      { output: { nodes: { s: 'low' } } },
      { output: { nodes: { s: 'mid' } } },
      { output: { nodes: { s: 'high' } } },
    ]);
  });

  test('a map runs its function over the list, in order, within its cap', async () => {
    let running = 0;
    let most = 0;
    const double = async (item: number) => {
      running += 1;
      most = Math.max(most, running);
      await Promise.resolve();
      running -= 1;
      return item * 2;
    };
    const config = { items: 'input.list', function: 'double', maxConcurrency: 2 };
    const flow = flowOf([['m', 'control.map', config]], ['start>m']);
    const result = await run(flow, { double }, { input: { list: [1, 2, 3, 4, 5] } });
    expect(result).toMatchObject({ output: { nodes: { m: [2, 4, 6, 8, 10] } } });
    expect(most).toBe(2);
  });

  test('a map that collects errors keeps its place for each', async () => {
    const f = (item: number) => {
      if (item === 2) throw new NodeFailure('ODD', 'two');
      return item;
    };
    const config = { items: 'input', function: 'f', onError: 'collect' };
    const flow = flowOf([['m', 'control.map', config]], ['start>m']);
    expect(await run(flow, { f }, { input: [1, 2] })).toMatchObject({
      output: {
        nodes: {
          m: [
            { ok: true, value: 1 },
            { ok: false, code: 'ODD', message: 'two' },
          ],
        },
      },
    });
  });
});

describe('waits', () => {
  const approval = flowOf(
    [
      ['ask', 'approval', { prompt: 'Ship {{ input }}?' }],
      ['yes', 'task', { function: 'id' }],
      ['no', 'task', { function: 'id' }],
    ],
    ['start>ask', 'ask.approved>yes', 'ask.rejected>no'],
  );

  test.each([
    [true, 'yes'],
    [{ approved: false, why: 'late' }, 'no'],
  ])('an approval answered with %j leaves by %s', async (answer, taken) => {
    const world = await flowWorld(approval, { id: () => 'ran' }, { input: 'v2' });
    const executor = await world.open();
    const paused = await executor.run();
    expect(paused).toMatchObject({ pauses: [{ request: { prompt: 'Ship v2?' } }] });
    const pauseId = paused.kind === 'pause' ? (paused.pauses[0]?.pauseId ?? '') : '';
    await executor.answer(pauseId, answer, { by: 'ada' });
    expect(await executor.run()).toMatchObject({ output: { nodes: { [taken]: 'ran' } } });
  });

  test('an answer that is none is refused and the pause stays open', async () => {
    const world = await flowWorld(approval, { id: () => 'ran' }, { input: 'v2' });
    const executor = await world.open();
    const paused = await executor.run();
    const pauseId = paused.kind === 'pause' ? (paused.pauses[0]?.pauseId ?? '') : '';
    const refused = executor.answer(pauseId, 'maybe', { by: 'ada' });
    await expect(refused).rejects.toMatchObject({ code: 'ANSWER_INVALID' });
    expect(await executor.run()).toEqual(paused);
  });

  test('a rejection with no edge for it ends the run as rejected', async () => {
    const flow = flowOf(
      [
        ['ask', 'approval', { prompt: 'ok?' }],
        ['yes', 'task', { function: 'id' }],
      ],
      ['start>ask', 'ask.approved>yes'],
    );
    const executor = await (await flowWorld(flow, { id: () => 1 })).open();
    const paused = await executor.run();
    const pauseId = paused.kind === 'pause' ? (paused.pauses[0]?.pauseId ?? '') : '';
    await executor.answer(pauseId, false, { by: 'ada' });
    expect(await executor.run()).toMatchObject({ kind: 'fail', code: 'FLOW_REJECTED' });
  });

  test('a signal completes its wait with the payload', async () => {
    const flow = flowOf([['s', 'signal', { name: 'paid' }]], ['start>s']);
    const executor = await (await flowWorld(flow)).open();
    await executor.run();
    await executor.signal('paid', { amount: 5 }, { signalId: 'x' });
    expect(await executor.run()).toMatchObject({ output: { nodes: { s: { amount: 5 } } } });
  });
});

describe('child runs', () => {
  const inner = flowOf(
    [
      ['work', 'task', { function: 'work' }],
      ['ask', 'approval', { prompt: 'inner?' }],
    ],
    ['start>work', 'work>ask'],
  );
  const outer = flowOf(
    [['sub', 'subflow', { flow: 'inner', input: '{{ input }}' }]],
    ['start>sub'],
  );

  test("a child's pause is listed and answered through its parent", async () => {
    let worked = 0;
    const options: FlowNodesOptions = { flows: { inner } };
    const world = await flowWorld(outer, { work: () => void worked++ }, { ...options, input: 1 });
    const executor = await world.open();
    const paused = await executor.run();
    expect(paused).toMatchObject({ kind: 'pause', pauses: [{ nodeId: 'ask' }] });
    const pauseId = paused.kind === 'pause' ? (paused.pauses[0]?.pauseId ?? '') : '';
    const fresh = await world.open();
    await fresh.answer(pauseId, true, { by: 'ada' });
    expect(await fresh.run()).toMatchObject({
      kind: 'complete',
      output: { nodes: { sub: { nodes: { ask: { approved: true } } } } },
    });
    expect(worked).toBe(1);
  });

  test('a flow written in code brings its own functions into the run that names it', async () => {
    const child = defineFlow({ id: 'child', nodes: { work: task(() => "the child's") } });
    const result = await run(outer, { work: () => "the parent's" }, { flows: { inner: child } });
    expect(result).toMatchObject({
      output: { nodes: { sub: { nodes: { work: "the child's" } } } },
    });
  });

  test("a child's failure fails its parent's node", async () => {
    const broken = flowOf([['w', 'task', { function: 'work' }]], ['start>w']);
    const work = () => {
      throw new NodeFailure('BROKEN', 'no');
    };
    const result = await run(outer, { work }, { flows: { inner: broken } });
    expect(result).toMatchObject({ kind: 'fail', code: 'FLOW_NODE_FAILED' });
  });

  test("a parent's cancel ends its child too", async () => {
    const world = await flowWorld(outer, { work: () => 1 }, { flows: { inner } });
    const executor = await world.open();
    await executor.run();
    await executor.cancel({ by: 'ada', reason: 'enough' });
    expect(await executor.run()).toMatchObject({ kind: 'fail', code: 'CANCELLED' });
    const { runs } = await world.storage.runIndex.list();
    expect(runs.map(({ status }) => status)).toEqual(['cancelled', 'cancelled']);
  });
});

test('a run that continues as new names its successor', async () => {
  const flow = flowOf(
    [['again', 'continue-as-new', { input: { n: '{{ input.n + 1 }}' } }]],
    ['start>again'],
  );
  expect(await run(flow, {}, { input: { n: 1 } })).toEqual({
    kind: 'complete',
    output: { continueAs: { runId: 'r1.c2', input: { n: 2 } } },
  });
});

test('a cancel undoes completed tasks, newest first', async () => {
  const undone: string[] = [];
  const step = (name: string) =>
    [name, 'task', { function: 'do', undo: { function: 'undo', input: name } }] as const;
  const flow = flowOf(
    [step('one'), step('two'), step('three'), ['ask', 'approval', { prompt: 'ok?' }]],
    ['start>one', 'one>two', 'two>three', 'three>ask'],
  );
  const functions = { do: () => 1, undo: (name: string) => void undone.push(name) };
  const executor = await (await flowWorld(flow, functions)).open();
  await executor.run();
  await executor.cancel({ by: 'ada', reason: 'enough' });
  expect(await executor.run()).toMatchObject({ kind: 'fail', code: 'CANCELLED' });
  expect(undone).toEqual(['three', 'two', 'one']);
});
