import {
  beginNode,
  completeNode,
  edgeHandle,
  type FlowGraph,
  failNode,
  initPlan,
  isBackEdge,
  isSettled,
  loopRegion,
  markRunning,
  markWaiting,
  type PlanState,
  readyNodes,
  topologyKey,
} from 'holdfast/flow';
import { simulate } from 'holdfast/testing';
import { describe, expect, test } from 'vitest';
import { flow, shipping } from './build.ts';

function run(graph: FlowGraph, plan: PlanState, id: string, branches: string[] = ['out']): void {
  beginNode(plan, id);
  completeNode(graph, plan, id, branches);
}

const chain = flow({ start: 'trigger', a: 'task', b: 'task' }, ['start > a', 'a > b']);

describe('state', () => {
  test('initPlan: every node pending with no runs, every edge pending', () => {
    expect(initPlan(chain)).toEqual({
      nodes: {
        start: { status: 'pending', runs: 0 },
        a: { status: 'pending', runs: 0 },
        b: { status: 'pending', runs: 0 },
      },
      edges: { e0: 'pending', e1: 'pending' },
    });
  });

  test('an edge leaves from out unless it names a handle', () => {
    const edge = { id: 'e', source: 'a', target: 'b' };
    expect(edgeHandle(edge)).toBe('out');
    expect(edgeHandle({ ...edge, sourceHandle: null })).toBe('out');
    expect(edgeHandle({ ...edge, sourceHandle: 'true' })).toBe('true');
  });

  test('only the target handle next makes a back-edge', () => {
    const edge = { id: 'e', source: 'a', target: 'b' };
    expect(isBackEdge({ ...edge, targetHandle: 'next' })).toBe(true);
    expect(isBackEdge({ ...edge, sourceHandle: 'next' })).toBe(false);
    expect(isBackEdge(edge)).toBe(false);
  });

  test('beginNode counts the start, marks it running and names it', () => {
    const plan = initPlan(chain);
    expect(beginNode(plan, 'start')).toBe('start#1');
    expect(plan.nodes['start']).toEqual({ status: 'running', runs: 1 });
    expect(beginNode(plan, 'start')).toBe('start#2');
  });

  test('ids that look like prototype members, emoji, and NFC/NFD twins are ordinary nodes', () => {
    const ids = ['__proto__', 'constructor', '🚀', 'é', 'e\u0301'];
    const graph = {
      nodes: ids.map((id, at) => ({ id, type: at === 0 ? 'trigger' : 'task', config: {} })),
      edges: ids
        .slice(1)
        .map((id, at) => ({ id: `__proto__${at}`, source: ids[at] ?? '', target: id })),
    };
    expect(simulate(graph, () => ['out'])).toEqual(ids);
    const plan = JSON.parse(JSON.stringify(initPlan(graph))) as PlanState;
    expect(readyNodes(graph, plan).ready).toEqual(['__proto__']);
  });
});

describe('readiness', () => {
  test('the trigger is ready once', () => {
    const plan = initPlan(chain);
    expect(readyNodes(chain, plan)).toEqual({ ready: ['start'], skipped: [] });
    run(chain, plan, 'start');
    expect(readyNodes(chain, plan).ready).toEqual(['a']);
  });

  test('B02: a fan-in node is ready once, after both branches', () => {
    const graph = flow({ root: 'trigger', a: 'task', a2: 'task', b: 'task', join: 'task' }, [
      'root > a',
      'a > a2',
      'a2 > join',
      'root > b',
      'b > join',
    ]);
    const plan = initPlan(graph);
    run(graph, plan, 'root');
    run(graph, plan, 'b');
    expect(readyNodes(graph, plan).ready).toEqual(['a']);
    run(graph, plan, 'a');
    run(graph, plan, 'a2');
    expect(readyNodes(graph, plan).ready).toEqual(['join']);
    run(graph, plan, 'join');
    expect(readyNodes(graph, plan).ready).toEqual([]);
    expect(plan.nodes['join']?.runs).toBe(1);
  });

  test('B05: swapping the edges into a join changes nothing', () => {
    const nodes = { root: 'trigger', a: 'task', b: 'task', join: 'task' };
    const one = flow(nodes, ['root > a', 'root > b', 'a > join', 'b > join']);
    const two = flow(nodes, ['root > a', 'root > b', 'b > join', 'a > join']);
    expect(simulate(one, () => ['out'])).toEqual(['root', 'a', 'b', 'join']);
    expect(simulate(two, () => ['out'])).toEqual(['root', 'a', 'b', 'join']);
  });

  test('B04: a ready node does not wait for a slow sibling', () => {
    const graph = flow({ a: 'trigger', b: 'task', c: 'task', d: 'task' }, [
      'a > b',
      'b > d',
      'a > c',
    ]);
    const plan = initPlan(graph);
    run(graph, plan, 'a');
    beginNode(plan, 'b');
    beginNode(plan, 'c');
    completeNode(graph, plan, 'b', ['out']);
    expect(readyNodes(graph, plan).ready).toEqual(['d']);
    expect(plan.nodes['c']?.status).toBe('running');
  });

  test('both lists are in graph order, whatever the order of the edges', () => {
    const graph = flow(
      { s: 'trigger', c: 'control.condition', z: 'task', y: 'task', x: 'task', w: 'task' },
      ['s > c', 'c.true > w', 'c.false > x', 'c.true > z', 'c.false > y'],
    );
    const plan = initPlan(graph);
    run(graph, plan, 's');
    run(graph, plan, 'c', ['false']);
    expect(readyNodes(graph, plan)).toEqual({ ready: ['y', 'x'], skipped: ['z', 'w'] });
  });
});

describe('skips', () => {
  test('the worked example of the seed: big chooses false', () => {
    const plan = initPlan(shipping);
    expect(readyNodes(shipping, plan).ready).toEqual(['trigger']);
    run(shipping, plan, 'trigger');
    expect(plan.edges['e0']).toBe('active');
    expect(readyNodes(shipping, plan).ready).toEqual(['big']);
    run(shipping, plan, 'big', ['false']);
    expect(plan.edges).toMatchObject({ e1: 'inactive', e2: 'pending', e3: 'active' });
    expect(readyNodes(shipping, plan)).toEqual({ ready: ['ship'], skipped: ['approve'] });
    expect(plan.edges['e2']).toBe('inactive');
    run(shipping, plan, 'ship');
    expect(plan.nodes['ship']).toEqual({ status: 'succeeded', runs: 1, branches: ['out'] });
    expect(isSettled(shipping, plan)).toBe(true);
  });

  test('the worked example: big chooses true, ship waits for the approval', () => {
    const plan = initPlan(shipping);
    run(shipping, plan, 'trigger');
    run(shipping, plan, 'big', ['true']);
    expect(readyNodes(shipping, plan).ready).toEqual(['approve']);
    run(shipping, plan, 'approve', ['rejected']);
    expect(readyNodes(shipping, plan)).toEqual({ ready: [], skipped: ['ship'] });
  });

  test('B01: a join is not dropped when one parent is skipped', () => {
    const graph = flow(
      { route: 'trigger', if: 'control.condition', a: 'task', b: 'task', j: 'task', d: 'task' },
      ['route > if', 'if.true > a', 'if.false > b', 'a > j', 'b > j', 'j > d'],
    );
    const ran = simulate(graph, (id) => (id === 'if' ? ['true'] : ['out']));
    expect(ran).toEqual(['route', 'if', 'a', 'j', 'd']);
  });

  test('a skip runs down a path listed backwards and stops at a join with an active input', () => {
    const graph = flow(
      { j: 'task', c: 'task', b: 'task', a: 'task', if: 'control.condition', s: 'trigger' },
      ['s > if', 'if.true > a', 'a > b', 'b > c', 'c > j', 'if.false > j'],
    );
    const plan = initPlan(graph);
    run(graph, plan, 's');
    run(graph, plan, 'if', ['false']);
    expect(readyNodes(graph, plan)).toEqual({ ready: ['j'], skipped: ['c', 'b', 'a'] });
  });

  test('a direct edge of a node that succeeded on another output does not count as taken', () => {
    const graph = flow(
      { s: 'trigger', if: 'control.condition', a: 'control.condition', j: 'task' },
      ['s > if', 'if.true > a', 'a.true > j', 'if.false > j'],
    );
    const ran = simulate(graph, (id) =>
      id === 'if' ? ['true'] : id === 'a' ? ['false'] : ['out'],
    );
    expect(ran).toEqual(['s', 'if', 'a']);
  });
});

describe('completion', () => {
  test('edges on chosen outputs become active, the others inactive', () => {
    const graph = flow({ s: 'trigger', w: 'control.switch', a: 'task', b: 'task', c: 'task' }, [
      's > w',
      'w.a > a',
      'w.b > b',
      'w.c > c',
    ]);
    const plan = initPlan(graph);
    run(graph, plan, 's');
    run(graph, plan, 'w', ['a', 'c']);
    expect(plan.edges).toEqual({ e0: 'active', e1: 'active', e2: 'inactive', e3: 'active' });
    expect(plan.nodes['w']?.branches).toEqual(['a', 'c']);
  });

  test('completing on nothing ends everything after it', () => {
    const plan = initPlan(chain);
    run(chain, plan, 'start', []);
    expect(readyNodes(chain, plan)).toEqual({ ready: [], skipped: ['a', 'b'] });
  });

  test('a failed node leaves by its error edge, if it has one', () => {
    const graph = flow({ s: 'trigger', t: 'task', ok: 'task', mend: 'task' }, [
      's > t',
      't > ok',
      't.error > mend',
    ]);
    const plan = initPlan(graph);
    run(graph, plan, 's');
    beginNode(plan, 't');
    expect(failNode(graph, plan, 't')).toBe(true);
    expect(plan.nodes['t']?.branches).toEqual(['error']);
    expect(readyNodes(graph, plan)).toEqual({ ready: ['mend'], skipped: ['ok'] });
  });

  test('a failed node without one is failed, and what follows stays pending', () => {
    const plan = initPlan(chain);
    run(chain, plan, 'start');
    beginNode(plan, 'a');
    expect(failNode(chain, plan, 'a')).toBe(false);
    expect(plan.nodes['a']?.status).toBe('failed');
    expect(plan.edges['e1']).toBe('pending');
    expect(readyNodes(chain, plan)).toEqual({ ready: [], skipped: [] });
  });
});

describe('settled', () => {
  test('not while a node runs or waits, nor while one is ready', () => {
    const plan = initPlan(chain);
    expect(isSettled(chain, plan)).toBe(false);
    beginNode(plan, 'start');
    expect(isSettled(chain, plan)).toBe(false);
    markWaiting(plan, 'start');
    expect(isSettled(chain, plan)).toBe(false);
    markRunning(plan, 'start');
    expect(plan.nodes['start']?.status).toBe('running');
  });

  test('asking does not change the plan', () => {
    const plan = initPlan(shipping);
    run(shipping, plan, 'trigger');
    run(shipping, plan, 'big', ['false']);
    const before = JSON.stringify(plan);
    expect(isSettled(shipping, plan)).toBe(false);
    expect(JSON.stringify(plan)).toBe(before);
  });
});

describe('topologyKey', () => {
  const key = topologyKey(shipping);

  test('stays when nodes move, are configured otherwise or are listed elsewhere', () => {
    const nodes = shipping.nodes
      .map((node) => ({ ...node, config: { ...node.config, note: 1 }, position: { x: 9, y: 9 } }))
      .reverse();
    expect(topologyKey({ nodes, edges: [...shipping.edges].reverse() })).toBe(key);
  });

  test.each([
    [
      'a node id',
      { ...shipping, nodes: [...shipping.nodes, { id: 'n', type: 'end', config: {} }] },
    ],
    ['an edge', { ...shipping, edges: shipping.edges.slice(1) }],
    [
      'a handle',
      {
        ...shipping,
        edges: shipping.edges.map((edge, at) => (at === 3 ? { ...edge, sourceHandle: 'x' } : edge)),
      },
    ],
  ])('changes with %s', (_what, changed) => {
    expect(topologyKey(changed)).not.toBe(key);
  });
});

test('a fan of 150,000 nodes does not exhaust the stack', () => {
  const width = 150_000;
  const leaves = Array.from({ length: width }, (_, at) => ({
    id: `n${at}`,
    type: 'end',
    config: {},
  }));
  const nodes = [{ id: 's', type: 'trigger', config: {} }, ...leaves];
  const edges = leaves.map(({ id }) => ({ id, source: 's', target: id, sourceHandle: 'body' }));
  expect(loopRegion({ nodes, edges }, 's')).toHaveLength(width);
  const ready = flow({ s: 'trigger' }, []);
  const graph = {
    nodes: [...ready.nodes, ...leaves],
    edges: edges.map(({ sourceHandle: _, ...edge }) => edge),
  };
  const plan = initPlan(graph);
  run(graph, plan, 's');
  expect(readyNodes(graph, plan).ready).toHaveLength(width);
});
