import type { FlowNodeInput, FlowState } from 'holdfast';
import { describe, expect, test } from 'vitest';
import { charging, flow, nested, shipping } from '../flow/build.ts';
import { compiledFlow, event, FlowRun, positionsOf } from './flow-run.ts';

const started = (
  graph: Parameters<typeof compiledFlow>[0],
  input: FlowNodeInput['input'] = null,
) => {
  const run = new FlowRun(compiledFlow(graph));
  return { run, first: run.start(input) };
};

const inputOf = (run: FlowRun, nodeId: string) =>
  run.last(nodeId).input as unknown as FlowNodeInput;

const line = flow({ start: 'trigger', a: 'task', b: 'task' }, ['start > a', 'a > b']);
const retrying = (retry: object) =>
  flow({ start: 'trigger', a: ['task', { function: 'f', retry }] }, ['start > a']);
const fork = flow({ s: 'trigger', a: 'task', b: 'task', c: 'approval', j: 'task' }, [
  's > a',
  's > b',
  's > c',
  'a > j',
  'b > j',
  'c.approved > j',
]);

const statusOf = (run: FlowRun, nodeId: string) =>
  (run.cursor.state() as FlowState).plan.nodes[nodeId]?.status;

describe('a plain run', () => {
  test('dispatches each node at its position and completes with the outputs of what ran', () => {
    const run = new FlowRun(compiledFlow(shipping));
    expect(positionsOf(run.turn())).toEqual(['flow/trigger#1']);
    expect(positionsOf(run.complete('trigger', { output: { total: 5 } }))).toEqual(['flow/big#1']);
    expect(positionsOf(run.complete('big', { branch: 'false', output: false }))).toEqual([
      'flow/ship#1',
    ]);
    expect(run.complete('ship', { output: 'sent' })).toEqual([
      { kind: 'complete', output: { nodes: { trigger: { total: 5 }, big: false, ship: 'sent' } } },
    ]);
  });

  test('B04: the next node starts while a slow sibling is in flight', () => {
    const { run } = started(
      flow({ s: 'trigger', a: 'task', slow: 'task', b: 'task' }, ['s > a', 's > slow', 'a > b']),
    );
    expect(positionsOf(run.complete('a'))).toEqual(['flow/b#1']);
    expect(run.complete('b')).toEqual([]);
  });

  test('B10: the last completion always leads to a decision', () => {
    const { run } = started(fork);
    expect(run.complete('a')).toEqual([]);
    expect(run.complete('c', { branch: 'approved' })).toEqual([]);
    expect(positionsOf(run.complete('b'))).toEqual(['flow/j#1']);
  });

  test('dispatches stand in graph order', () => {
    const { first } = started(
      flow({ z: 'task', s: 'trigger', y: 'task', x: 'task' }, ['s > x', 's > y', 's > z']),
    );
    expect(positionsOf(first)).toEqual(['flow/z#1', 'flow/y#1', 'flow/x#1']);
  });

  test('a node id with # and / has positions of its own', () => {
    const graph = flow({ s: 'trigger', a: 'task', 'a#1/2': 'task' }, ['s > a', 's > a#1/2']);
    const { first, run } = started({ ...graph });
    expect(positionsOf(first)).toEqual(['flow/a#1', 'flow/a#1/2#1']);
    expect(run.complete('a#1/2', { output: 2 })).toEqual([]);
    expect(run.complete('a', { output: 1 })).toMatchObject([
      { output: { nodes: { a: 1, 'a#1/2': 2 } } },
    ]);
  });

  test('ids like prototype members hold outputs like any other', () => {
    const nodes = ['s', '__proto__', 'constructor'].map((id, at) => ({
      id,
      type: at === 0 ? 'trigger' : 'task',
      config: at === 0 ? {} : { function: 'f' },
    }));
    const edges = [
      { id: 'a', source: 's', target: '__proto__' },
      { id: '__proto__', source: '__proto__', target: 'constructor' },
    ];
    const { run } = started({ nodes, edges });
    run.complete('__proto__', { output: 'odd' });
    expect(Object.entries(inputOf(run, 'constructor').nodes)).toEqual([
      ['__proto__', { output: 'odd', status: 'succeeded' }],
    ]);
    const [end] = run.complete('constructor', { output: 1 });
    expect(JSON.stringify(end)).toContain('"__proto__":"odd"');
  });

  test('continue-as-new completes with the input of the next run', () => {
    const { run } = started(flow({ s: 'trigger', again: 'continue-as-new' }, ['s > again']));
    expect(run.complete('again', { output: { n: 2 } })).toEqual([
      { kind: 'complete', output: { continueAs: { input: { n: 2 } } } },
    ]);
  });
});

describe('inputs', () => {
  test('hold the run input, predecessors, what expressions read, and the real inputs', () => {
    const graph = flow(
      {
        s: 'trigger',
        far: 'task',
        c: 'control.condition',
        yes: 'task',
        j: ['task', { function: 'f', input: { text: 'Hi {{ nodes["far"].output }}' } }],
      },
      ['s > far', 'far > c', 'c.true > yes', 'yes > j', 'c.false > j'],
    );
    const { run } = started(graph, { who: 'Ada' });
    run.complete('far', { output: 'far away' });
    run.complete('c', { branch: 'false', output: false });
    expect(inputOf(run, 'j')).toEqual({
      input: { who: 'Ada' },
      nodes: {
        yes: { output: null, status: 'skipped' },
        c: { output: false, status: 'succeeded' },
        far: { output: 'far away', status: 'succeeded' },
      },
      inputs: [
        { nodeId: 'yes', handle: 'out', active: false },
        { nodeId: 'c', handle: 'false', active: true },
      ],
      loop: null,
    });
    expect(run.dispatches[0]?.input).toEqual({ input: null, nodes: {}, inputs: [], loop: null });
  });

  test('the loop is the innermost around a node, for a loop itself', () => {
    const run = new FlowRun(compiledFlow(nested));
    run.start();
    const seen: unknown[] = [];
    const result = (nodeId: string) => {
      const { loop } = inputOf(run, nodeId);
      seen.push([run.last(nodeId).position, loop?.iteration]);
      if (nodeId !== 'outer' && nodeId !== 'inner') return {};
      return { branch: (loop?.iteration ?? 0) <= 2 ? 'body' : 'done' };
    };
    let nodeId = 'outer';
    for (let steps = 0; nodeId !== '' && steps < 40; steps += 1) {
      const [next] = run.complete(nodeId, result(nodeId));
      nodeId = next?.kind === 'dispatch' ? next.nodeId : '';
    }
    expect(seen).toEqual([
      ['flow/outer#1', 1],
      ['flow/inner#1', 1],
      ['flow/body#1', 1],
      ['flow/inner#2', 2],
      ['flow/body#2', 2],
      ['flow/inner#3', 3],
      ['flow/outer#2', 2],
      ['flow/inner#4', 1],
      ['flow/body#3', 1],
      ['flow/inner#5', 2],
      ['flow/body#4', 2],
      ['flow/inner#6', 3],
      ['flow/outer#3', 3],
      ['flow/after#1', undefined],
    ]);
  });

  test('a body node sees what it and the others last returned', () => {
    const graph = flow(
      {
        s: 'trigger',
        l: 'control.loop',
        draft: ['task', { function: 'f', input: '{{ nodes["review"].output }}' }],
        review: 'task',
      },
      ['s > l', 'l.body > draft', 'draft > review', 'review > l:next'],
    );
    const { run } = started(graph);
    run.complete('l', { branch: 'body' });
    expect(inputOf(run, 'draft').nodes['review']).toEqual({ output: null, status: 'pending' });
    run.complete('draft');
    run.complete('review', { output: 'too long' });
    run.complete('l', { branch: 'body' });
    expect(inputOf(run, 'draft').nodes['review']).toEqual({
      output: 'too long',
      status: 'pending',
    });
  });

  test('a node that ran before but is skipped now has no output', () => {
    const graph = flow(
      { s: 'trigger', l: 'control.loop', c: 'control.condition', a: 'task', j: 'task' },
      ['s > l', 'l.body > c', 'c.true > a', 'a > j', 'c.false > j', 'j > l:next'],
    );
    const { run } = started(graph);
    run.complete('l', { branch: 'body' });
    run.complete('c', { branch: 'true' });
    run.complete('a', { output: 'old' });
    expect(inputOf(run, 'j').nodes['a']).toEqual({ output: 'old', status: 'succeeded' });
    run.complete('j');
    run.complete('l', { branch: 'body' });
    run.complete('c', { branch: 'false' });
    expect(inputOf(run, 'j').nodes['a']).toEqual({ output: null, status: 'skipped' });
  });

  test('B05: swapping the edges into a join swaps nothing but their order', () => {
    const nodes = { s: 'trigger', a: 'task', b: 'task', j: 'task' };
    const joined = (edges: string[]) => {
      const { run } = started(flow(nodes, ['s > a', 's > b', ...edges]));
      run.complete('b', { output: 'b' });
      run.complete('a', { output: 'a' });
      return inputOf(run, 'j').nodes;
    };
    expect(joined(['a > j', 'b > j'])).toEqual(joined(['b > j', 'a > j']));
  });
});

describe('waiting', () => {
  test('a delay is dispatched for later and holds the run open', () => {
    const { first, run } = started(flow({ s: 'trigger', d: 'delay' }, ['s > d']));
    expect(first).toMatchObject([{ position: 'flow/d#1', delayMs: 1000 }]);
    expect(run.turn()).toEqual([]);
    expect(statusOf(run, 'd')).toBe('waiting');
    expect(run.complete('d')).toMatchObject([{ kind: 'complete' }]);
  });

  test('only paused nodes left: the run pauses and names them', () => {
    const { run } = started(fork);
    expect(run.pause('c')).toEqual([]);
    run.complete('a');
    expect(run.complete('b')).toEqual([{ kind: 'pause', reason: 'Waiting for c.' }]);
    expect(run.resume('c')).toEqual([]);
    run.pause('c');
    expect(positionsOf(run.complete('c', { branch: 'approved' }))).toEqual(['flow/j#1']);
  });

  test('B26: approvals at the ends of parallel branches are all waited for', () => {
    const { run } = started(
      flow({ s: 'trigger', a: 'approval', b: 'approval' }, ['s > a', 's > b']),
    );
    run.pause('a');
    expect(run.pause('b')).toEqual([{ kind: 'pause', reason: 'Waiting for a, b.' }]);
    expect(run.complete('a', { branch: 'approved' })).toEqual([
      { kind: 'pause', reason: 'Waiting for b.' },
    ]);
  });

  test('B17: answers in any order move statuses forward only; the join follows the last', () => {
    const asks = ['a', 'b', 'c'];
    const { run } = started(
      flow({ s: 'trigger', a: 'approval', b: 'approval', c: 'approval', j: 'task' }, [
        ...asks.map((id) => `s > ${id}`),
        ...asks.map((id) => `${id}.approved > j`),
      ]),
    );
    for (const id of asks) run.pause(id);
    const statuses = () => {
      const { plan } = run.cursor.state() as FlowState;
      return asks.map((id) => plan.nodes[id]?.status);
    };
    run.complete('a', { branch: 'approved' });
    expect(statuses()).toEqual(['succeeded', 'waiting', 'waiting']);
    run.complete('b', { branch: 'approved' });
    expect(statuses()).toEqual(['succeeded', 'succeeded', 'waiting']);
    expect(positionsOf(run.complete('c', { branch: 'approved' }))).toEqual(['flow/j#1']);
  });

  test('B11: an approval in a loop pauses again at a position of its own', () => {
    const graph = flow({ s: 'trigger', l: 'control.loop', ask: 'approval' }, [
      's > l',
      'l.body > ask',
      'ask.approved > l:next',
    ]);
    const { run } = started(graph);
    run.complete('l', { branch: 'body' });
    run.pause('ask');
    run.complete('ask', { branch: 'approved' });
    expect(positionsOf(run.complete('l', { branch: 'body' }))).toEqual(['flow/ask#2']);
    expect(run.pause('ask')).toEqual([{ kind: 'pause', reason: 'Waiting for ask.' }]);
    const late = event('node-completed', {
      nodeId: 'ask',
      position: 'flow/ask#1',
      result: { branch: 'approved' },
    });
    const before = run.cursor.state();
    run.apply(late);
    expect(run.cursor.state()).toEqual(before);
  });
});

describe('failures', () => {
  test('B08: a join behind two handled failures waits for nothing that is not there', () => {
    const graph = flow({ s: 'trigger', a: 'task', b: 'task', j: 'task' }, [
      's > a',
      's > b',
      'a > j',
      'a.error > j',
      'b > j',
      'b.error > j',
    ]);
    const { run } = started(graph);
    expect(run.fail('a')).toEqual([]);
    expect(positionsOf(run.fail('b'))).toEqual(['flow/j#1']);
    expect(inputOf(run, 'j').inputs.map(({ handle, active }) => [handle, active])).toEqual([
      ['out', false],
      ['error', true],
      ['out', false],
      ['error', true],
    ]);
    expect(run.complete('j')).toMatchObject([{ kind: 'complete' }]);
  });

  test('without a way out a node fails the run, which names it and why', () => {
    const { run } = started(line);
    expect(run.fail('a')).toEqual([
      {
        kind: 'fail',
        code: 'FLOW_NODE_FAILED',
        message: 'Node "a" failed with EFFECT_FAILED: no luck',
      },
    ]);
  });

  test('B07: what runs is let finish, nothing new starts, what waits is left', () => {
    const { run } = started(fork);
    run.pause('c');
    expect(run.fail('a')).toEqual([]);
    expect(run.complete('b')).toMatchObject([{ kind: 'fail', code: 'FLOW_NODE_FAILED' }]);
  });

  test('a delay that is not due does not hold a failure back', () => {
    const { run } = started(flow({ s: 'trigger', a: 'task', d: 'delay' }, ['s > a', 's > d']));
    expect(run.fail('a')).toMatchObject([{ kind: 'fail' }]);
  });

  test('an error edge takes the failure as its output', () => {
    const graph = flow({ s: 'trigger', a: 'task', mend: 'task' }, ['s > a', 'a.error > mend']);
    const { run } = started(graph);
    expect(positionsOf(run.fail('a', { code: 'CARD_DECLINED' }))).toEqual(['flow/mend#1']);
    expect(inputOf(run, 'mend').nodes['a']).toEqual({
      output: { code: 'CARD_DECLINED', message: 'no luck' },
      status: 'succeeded',
    });
    expect(run.complete('mend')).toMatchObject([{ kind: 'complete' }]);
  });

  test('a task is tried again up to retry.max, later each time, at positions of their own', () => {
    const { run } = started(retrying({ max: 3, delayMs: 100, factor: 3, maxDelayMs: 500 }));
    for (const [attempt, delayMs] of [
      [2, 100],
      [3, 300],
      [4, 500],
    ] as const) {
      expect(run.fail('a')).toMatchObject([
        { position: `flow/a#1/${attempt}`, retryOf: 'flow/a#1', delayMs },
      ]);
    }
    expect(run.fail('a')).toMatchObject([{ kind: 'fail' }]);
  });

  test('a pause that ends in a failure waits no longer', () => {
    const { run } = started(retrying({ max: 1 }));
    run.pause('a');
    expect(statusOf(run, 'a')).toBe('waiting');
    expect(positionsOf(run.fail('a'))).toEqual(['flow/a#1/2']);
    expect(statusOf(run, 'a')).toBe('running');
  });

  test('only the dispatch that was decided begins the retry', () => {
    const { run } = started(retrying({ max: 2 }));
    const { position } = run.last('a');
    const failure = { code: 'X', message: 'm', retryable: true };
    run.apply(event('node-failed', { nodeId: 'a', position, ...failure }));
    const before = run.cursor.state();
    for (const stale of ['flow/a#1', 'flow/a#1/3', 'flow/a#2']) {
      run.apply(event('node-dispatched', { nodeId: 'a', position: stale }));
    }
    expect(run.cursor.state()).toEqual(before);
    expect(positionsOf(run.turn())).toEqual(['flow/a#1/2']);
  });

  test('the defaults of a retry', () => {
    const { run } = started(retrying({ max: 2 }));
    expect(run.fail('a')).toMatchObject([{ delayMs: 1_000 }]);
    expect(run.fail('a')).toMatchObject([{ delayMs: 2_000 }]);
  });

  test('a retry without a delay has none, however often', () => {
    const { run } = started(retrying({ max: 1_000_000, delayMs: 0, factor: 1_000 }));
    for (let failure = 0; failure < 400; failure += 1) run.fail('a');
    expect(run.last('a')).toEqual(expect.not.objectContaining({ delayMs: expect.anything() }));
    expect(run.last('a').position).toBe('flow/a#1/401');
  });

  test.each([
    [{ retryable: false }],
    [{ abandoned: true as const }],
    [{ code: 'DENIED' }],
    [{ code: 'ABORTED', retryable: false }],
  ])('%j is for good', (failure) => {
    const { run } = started(retrying({ max: 5 }));
    expect(run.fail('a', failure)).toMatchObject([{ kind: 'fail' }]);
  });

  test('a halt costs no retry: the attempt is dispatched again at a new position, at once', () => {
    const { run } = started(retrying({ max: 1, delayMs: 50 }));
    const halted = { code: 'ABORTED', retryable: true };
    expect(run.fail('a', halted)).toEqual([
      expect.not.objectContaining({ delayMs: expect.anything() }),
    ]);
    expect(positionsOf(run.fail('a', halted))).toEqual(['flow/a#1/3']);
    expect(run.fail('a')).toMatchObject([{ position: 'flow/a#1/4', delayMs: 50 }]);
    expect(run.fail('a')).toMatchObject([{ kind: 'fail' }]);
  });

  test('a node of any type that a halt stopped is dispatched again', () => {
    const { run } = started(charging);
    expect(run.fail('retry', { code: 'ABORTED', retryable: true })).toMatchObject([
      { position: 'flow/retry#1/2', retryOf: 'flow/retry#1', input: { loop: { iteration: 1 } } },
    ]);
  });

  test('B47: a late report of an earlier attempt changes nothing', () => {
    const { run } = started(retrying({ max: 1 }));
    run.fail('a');
    const before = run.cursor.state();
    run.apply(event('node-completed', { nodeId: 'a', position: 'flow/a#1', result: {} }));
    expect(run.cursor.state()).toEqual(before);
    expect(run.complete('a', { output: 'late but ours' })).toMatchObject([
      { output: { nodes: { a: 'late but ours' } } },
    ]);
  });
});

describe('rejections', () => {
  test('a rejection that leads nowhere fails the run as rejected', () => {
    const { run } = started(shipping);
    run.complete('big', { branch: 'true' });
    expect(run.complete('approve', { branch: 'rejected' })).toEqual([
      {
        kind: 'fail',
        code: 'FLOW_REJECTED',
        message: '"approve" ended on "rejected", and no edge leads on from there.',
      },
    ]);
  });

  test('so does a signal that times out', () => {
    const { run } = started(flow({ s: 'trigger', w: 'signal', a: 'task' }, ['s > w', 'w > a']));
    expect(run.complete('w', { branch: 'timeout' })).toMatchObject([{ code: 'FLOW_REJECTED' }]);
  });

  test('B01: a loop left in the middle never counts as complete', () => {
    const graph = flow({ s: 'trigger', l: 'control.loop', c: 'control.condition', after: 'task' }, [
      's > l',
      'l.body > c',
      'c.true > l:next',
      'l.done > after',
    ]);
    const { run } = started(graph);
    run.complete('l', { branch: 'body' });
    expect(run.complete('c', { branch: 'false' })).toMatchObject([
      { kind: 'fail', code: 'FLOW_REJECTED', message: expect.stringContaining('loop "l"') },
    ]);
  });
});

describe('results', () => {
  const { validateNodeResult } = compiledFlow({
    ...flow({ s: 'trigger', c: 'control.condition', a: 'task', end: 'end', n: 'task' }, [
      's > c',
      'c.true > a',
      'a > end',
      'a.error > n',
    ]),
  });

  test.each([
    ['c', { branch: 'true' }],
    ['c', { branch: 'false', output: 1 }],
    ['a', {}],
    ['a', { branch: 'out' }],
    ['end', {}],
    ['end', { output: 'bye' }],
  ])('%s may return %j', (nodeId, result) => {
    expect(validateNodeResult?.(nodeId, result)).toBeNull();
  });

  test.each([
    ['c', {}, '/branch'],
    ['c', { branch: 'maybe' }, '/branch'],
    ['c', { branch: true }, '/branch'],
    ['a', { branch: 'error' }, '/branch'],
    ['end', { branch: 'out' }, '/branch'],
    ['a', 'plain', ''],
    ['a', { outputs: 1 }, ''],
  ])('%s must not return %j', (nodeId, result, path) => {
    expect(validateNodeResult?.(nodeId, result)).toMatchObject({ code: 'RESULT_INVALID', path });
  });
});
