/** What the dag form refuses, and how it describes what it accepts. */
import { type DagDefinition, GraphValidationError } from 'holdfast';
import { describe, expect, test } from 'vitest';
import { compileDag, dagOf, diamond, event } from './dags.ts';

describe('definitions', () => {
  function issuesOf(definition: unknown): readonly string[] {
    try {
      compileDag(definition as DagDefinition);
    } catch (error) {
      if (!(error instanceof GraphValidationError)) throw error;
      return error.issues.map(({ code, path }) => `${code} ${path}`);
    }
    return [];
  }
  const target = { adapter: 'a', provider: 'p', modelFamily: 'f', model: 'm', tools: [] };
  const lane = { id: 'fast', requested: target, knownSubstitutions: [] };
  const node = { kind: 'required', key: null } as const;

  test('all that is wrong is told at once', () => {
    const definition = dagOf(
      {
        a: { kind: 'sometimes' as 'required', key: 'red' },
        b: { ...node, lane },
        c: { ...node, lane: { ...lane, requested: { ...target, model: 'other' } } },
        d: { kind: 'required' } as unknown as typeof node,
        z: 'finalizer',
      },
      ['a>b', 'b>c', 'c>a', 'd>z'],
      {
        globalConcurrency: 0,
        keyedConcurrency: { blue: 1.5 },
        stopOnError: 'yes' as unknown as boolean,
        retryCapPerNode: -1,
      },
    );
    expect(issuesOf(definition)).toEqual([
      'INVALID_LIMIT /data/globalConcurrency',
      'INVALID_LIMIT /data/retryCapPerNode',
      'INVALID_STOP_ON_ERROR /data/stopOnError',
      'INVALID_LIMIT /data/keyedConcurrency/blue',
      'INVALID_NODE_KIND /nodes/0/data/kind',
      'MISSING_KEY_LIMIT /nodes/0/data/key',
      'CONFLICTING_LANE /nodes/2/data/lane',
      'MISSING_FIELD /nodes/3/data/key',
      'FINALIZER_HAS_EDGES /edges/3/target',
      'DAG_CYCLE /edges',
    ]);
  });

  test.each([
    ['no data', { ...diamond, data: null }, ['INVALID_SHAPE /data']],
    [
      'no node data',
      { ...diamond, nodes: [{ id: 'a', data: 1 }], edges: [] },
      ['INVALID_SHAPE /nodes/0/data'],
    ],
    [
      'edge data that is no object',
      { ...diamond, edges: [{ id: 'e', source: 'a', target: 'b', data: 1 }] },
      ['INVALID_SHAPE /edges/0/data'],
    ],
    [
      'limits that are no object',
      dagOf({ a: 'required' }, [], { keyedConcurrency: 4 as never }),
      ['INVALID_LIMIT /data/keyedConcurrency'],
    ],
    [
      'a malformed lane',
      dagOf({ a: { ...node, lane: { ...lane, id: '' } } }, []),
      ['INVALID_ID /nodes/0/data/lane/id'],
    ],
    [
      'a key that only a prototype knows',
      dagOf({ a: { kind: 'required', key: 'toString' } }, []),
      ['MISSING_KEY_LIMIT /nodes/0/data/key'],
    ],
    ['a self-loop', dagOf({ a: 'required' }, ['a>a']), ['DAG_CYCLE /edges']],
  ])('%s is refused', (_title, definition, issues) => {
    expect(issuesOf(definition)).toEqual(issues);
  });

  test('a cycle is named in the direction of its edges', () => {
    const definition = dagOf({ s: 'required', a: 'required', b: 'required', c: 'required' }, [
      's>a',
      'a>b',
      'b>c',
      'c>a',
    ]);
    expect(() => compileDag(definition)).toThrowError(
      /"a" → "b" → "c" → "a"|"b" → "c" → "a" → "b"|"c" → "a" → "b" → "c"/,
    );
  });

  test('lanes are described once, nodes name theirs, and odd ids are ordinary ids', () => {
    const data = { ...node, lane };
    const entries = ['__proto__', 'constructor', 'x'].map((id) => [id, data] as const);
    const compiled = compileDag(dagOf(Object.fromEntries(entries), ['__proto__>x']));
    const description = compiled.describe();
    expect(description.executionLanes).toEqual([lane]);
    expect(description.nodes.map(({ laneId }) => laneId)).toEqual(['fast', 'fast', 'fast']);
    const cursor = compiled.open();
    expect(cursor.decide()).toEqual(compiled.decide(compiled.initialState()));
    const first = { nodeId: '__proto__', position: 'dag/__proto__/1' };
    cursor.apply(event('node-dispatched', first));
    cursor.apply(event('node-completed', { ...first, result: 5 }));
    const [, next] = cursor.decide();
    expect(JSON.stringify(next)).toContain('"results":{"__proto__":5}');
  });
});
