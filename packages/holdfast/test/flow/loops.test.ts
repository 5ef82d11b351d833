import {
  beginNode,
  completeLoop,
  completeNode,
  dryRun,
  initPlan,
  loopRegion,
  type PlanState,
  planOutcome,
  planRejections,
  readyNodes,
} from 'holdfast/flow';
import { simulate } from 'holdfast/testing';
import { describe, expect, test } from 'vitest';
import { charging, flow, nested, shipping } from './build.ts';

/** A loop whose body forks: one branch leads back at once, the other goes on. */
const forked = flow(
  { s: 'trigger', l: 'control.loop', a: 'task', b: 'task', c: 'task', after: 'task' },
  ['s > l', 'l.body > a', 'a > b', 'a > c', 'b > l:next', 'c > l:next', 'l.done > after'],
);

function step(graph: typeof forked, plan: PlanState, id: string): void {
  beginNode(plan, id);
  completeNode(graph, plan, id, ['out']);
}

describe('regions', () => {
  test('all that the body output reaches, without the loop, its exit or back-edges', () => {
    expect(loopRegion(forked, 'l')).toEqual(['a', 'b', 'c']);
    expect(loopRegion(nested, 'outer')).toEqual(['inner', 'body']);
    expect(loopRegion(nested, 'inner')).toEqual(['body']);
  });
});

describe('iterating', () => {
  test('next resets the region and its out-edges, keeps runs, leaves the exit open', () => {
    const plan = initPlan(charging);
    step(charging, plan, 'trigger');
    beginNode(plan, 'retry');
    completeLoop(charging, plan, 'retry', true);
    expect(plan.edges).toEqual({ e0: 'active', e1: 'active', e2: 'pending', e3: 'pending' });
    step(charging, plan, 'charge');
    expect(plan.edges['e2']).toBe('active');
    expect(plan.nodes['retry']?.status).toBe('pending');
    expect(readyNodes(charging, plan)).toEqual({ ready: ['retry'], skipped: [] });
    expect(beginNode(plan, 'retry')).toBe('retry#2');
    completeLoop(charging, plan, 'retry', true);
    expect(plan.nodes['charge']).toMatchObject({ status: 'pending', runs: 1 });
    expect(plan.edges).toMatchObject({ e2: 'pending', e3: 'pending' });
    expect(beginNode(plan, 'charge')).toBe('charge#2');
  });

  test('no next completes on done', () => {
    const plan = initPlan(charging);
    step(charging, plan, 'trigger');
    beginNode(plan, 'retry');
    completeLoop(charging, plan, 'retry', false);
    expect(plan.nodes['retry']?.branches).toEqual(['done']);
    expect(readyNodes(charging, plan)).toEqual({ ready: ['after'], skipped: ['charge'] });
  });

  test('simulate follows next: true twice, then false', () => {
    const choose = (id: string, run: number) => (id === 'retry' ? run <= 2 : ['out']);
    expect(simulate(charging, choose)).toEqual([
      'trigger',
      'retry',
      'charge',
      'retry',
      'charge',
      'retry',
      'after',
    ]);
  });

  test('nested loops iterate fully: the guard counts iteration, runs name the steps', () => {
    const { keys, plan, outcome } = dryRun(nested, () => undefined);
    expect(keys).toEqual([
      'trigger#1',
      'outer#1',
      'inner#1',
      'body#1',
      'inner#2',
      'body#2',
      'inner#3',
      'outer#2',
      'inner#4',
      'body#3',
      'inner#5',
      'body#4',
      'inner#6',
      'outer#3',
      'after#1',
    ]);
    expect(plan.nodes['outer']).toMatchObject({ runs: 3, iteration: 3 });
    expect(plan.nodes['inner']).toMatchObject({ runs: 6, iteration: 3 });
    expect(outcome).toBe('succeeded');
  });

  test('B13: a loop of three nodes runs its body exactly as often as its own limit says', () => {
    const graph = flow(
      {
        s: 'trigger',
        l: ['control.loop', { maxIterations: 25 }],
        a: 'task',
        b: 'task',
        c: 'task',
        end: 'end',
      },
      ['s > l', 'l.body > a', 'a > b', 'b > c', 'c > l:next', 'l.done > end'],
    );
    const { plan, outcome } = dryRun(graph, () => undefined);
    expect([plan.nodes['a']?.runs, plan.nodes['c']?.runs, plan.nodes['l']?.runs]).toEqual([
      25, 25, 26,
    ]);
    expect(outcome).toBe('succeeded');
  });

  test('a loop waits for the branch of its body that is still running', () => {
    const plan = initPlan(forked);
    step(forked, plan, 's');
    beginNode(plan, 'l');
    completeLoop(forked, plan, 'l', true);
    step(forked, plan, 'a');
    beginNode(plan, 'c');
    step(forked, plan, 'b');
    expect(readyNodes(forked, plan).ready).toEqual([]);
    completeNode(forked, plan, 'c', ['out']);
    expect(readyNodes(forked, plan).ready).toEqual(['l']);
  });

  test('a loop waits for the branch of its body that has not started yet', () => {
    const plan = initPlan(forked);
    step(forked, plan, 's');
    beginNode(plan, 'l');
    completeLoop(forked, plan, 'l', true);
    step(forked, plan, 'a');
    step(forked, plan, 'b');
    expect(readyNodes(forked, plan).ready).toEqual(['c']);
  });

  test('an outer loop waits for an inner one that is about to go round', () => {
    const graph = flow(
      { s: 'trigger', o: 'control.loop', x: 'task', i: 'control.loop', y: 'task' },
      [
        's > o',
        'o.body > x',
        'x > o:next',
        'o.body > i',
        'i.body > y',
        'y > i:next',
        'i.done > o:next',
      ],
    );
    const plan = initPlan(graph);
    step(graph, plan, 's');
    beginNode(plan, 'o');
    completeLoop(graph, plan, 'o', true);
    step(graph, plan, 'x');
    beginNode(plan, 'i');
    completeLoop(graph, plan, 'i', true);
    step(graph, plan, 'y');
    expect(readyNodes(graph, plan).ready).toEqual(['i']);
  });
});

describe('outcomes', () => {
  const outcomeOf = (plan: PlanState) => planOutcome(shipping, plan);

  test('running while something runs, waits or could start', () => {
    const plan = initPlan(shipping);
    expect(outcomeOf(plan)).toBe('running');
    step(shipping, plan, 'trigger');
    beginNode(plan, 'big');
    expect(outcomeOf(plan)).toBe('running');
    completeNode(shipping, plan, 'big', ['true']);
    beginNode(plan, 'approve');
    const approve = plan.nodes['approve'];
    if (approve !== undefined) approve.status = 'waiting';
    expect(outcomeOf(plan)).toBe('running');
  });

  test('a rejected approval that leads nowhere rejects the run', () => {
    const { plan, outcome } = dryRun(shipping, (id) =>
      id === 'big' ? ['true'] : id === 'approve' ? ['rejected'] : undefined,
    );
    expect(outcome).toBe('rejected');
    expect(planRejections(shipping, plan)).toEqual([
      { nodeId: 'approve', kind: 'refused', branch: 'rejected' },
    ]);
  });

  test('a rejection that is connected is handled', () => {
    const graph = flow({ s: 'trigger', ask: 'approval', no: 'task', yes: 'task' }, [
      's > ask',
      'ask.approved > yes',
      'ask.rejected > no',
    ]);
    const choose = (id: string) => (id === 'ask' ? ['rejected'] : undefined);
    expect(dryRun(graph, choose).outcome).toBe('succeeded');
  });

  test('an untaken output of a condition is an ordinary end', () => {
    const graph = flow({ s: 'trigger', c: 'control.condition', t: 'task' }, [
      's > c',
      'c.true > t',
    ]);
    expect(dryRun(graph, (id) => (id === 'c' ? ['false'] : undefined)).outcome).toBe('succeeded');
  });

  test('a loop left in the middle rejects the run: no pending node counts as success', () => {
    const graph = flow({ s: 'trigger', l: 'control.loop', c: 'control.condition', after: 'task' }, [
      's > l',
      'l.body > c',
      'c.true > l:next',
      'l.done > after',
    ]);
    const { plan, outcome } = dryRun(graph, (id) => (id === 'c' ? ['false'] : undefined));
    expect(outcome).toBe('rejected');
    expect(planRejections(graph, plan)[0]).toEqual({ nodeId: 'l', kind: 'stuck', branch: 'body' });
  });

  test('B07: one failed child decides the run as soon as nothing runs, waiting ones or not', () => {
    const graph = flow({ s: 'trigger', a: 'task', b: 'approval', c: 'task', j: 'task' }, [
      's > a',
      's > b',
      's > c',
      'a > j',
      'b.approved > j',
      'c > j',
    ]);
    const plan = initPlan(graph);
    step(graph, plan, 's');
    for (const id of ['a', 'b', 'c']) beginNode(plan, id);
    const [a, b] = [plan.nodes['a'], plan.nodes['b']];
    if (a === undefined || b === undefined) throw new Error('nodes');
    a.status = 'failed';
    b.status = 'waiting';
    expect(planOutcome(graph, plan)).toBe('running');
    completeNode(graph, plan, 'c', ['out']);
    expect(planOutcome(graph, plan)).toBe('failed');
  });

  test('a dry run that never ends is stopped', () => {
    const choose = (id: string) => (id === 'retry' ? true : undefined);
    expect(() => dryRun(charging, choose, { maxSteps: 50 })).toThrow(
      expect.objectContaining({ code: 'FLOW_STEP_LIMIT' }),
    );
  });
});
