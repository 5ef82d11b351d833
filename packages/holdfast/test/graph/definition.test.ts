/** Definitions and the kernel: seed 003, "Define the graph". */
import fc from 'fast-check';
import {
  type AnyGraphDefinition,
  compileGraphDefinition,
  createGraphKernel,
  digestJson,
  type GraphDefinition,
  GraphValidationError,
} from 'holdfast/graph';
import { defineGraphDefinition } from 'holdfast/testing';
import { expect, test } from 'vitest';
import { issuesOf } from './issues.ts';
import { relayDefinition } from './relay.ts';

function compiling(definition: unknown): () => unknown {
  return () => compileGraphDefinition(definition as AnyGraphDefinition);
}

test('a definition is copied and frozen, with its canonical text and digest', () => {
  const definition = structuredClone(relayDefinition);
  const compiled = compileGraphDefinition(definition);
  expect(compiled.value).toEqual(relayDefinition);
  expect(compiled.value).not.toBe(definition);
  expect(Object.isFrozen(compiled.value.nodes[0])).toBe(true);
  expect(Object.isFrozen(definition.nodes)).toBe(false);
  expect(JSON.parse(compiled.canonicalJson)).toEqual(relayDefinition);
  expect(compiled.digest).toBe(digestJson(relayDefinition));
});

test('fields beside the named ones are kept and change the digest', () => {
  const more = { ...relayDefinition, title: 'A relay' };
  const compiled = compileGraphDefinition(more);
  expect(compiled.value.title).toBe('A relay');
  expect(compiled.digest).not.toBe(compileGraphDefinition(relayDefinition).digest);
});

test('self-loops, parallel edges, cycles and empty graphs are legal here', () => {
  const edges = [
    { id: 'a', source: 'one', target: 'one', data: null },
    { id: 'b', source: 'one', target: 'two', data: 0 },
    { id: 'c', source: 'one', target: 'two', data: '' },
    { id: 'd', source: 'two', target: 'one', data: [] },
  ];
  expect(compiling({ ...relayDefinition, edges })).not.toThrow();
  expect(compiling({ ...relayDefinition, nodes: [], edges: [] })).not.toThrow();
});

const node = { id: 'n', data: {} };
const wrong: readonly (readonly [string, unknown, readonly string[]])[] = [
  ['null', null, ['INVALID_DEFINITION ']],
  ['a list', [], ['INVALID_DEFINITION ']],
  [
    'nothing but an object',
    {},
    [
      'INVALID_ID /id',
      'INVALID_VERSION /definitionVersion',
      'INVALID_DEFINITION /data',
      'INVALID_DEFINITION /nodes',
      'INVALID_DEFINITION /edges',
    ],
  ],
  ['an empty id', { ...relayDefinition, id: '' }, ['INVALID_ID /id']],
  ['an untrimmed id', { ...relayDefinition, id: ' relay' }, ['INVALID_ID /id']],
  ['an id with a control character', { ...relayDefinition, id: 'a\u0000b' }, ['INVALID_ID /id']],
  ['an id of 257 bytes', { ...relayDefinition, id: `${'é'.repeat(128)}x` }, ['INVALID_ID /id']],
  ['a number as id', { ...relayDefinition, id: 7 }, ['INVALID_ID /id']],
  ...[0, -1, 1.5, '1', null, 2 ** 53].map(
    (definitionVersion) =>
      [
        `the version ${definitionVersion}`,
        { ...relayDefinition, definitionVersion },
        ['INVALID_VERSION /definitionVersion'],
      ] as const,
  ),
  [
    'nodes that are no list',
    { ...relayDefinition, nodes: {}, edges: [] },
    ['INVALID_DEFINITION /nodes'],
  ],
  [
    'a node that is no object',
    { ...relayDefinition, nodes: [1], edges: [] },
    ['INVALID_DEFINITION /nodes/0'],
  ],
  [
    'a node without data',
    { ...relayDefinition, nodes: [{ id: 'n' }], edges: [] },
    ['INVALID_DEFINITION /nodes/0/data'],
  ],
  [
    'two nodes of one id',
    { ...relayDefinition, nodes: [node, node, node], edges: [] },
    ['DUPLICATE_NODE_ID /nodes/1/id', 'DUPLICATE_NODE_ID /nodes/2/id'],
  ],
  [
    'edges to and from nowhere, twice the same',
    {
      ...relayDefinition,
      edges: [
        { id: 'e', source: 'one', target: 'three', data: {} },
        { id: 'e', source: 'zero', target: 'two', data: {} },
        { id: 'f', target: 'two' },
      ],
    },
    [
      'INVALID_ID /edges/2/source',
      'DUPLICATE_EDGE_ID /edges/1/id',
      'UNKNOWN_TARGET_NODE /edges/0/target',
      'UNKNOWN_SOURCE_NODE /edges/1/source',
      'INVALID_DEFINITION /edges/2/data',
    ],
  ],
  [
    'a date and a function',
    { ...relayDefinition, data: new Date(0), nodes: [node, { id: 'm', data: { f: () => 1 } }] },
    ['INVALID_JSON_VALUE /data', 'INVALID_JSON_VALUE /nodes/1/data/f'],
  ],
  [
    'an instance',
    new (class Definition {
      id = 'x';
    })(),
    ['INVALID_JSON_VALUE '],
  ],
  ['undefined', undefined, ['INVALID_JSON_VALUE ']],
];

test.each(wrong)('%s is refused with all issues', (_title, definition, issues) => {
  expect([...issuesOf(compiling(definition))].sort()).toEqual([...issues].sort());
});

test('a refusal carries the first code, frozen issues, and a bounded message', () => {
  const nodes = Array.from({ length: 100 }, () => node);
  try {
    compileGraphDefinition({ ...relayDefinition, nodes, edges: [] });
    expect.unreachable();
  } catch (error) {
    if (!(error instanceof GraphValidationError)) throw error;
    expect(error.code).toBe('DUPLICATE_NODE_ID');
    expect(error.issues).toHaveLength(99);
    expect(Object.isFrozen(error.issues[0])).toBe(true);
    expect(error.message).toContain('and 94 more');
    expect(error.message.length).toBeLessThan(2_000);
    expect(error.next).not.toBe('');
  }
});

test('ids such as __proto__, emoji and look-alikes are ordinary ids of their own', () => {
  const ids = ['__proto__', 'constructor', 'toString', '😀', 'é', 'e\u0301', 'x'.repeat(256)];
  const nodes = ids.map((id) => ({ id, data: {} }));
  const edges = ids.map((id) => ({ id, source: '__proto__', target: id, data: {} }));
  const { value } = compileGraphDefinition({ ...relayDefinition, nodes, edges });
  const kernel = createGraphKernel(value);
  expect(kernel.successors('__proto__')).toEqual(ids);
  for (const id of ids) expect(kernel.node(id)?.id).toBe(id);
  expect(kernel.node('hasOwnProperty')).toBeUndefined();
});

test('the kernel looks up neighbours in edge order, each once, and refuses unknown nodes', () => {
  const name = fc.constantFrom('a', 'b', 'c', 'd');
  fc.assert(
    fc.property(fc.array(fc.tuple(name, name), { maxLength: 20 }), (pairs) => {
      const definition: GraphDefinition = {
        ...relayDefinition,
        nodes: ['a', 'b', 'c', 'd'].map((id) => ({ id, data: {} })),
        edges: pairs.map(([source, target], index) => ({
          id: `${index}`,
          source,
          target,
          data: {},
        })),
      };
      const kernel = createGraphKernel(compileGraphDefinition(definition).value);
      for (const { id } of definition.nodes) {
        const outbound = definition.edges.filter(({ source }) => source === id);
        const inbound = definition.edges.filter(({ target }) => target === id);
        expect(kernel.outboundEdges(id)).toEqual(outbound);
        expect(kernel.inboundEdges(id)).toEqual(inbound);
        expect(kernel.successors(id)).toEqual([...new Set(outbound.map(({ target }) => target))]);
        expect(kernel.predecessors(id)).toEqual([...new Set(inbound.map(({ source }) => source))]);
        expect(Object.isFrozen(kernel.inboundEdges(id))).toBe(true);
      }
      for (const edge of definition.edges) expect(kernel.edge(edge.id)).toEqual(edge);
    }),
  );
  const kernel = createGraphKernel(relayDefinition);
  for (const look of ['predecessors', 'successors', 'inboundEdges', 'outboundEdges'] as const) {
    expect(issuesOf(() => kernel[look]('nobody'))).toEqual(['UNKNOWN_NODE /nodeId']);
  }
  expect(kernel.edge('nothing')).toBeUndefined();
});

test('defineGraphDefinition keeps literal types and refuses like compileGraphDefinition', () => {
  const defined = defineGraphDefinition({ ...relayDefinition, id: 'literal' });
  const id: 'literal' = defined.id;
  expect(id).toBe('literal');
  expect(issuesOf(() => defineGraphDefinition({ ...relayDefinition, id: '' }))).toEqual([
    'INVALID_ID /id',
  ]);
});
