import { type FlowGraph, validateGraph } from 'holdfast/flow';
import { describe, expect, test } from 'vitest';
import { charging, flow, nested, shipping } from './build.ts';

const errorsOf = (graph: FlowGraph) =>
  validateGraph(graph).errors.map(({ code, nodeId, edgeId }) => [code, nodeId ?? edgeId]);
const warningsOf = (graph: FlowGraph) =>
  validateGraph(graph).warnings.map(({ code, nodeId, edgeId }) => [code, nodeId ?? edgeId]);

const chain = (type: string) => flow({ s: 'trigger', a: type, end: 'end' }, ['s > a', 'a > end']);

test.each([
  ['the worked example', shipping],
  ['a loop', charging],
  ['nested loops', nested],
])('%s has no errors', (_name, graph) => {
  expect(validateGraph(graph).errors).toEqual([]);
});

describe('errors of nodes', () => {
  test('duplicate node ids', () => {
    const graph = chain('task');
    const twice = { ...graph, nodes: [...graph.nodes, { id: 'a', type: 'end', config: {} }] };
    expect(errorsOf(twice)).toEqual([['DUPLICATE_NODE_ID', 'a']]);
  });

  test('unknown node types', () => {
    expect(errorsOf(chain('magic'))).toEqual([['UNKNOWN_NODE_TYPE', 'a']]);
  });

  test('node config that fails its catalogue fields, with its path', () => {
    const graph = flow({ s: 'trigger', a: ['delay', { delayMs: 'soon' }] }, ['s > a']);
    expect(validateGraph(graph).errors).toMatchObject([
      { code: 'INVALID_NODE_CONFIG', nodeId: 'a', path: '/nodes/1/config/delayMs' },
    ]);
  });

  test('no trigger', () => {
    const graph = flow({ a: 'task', b: 'task' }, ['a > b']);
    expect(errorsOf(graph)).toEqual([
      ['NO_FORWARD_INPUT', 'a'],
      ['TRIGGER_COUNT', undefined],
    ]);
  });

  test('two triggers', () => {
    const graph = flow({ s: 'trigger', t: 'trigger', a: 'task' }, ['s > a', 't > a']);
    expect(errorsOf(graph)).toEqual([['TRIGGER_COUNT', 't']]);
  });

  test('a node without a forward input', () => {
    const graph = flow({ s: 'trigger', a: 'task', b: 'task', end: 'end' }, ['s > a', 'b > end']);
    expect(errorsOf(graph)).toEqual([['NO_FORWARD_INPUT', 'b']]);
  });

  test.each(['', ' a', 'a\u0000b', '\ud800', 'x'.repeat(257)])('the id %j', (id) => {
    const graph = flow({ s: 'trigger', [id]: 'task' }, []);
    const edges = [{ id: 'e', source: 's', target: id }];
    expect(errorsOf({ ...graph, edges })).toEqual([['INVALID_ID', id]]);
  });

  test('ids like prototype members, emoji, and NFC/NFD twins are fine', () => {
    const ids = ['__proto__', 'toString', '🚀', 'é', 'e\u0301', 'a#1/2'];
    const edges = ids.map((id) => ({ id: `to ${id}`, source: 's', target: id }));
    const nodes = ids.map((id) => ({ id, type: 'end', config: {} }));
    const graph = { nodes: [{ id: 's', type: 'trigger', config: {} }, ...nodes], edges };
    expect(validateGraph(graph)).toEqual({ errors: [], warnings: [] });
  });
});

describe('errors of edges', () => {
  test('an edge that points at a missing node, at either end', () => {
    const graph = flow({ s: 'trigger', a: 'end' }, ['s > a', 's > ghost', 'ghost > a']);
    expect(errorsOf(graph)).toEqual([
      ['UNKNOWN_EDGE_NODE', 'e1'],
      ['UNKNOWN_EDGE_NODE', 'e2'],
    ]);
  });

  test('an edge from an output that its source does not have', () => {
    const graph = flow({ s: 'trigger', c: 'control.condition', end: 'end' }, [
      's > c',
      'c.maybe > end',
      'c > end',
      's.error > end',
    ]);
    expect(errorsOf(graph)).toEqual([
      ['UNKNOWN_OUTPUT', 'e1'],
      ['UNKNOWN_OUTPUT', 'e2'],
      ['UNKNOWN_OUTPUT', 'e3'],
    ]);
  });

  test('a next edge into anything but a loop', () => {
    const graph = flow({ s: 'trigger', a: 'task', b: 'task' }, ['s > a', 'a > b', 'b > a:next']);
    expect(errorsOf(graph)).toEqual([['NEXT_INTO_NON_LOOP', 'e2']]);
  });

  test('any edge into a trigger', () => {
    const graph = flow({ s: 'trigger', a: 'task' }, ['s > a', 'a > s:next']);
    expect(errorsOf(graph)).toEqual([
      ['NEXT_INTO_NON_LOOP', 'e1'],
      ['EDGE_INTO_TRIGGER', 'e1'],
    ]);
  });

  test('a cycle among forward edges, which it names', () => {
    const graph = flow({ s: 'trigger', x: 'task', a: 'task', b: 'task', c: 'task', tail: 'task' }, [
      's > x',
      'x > a',
      'a > b',
      'b > c',
      'c > a',
      'c > tail',
    ]);
    const { errors } = validateGraph(graph);
    expect(errors).toHaveLength(1);
    expect(errors[0]?.code).toBe('FORWARD_CYCLE');
    expect(errors[0]?.message).toMatch(/("a" → "b" → "c"|"b" → "c" → "a"|"c" → "a" → "b")/);
  });

  test('a self-loop is a cycle', () => {
    const graph = flow({ s: 'trigger', a: 'task' }, ['s > a', 'a > a']);
    expect(errorsOf(graph)).toEqual([['FORWARD_CYCLE', 'a']]);
  });

  test('two edges with one id', () => {
    const graph = flow({ s: 'trigger', a: 'task', b: 'end' }, ['s > a', 'a > b']);
    const edges = graph.edges.map((edge) => ({ ...edge, id: 'same' }));
    expect(errorsOf({ ...graph, edges })).toEqual([['DUPLICATE_EDGE_ID', 'same']]);
  });
});

describe('errors of loops', () => {
  const loops = (nodes: Record<string, string>, edges: string[]) =>
    flow({ s: 'trigger', l: 'control.loop', ...nodes }, ['s > l', ...edges]);

  test('a next edge that does not come from inside the body', () => {
    const graph = loops({ a: 'task', after: 'task' }, [
      'l.body > a',
      'a > l:next',
      'l.done > after',
      'after > l:next',
    ]);
    expect(errorsOf(graph)).toEqual([['NEXT_FROM_OUTSIDE', 'e4']]);
  });

  test('a loop whose body output leads straight to its next', () => {
    expect(errorsOf(loops({}, ['l.body > l:next']))).toEqual([
      ['NEXT_FROM_OUTSIDE', 'e1'],
      ['LOOP_WITHOUT_BODY', 'l'],
    ]);
  });

  test('a next edge from the body of a loop inside', () => {
    const graph = loops({ i: 'control.loop', a: 'task' }, [
      'l.body > i',
      'i.body > a',
      'a > i:next',
      'i.done > l:next',
      'a.error > l:next',
    ]);
    expect(errorsOf(graph)).toEqual([['NEXT_FROM_INNER_LOOP', 'e5']]);
  });

  test('a body node that cannot reach next', () => {
    const graph = loops({ a: 'task', b: 'task', end: 'end' }, [
      'l.body > a',
      'a > l:next',
      'a > b',
      'b > end',
    ]);
    expect(errorsOf(graph)).toEqual([
      ['NEXT_UNREACHABLE', 'b'],
      ['NEXT_UNREACHABLE', 'end'],
    ]);
  });

  test('a loop inside that does not lead on to the next of the outer one', () => {
    const graph = loops({ x: 'task', i: 'control.loop', a: 'task' }, [
      'l.body > x',
      'x > l:next',
      'x > i',
      'i.body > a',
      'a > i:next',
    ]);
    expect(errorsOf(graph)).toEqual([['NEXT_UNREACHABLE', 'i']]);
  });

  test('a loop without a body', () => {
    expect(errorsOf(loops({ a: 'task' }, ['l.done > a']))).toEqual([['LOOP_WITHOUT_BODY', 'l']]);
  });

  test('an edge into a body from a node beside the loop', () => {
    const graph = loops({ slow: 'task', a: 'task' }, [
      's > slow',
      'slow > a',
      'l.body > a',
      'a > l:next',
    ]);
    expect(errorsOf(graph)).toEqual([['EDGE_INTO_BODY', 'e2']]);
  });

  test('the exit of a loop leading into its own body', () => {
    const graph = loops({ a: 'task' }, ['l.body > a', 'a > l:next', 'l.done > a']);
    expect(errorsOf(graph)).toEqual([['EDGE_INTO_BODY', 'e3']]);
  });

  test('an edge into a body from before the loop: the body would run without it', () => {
    const graph = loops({ a: 'task' }, ['l.body > a', 'a > l:next', 's > a']);
    expect(errorsOf(graph)).toEqual([['EDGE_INTO_BODY', 'e3']]);
  });

  test('two loops with one body', () => {
    const graph = loops({ m: 'control.loop', a: 'task' }, [
      's > m',
      'l.body > a',
      'm.body > a',
      'a > l:next',
      'a > m:next',
    ]);
    expect(errorsOf(graph)).toContainEqual(['LOOPS_OVERLAP', 'e3']);
  });
});

describe('warnings', () => {
  test('duplicate edges', () => {
    const graph = flow({ s: 'trigger', a: 'end' }, ['s > a', 's.out > a']);
    expect(validateGraph(graph).errors).toEqual([]);
    expect(warningsOf(graph)).toEqual([['DUPLICATE_EDGE', 'e1']]);
  });

  test('two outputs into one input are no duplicates', () => {
    const graph = flow({ s: 'trigger', c: 'control.condition', a: 'end' }, [
      's > c',
      'c.true > a',
      'c.false > a',
    ]);
    expect(validateGraph(graph)).toEqual({ errors: [], warnings: [] });
  });

  test('a node with outputs but no outgoing edge', () => {
    const graph = flow({ s: 'trigger', a: 'task' }, ['s > a']);
    expect(warningsOf(graph)).toEqual([['NO_OUTGOING_EDGE', 'a']]);
  });
});

describe('expressions', () => {
  const graph = flow(
    {
      s: 'trigger',
      c: ['control.condition', { expression: 'nodes["gone"].output' }],
      l: 'control.loop',
      a: ['task', { function: 'f', input: { to: 'Hi {{ x }}' } }],
    },
    ['s > c', 'c.true > l', 'l.body > a', 'a > l:next'],
  );

  test('each source is checked with its kind, the node ids and whether it is in a loop', () => {
    const asked: unknown[] = [];
    validateGraph(graph, {
      checkExpression: (source, kind, { nodeIds, inLoop }) => {
        asked.push([source, kind, [...nodeIds], inLoop]);
        return [];
      },
    });
    const ids = ['s', 'c', 'l', 'a'];
    expect(asked).toEqual([
      ['nodes["gone"].output', 'condition', ids, false],
      ['Hi {{ x }}', 'template', ids, true],
    ]);
  });

  test('a fault names the node, the field and the column', () => {
    const { errors } = validateGraph(graph, {
      checkExpression: (source) =>
        source.startsWith('Hi') ? [{ message: 'no x', column: 7 }] : [],
    });
    expect(errors).toMatchObject([
      { code: 'INVALID_EXPRESSION', nodeId: 'a', path: '/nodes/3/config/input/to', column: 7 },
    ]);
  });
});

describe('what is no flow at all', () => {
  test.each([
    [null, ['']],
    [{}, ['/nodes', '/edges']],
    [{ nodes: {}, edges: [] }, ['/nodes']],
    [{ nodes: [1], edges: [null] }, ['/nodes/0', '/edges/0']],
    [{ nodes: [{ id: 1, type: 'end' }], edges: [] }, ['/nodes/0/id', '/nodes/0/config']],
    [
      { nodes: [], edges: [{ id: 'e', source: 's', target: 't', sourceHandle: 1 }] },
      ['/edges/0/sourceHandle'],
    ],
  ])('%j', (graph, paths) => {
    const { errors, warnings } = validateGraph(graph as unknown as FlowGraph);
    expect(errors.map(({ code, path }) => [code, path])).toEqual(
      paths.map((path) => ['INVALID_FLOW_SHAPE', path]),
    );
    expect(warnings).toEqual([]);
  });
});
