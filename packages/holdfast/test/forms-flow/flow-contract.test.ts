import { compileGraph, type FlowFile, flowDefinition, flowGraphType } from 'holdfast';
import { runGraphTypeConformance } from 'holdfast/testing';
import { describe, expect, test } from 'vitest';
import { charging, flow, shipping } from '../flow/build.ts';
import { compiledFlow, FlowRun, positionsOf } from './flow-run.ts';

const file = (graph: ReturnType<typeof flow>): FlowFile => ({ id: 'test', ...graph });
const boundsOf = (graph: ReturnType<typeof flow>) => compiledFlow(graph).describe().bounds;

test('the graph type passes the conformance kit, fed with its own dispatches', () => {
  const run = new FlowRun(compiledFlow(shipping));
  run.start({ total: 1 });
  run.complete('big', { branch: 'true' });
  run.pause('approve');
  run.resume('approve');
  run.complete('approve', { branch: 'approved' });
  run.complete('ship', { output: 'sent' });
  const { compiled, events } = run;
  let state = compiled.initialState();
  const states = [state];
  for (const event of events) {
    state = compiled.reduce(state, event);
    states.push(state);
  }
  const report = runGraphTypeConformance({
    graphType: flowGraphType,
    definition: flowDefinition(file(shipping)),
    events,
    invalidDefinitions: [flowDefinition(file(flow({ a: 'task' }, [])))],
    planResolution: {
      package: identity,
      admission: { package: identity, permissions: [] },
      executionLanes: [],
    },
    expected: {
      states,
      commands: states.map((state) => compiled.decide(state)),
      bounds: {
        dispatches: { min: { kind: 'known', value: 2 }, max: { kind: 'known', value: 4 } },
        maxConcurrency: { kind: 'known', value: 1 },
        maxFanOut: { kind: 'known', value: 1 },
      },
    },
  });
  expect(report).toMatchObject({ ok: true });
});

const identity = {
  source: 'npm:@example/flow',
  version: '1.0.0',
  digest: `sha256:${'1'.repeat(64)}`,
} as const;

describe('definitions', () => {
  test('a flow file becomes a definition; a place on the canvas is no part of it', () => {
    expect(
      flowDefinition({
        id: 'f',
        version: 3,
        nodes: [{ id: 's', type: 'trigger', config: {}, position: { x: 1, y: 2 } }],
        edges: [{ id: 'e', source: 's', target: 's', targetHandle: 'next' }],
      }),
    ).toEqual({
      id: 'f',
      definitionVersion: 3,
      data: {},
      nodes: [{ id: 's', data: { type: 'trigger', config: {} } }],
      edges: [{ id: 'e', source: 's', target: 's', data: { targetHandle: 'next' } }],
    });
    expect(flowDefinition(file(charging)).definitionVersion).toBe(1);
  });

  test('compiling tells every error of the flow, with its place in the definition', () => {
    const graph = flow(
      {
        s: 'trigger',
        a: ['delay', { delayMs: -1 }],
        c: ['control.condition', { expression: 'x >' }],
      },
      ['s > a', 'a.maybe > c'],
    );
    expect(() => compiledFlow(graph)).toThrow(
      expect.objectContaining({
        issues: [
          expect.objectContaining({
            code: 'INVALID_NODE_CONFIG',
            path: '/nodes/1/data/config/delayMs',
          }),
          expect.objectContaining({
            code: 'INVALID_EXPRESSION',
            path: '/nodes/2/data/config/expression',
          }),
          expect.objectContaining({
            code: 'UNKNOWN_OUTPUT',
            path: '/edges/1/data/sourceHandle',
          }),
        ],
      }),
    );
  });

  test('an expression that reads a node which does not exist is refused', () => {
    const graph = flow(
      { s: 'trigger', a: ['task', { function: 'f', input: '{{ nodes["b"].output }}' }] },
      ['s > a'],
    );
    expect(() => compiledFlow(graph)).toThrow(/INVALID_EXPRESSION/);
  });

  test('loop.iteration is known inside loops only', () => {
    const config = { function: 'f', input: '{{ loop.iteration }}' };
    const edges = ['s > l', 'l.body > a', 'a > l:next'];
    const inside = flow({ s: 'trigger', l: 'control.loop', a: ['task', config] }, edges);
    expect(compiledFlow(inside).describe().nodes).toHaveLength(3);
    const outside = flow({ s: 'trigger', a: ['task', config] }, ['s > a']);
    expect(() => compiledFlow(outside)).toThrow(/INVALID_EXPRESSION/);
  });

  test.each([
    [{ id: 'f' }],
    [{ id: 'f', nodes: {}, edges: [] }],
    [{ id: 'f', nodes: [null], edges: [] }],
    [{ id: 'f', nodes: [{ id: 's' }], edges: [] }],
    [{ id: 'f', nodes: [{ id: 's', type: 'trigger', config: {} }], edges: [7] }],
    [{ id: '', nodes: [{ id: 's', type: 'trigger', config: {} }], edges: [] }],
  ])('%j is refused as invalid, not as a fault of ours', (value) => {
    const compile = () => compileGraph(flowGraphType, flowDefinition(value as unknown as FlowFile));
    expect(compile).toThrow(expect.objectContaining({ name: 'GraphValidationError' }));
  });

  test('moving a node on the canvas changes no decision', () => {
    const moved = {
      ...shipping,
      nodes: shipping.nodes.map((node, at) => ({ ...node, position: { x: -at, y: at } })),
    };
    const ran = (graph: typeof shipping) => {
      const run = new FlowRun(compiledFlow(graph));
      run.start();
      return positionsOf(run.complete('big', { branch: 'false' }));
    };
    expect(ran(moved)).toEqual(ran(shipping));
  });
});

describe('bounds', () => {
  const unknown = { kind: 'unknown', reason: expect.any(String) };
  const known = (value: number) => ({ kind: 'known', value });

  test('of a flow without loops and retries are known', () => {
    expect(boundsOf(shipping).dispatches).toEqual({ min: known(2), max: known(4) });
  });

  test('of a loop: how often it goes round is not', () => {
    expect(boundsOf(charging).dispatches).toEqual({ min: known(3), max: unknown });
  });

  test('of retries neither', () => {
    const graph = flow({ s: 'trigger', a: ['task', { function: 'f', retry: { max: 1 } }] }, [
      's > a',
    ]);
    expect(boundsOf(graph).dispatches).toEqual({ min: known(2), max: unknown });
  });

  test('an error edge may leave out what follows', () => {
    const graph = flow({ s: 'trigger', a: 'task', b: 'task', c: 'task' }, [
      's > a',
      'a > b',
      'a.error > c',
    ]);
    expect(boundsOf(graph).dispatches).toEqual({ min: known(2), max: known(4) });
  });

  test('undos count: a cancel dispatches them', () => {
    const graph = flow({ s: 'trigger', a: ['task', { function: 'f', undo: { function: 'g' } }] }, [
      's > a',
    ]);
    expect(boundsOf(graph).dispatches.max).toEqual(known(3));
  });

  test('several nodes on one output run side by side', () => {
    const graph = flow({ s: 'trigger', a: 'end', b: 'end' }, ['s > a', 's > b']);
    expect(boundsOf(graph)).toMatchObject({ maxConcurrency: unknown, maxFanOut: unknown });
  });
});
