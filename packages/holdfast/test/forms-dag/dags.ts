/** Dags for tests: builders, and a random host that settles attempts in any order. */

import fc from 'fast-check';
import { compileGraph, type DagDefinition, type DagNodeData, dagGraphType } from 'holdfast';
import type { GraphEvent, JsonValue } from 'holdfast/graph';

export type DagOptions = Partial<DagDefinition['data']>;
export type CompiledDag = ReturnType<typeof compileDag>;

/** `nodes` maps ids to kinds or data; `edges` are written `a>b`. */
export function dagOf(
  nodes: Readonly<Record<string, DagNodeData['kind'] | DagNodeData>>,
  edges: readonly string[],
  options: DagOptions = {},
): DagDefinition {
  return {
    id: 'dag',
    definitionVersion: 1,
    data: {
      globalConcurrency: 100,
      keyedConcurrency: {},
      stopOnError: false,
      retryCapPerNode: 0,
      ...options,
    },
    nodes: Object.entries(nodes).map(([id, node]) => ({
      id,
      data: typeof node === 'string' ? { kind: node, key: null } : node,
    })),
    edges: edges.map((id) => {
      const [source = '', target = ''] = id.split('>');
      return { id, source, target, data: {} };
    }),
  };
}

/** `a`, then `b` and `c`, then `d`. */
export const diamond: DagDefinition = dagOf(
  { a: 'required', b: 'required', c: 'required', d: 'required' },
  ['a>b', 'a>c', 'b>d', 'c>d'],
);

export function compileDag(definition: DagDefinition) {
  return compileGraph(dagGraphType, definition);
}

export function event(type: string, payload: JsonValue): GraphEvent {
  return { type, version: 1, payload };
}

export type Step =
  | { readonly kind: 'completed'; readonly skipped: boolean }
  | { readonly kind: 'failed'; readonly code: string; readonly retryable: boolean }
  | { readonly kind: 'paused' };

/** One choice of the random host: which open occurrence settles, and how. */
export type Choice = { readonly pick: number; readonly step: Step };

export const choice: fc.Arbitrary<Choice> = fc.record({
  pick: fc.nat({ max: 1_000 }),
  step: fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({ kind: fc.constant('completed' as const), skipped: fc.boolean() }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constant('failed' as const),
        code: fc.constantFrom('EFFECT_FAILED', 'ABORTED'),
        retryable: fc.boolean(),
      }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('paused' as const) }) },
  ),
});

const KEYS = ['red', 'blue'];

/** Random dags of up to 12 nodes: edges only go from earlier to later nodes. */
export const dag: fc.Arbitrary<DagDefinition> = fc
  .record({
    kinds: fc.array(
      fc.record({
        kind: fc.constantFrom<DagNodeData['kind'][]>(
          'required',
          'required',
          'required',
          'optional',
          'finalizer',
        ),
        key: fc.constantFrom(null, null, ...KEYS),
      }),
      { minLength: 1, maxLength: 12 },
    ),
    pairs: fc.array(fc.tuple(fc.nat({ max: 11 }), fc.nat({ max: 11 })), { maxLength: 24 }),
    globalConcurrency: fc.integer({ min: 1, max: 5 }),
    red: fc.integer({ min: 1, max: 2 }),
    blue: fc.integer({ min: 1, max: 3 }),
    stopOnError: fc.boolean(),
    retryCapPerNode: fc.integer({ min: 0, max: 2 }),
  })
  .map(({ kinds, pairs, red, blue, ...options }) => {
    const nodes = Object.fromEntries(kinds.map((data, index) => [`n${index}`, data]));
    const edges = pairs
      .filter(([a, b]) => a < b && b < kinds.length)
      .filter(([a, b]) => kinds[a]?.kind !== 'finalizer' && kinds[b]?.kind !== 'finalizer')
      .map(([a, b]) => `n${a}>n${b}`);
    return dagOf(nodes, [...new Set(edges)], {
      ...options,
      keyedConcurrency: { red, blue },
    });
  });

export type Opened = { readonly nodeId: string; readonly position: string };

/** The outcome events of one step for an open occurrence. */
export function outcome({ nodeId, position }: Opened, step: Step): GraphEvent {
  switch (step.kind) {
    case 'completed':
      return event('node-completed', {
        nodeId,
        position,
        result: step.skipped ? { skipped: true } : { from: nodeId },
      });
    case 'failed':
      return event('node-failed', {
        nodeId,
        position,
        code: step.code,
        message: 'no',
        retryable: step.retryable,
      });
    case 'paused':
      return event('node-paused', {
        nodeId,
        position,
        reason: `${nodeId} waits`,
        request: { kind: 'approval' },
      });
  }
}
