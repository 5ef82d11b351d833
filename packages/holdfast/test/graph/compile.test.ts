/** compileGraph and cursors: seed 003, "Implement GraphType". */
import {
  type AnyCompiledGraph,
  compileGraph,
  defaultCursor,
  type GraphCursor,
  type GraphEvent,
  type JsonValue,
} from 'holdfast/graph';
import { describe, expect, test } from 'vitest';
import { issuesOf } from './issues.ts';
import {
  describeRelay,
  type RelayCompilation,
  type RelayState,
  type RelayType,
  relayDefinition,
  relayEvents,
  relayWith,
} from './relay.ts';

const sound = relayWith(() => ({}));
const first: RelayState = { passed: 0, running: false };

function compile(type: RelayType = sound) {
  return compileGraph(type, relayDefinition);
}

function event(payload: JsonValue, type = 'node-completed'): GraphEvent {
  return { type, version: 1, payload };
}

test('operations ignore this and extra arguments, and give frozen values', () => {
  const { reduce, decide, initialState } = compile();
  const state = relayEvents.reduce(reduce, initialState());
  expect(state).toEqual({ passed: 2, running: false });
  expect(Object.isFrozen(state)).toBe(true);
  const decisions = [first].map(decide);
  expect(decisions[0]).toEqual([
    { kind: 'dispatch', nodeId: 'one', input: { passed: 0 }, position: 'at/one' },
  ]);
  expect(initialState()).toBe(initialState());
});

test('a type whose operations use this keeps its own', () => {
  class Counting {
    readonly kind = 'relay';
    readonly version = 1;
    readonly step = 1;
    compile(): RelayCompilation {
      const step = this.step;
      return {
        requirements: { memory: 'unused' },
        initialState() {
          return first;
        },
        reduce(state) {
          return { ...state, passed: this.initialState().passed + state.passed + step };
        },
        decide: () => [],
        describe: () => describeRelay(relayDefinition),
      };
    }
  }
  const { reduce, initialState } = compile(new Counting());
  expect(reduce(reduce(initialState(), event(0)), event(0)).passed).toBe(2);
});

test('graph code gets frozen copies; the values of the caller stay as they are', () => {
  const seen: unknown[] = [];
  const type = relayWith((operations) => ({
    reduce: (state, given) => {
      seen.push(state, given, given.payload);
      return operations.reduce(state, given);
    },
    decide: (state) => {
      seen.push(state);
      return operations.decide(state);
    },
  }));
  const state = { ...first };
  const given = event({ nodeId: 'one' });
  const compiled = compile(type);
  compiled.reduce(state, given);
  compiled.decide(state);
  expect(seen.map((value) => Object.isFrozen(value))).toEqual([true, true, true, true]);
  expect([state, given, given.payload].some((value) => Object.isFrozen(value))).toBe(false);
});

test('what was frozen once is passed on as it is', () => {
  const state = compile().initialState();
  const untouched = compile().reduce(state, event(null, 'other'));
  expect(untouched).toBe(state);
});

describe('a graph type that breaks the contract is refused', () => {
  const broken: readonly (readonly [string, unknown, readonly string[]])[] = [
    ['no object', null, ['INVALID_GRAPH_TYPE ']],
    [
      'all wrong',
      { kind: ' ', version: 0 },
      ['INVALID_GRAPH_TYPE /kind', 'INVALID_GRAPH_TYPE /version', 'INVALID_GRAPH_TYPE /compile'],
    ],
    ['nothing compiled', { ...sound, compile: () => undefined }, ['INVALID_GRAPH_TYPE /compile']],
    [
      'no operations',
      { ...sound, compile: () => ({ open: 1 }) },
      [
        'INVALID_GRAPH_TYPE /compile/requirements/memory',
        'INVALID_GRAPH_TYPE /compile/initialState',
        'INVALID_GRAPH_TYPE /compile/reduce',
        'INVALID_GRAPH_TYPE /compile/decide',
        'INVALID_GRAPH_TYPE /compile/describe',
        'INVALID_GRAPH_TYPE /compile/open',
      ],
    ],
    [
      'a first state that is no JSON',
      relayWith(() => ({ initialState: () => ({ ...first, at: new Date(0) }) })),
      ['INVALID_GRAPH_TYPE /initialState/at'],
    ],
    [
      'nodes described in another order',
      relayWith((_, definition) => {
        const described = describeRelay(definition);
        return { describe: () => ({ ...described, nodes: described.nodes.toReversed() }) };
      }),
      ['DESCRIPTION_MISMATCH /nodes'],
    ],
  ];

  test.each(broken)('%s', (_title, type, issues) => {
    expect(issuesOf(() => compile(type as RelayType))).toEqual(issues);
  });

  test('a reducer that gives no JSON is refused when it does', () => {
    const type = relayWith(() => ({ reduce: (state) => ({ ...state, passed: Number.NaN }) }));
    expect(issuesOf(() => compile(type).reduce(first, event(0)))).toEqual([
      'INVALID_GRAPH_TYPE /reducedState/passed',
    ]);
  });
});

test('a state or event that is no JSON is refused before graph code sees it', () => {
  const { reduce, decide } = compile();
  const bad = { ...first, at: undefined };
  expect(issuesOf(() => reduce(bad, event(0)))).toEqual(['INVALID_GRAPH_TYPE /state/at']);
  expect(issuesOf(() => decide(bad))).toEqual(['INVALID_GRAPH_TYPE /state/at']);
  const worse = { type: '', version: 0, payload: { f: () => 1 }, id: 'x' } as unknown as GraphEvent;
  expect(issuesOf(() => reduce(first, worse))).toEqual([
    'INVALID_GRAPH_TYPE /event/type',
    'INVALID_GRAPH_TYPE /event/version',
    'INVALID_GRAPH_TYPE /event/id',
    'INVALID_GRAPH_TYPE /event/payload/f',
  ]);
  expect(issuesOf(() => reduce(first, null as unknown as GraphEvent))).toEqual([
    'INVALID_GRAPH_TYPE /event',
  ]);
});

test('the description is completed from the definition and the type, once', () => {
  const compiled = compile();
  const description = compiled.describe();
  expect(description).toMatchObject({
    schemaVersion: 1,
    graph: {
      id: 'relay',
      definitionVersion: 1,
      kind: 'relay',
      typeVersion: 1,
      definitionDigest: compiled.definition.digest,
    },
    edges: [{ id: 'one-two', source: 'one', target: 'two' }],
    requirements: { memory: 'unused' },
  });
  expect(compiled.describe()).toBe(description);
  expect(Object.isFrozen(description.nodes[0])).toBe(true);
});

test('validateNodeResult is offered only where the type has it, and its answer is checked', () => {
  expect(compile().validateNodeResult).toBeUndefined();
  const picky = compile(
    relayWith(() => ({
      validateNodeResult: (_nodeId, result) =>
        result === 0 ? { code: 'ZERO', path: '', message: 'no zeros' } : null,
    })),
  );
  expect(picky.validateNodeResult?.('one', 0)).toEqual({
    code: 'ZERO',
    path: '',
    message: 'no zeros',
  });
  expect(picky.validateNodeResult?.('one', 1)).toBeNull();
  expect(issuesOf(() => picky.validateNodeResult?.('nobody', 1))).toEqual([
    'INVALID_GRAPH_TYPE /nodeId',
  ]);
  const vague = compile(
    relayWith(() => ({ validateNodeResult: () => ({ code: 'X' }) as unknown as null })),
  );
  expect(issuesOf(() => vague.validateNodeResult?.('one', 1))).toEqual([
    'INVALID_GRAPH_TYPE /compile/validateNodeResult',
  ]);
});

test('compensate gives one undo at its own kind of position, or nothing', () => {
  expect(compile().compensate).toBeUndefined();
  const undoing = (position: string, count = 1): AnyCompiledGraph['compensate'] =>
    compile(
      relayWith(() => ({
        compensate: () =>
          Array.from({ length: count }, (_, index) => ({
            kind: 'dispatch' as const,
            nodeId: 'one',
            input: {},
            position: `${position}${'x'.repeat(index)}`,
          })),
      })),
    ).compensate as AnyCompiledGraph['compensate'];
  expect(undoing('undo/at/one')?.(first as never)).toHaveLength(1);
  expect(undoing('undo/at/one', 0)?.(first as never)).toEqual([]);
  for (const wrong of [undoing('at/one'), undoing('undo/at/one', 2)]) {
    expect(issuesOf(() => wrong?.(first as never))).toEqual(['INVALID_GRAPH_COMMAND /compensate']);
  }
});

describe('a cursor', () => {
  const own = relayWith((operations) => ({ open: (saved) => defaultCursor(operations, saved) }));

  test.each([
    ['the default one', sound],
    ["the type's own", own],
  ])('%s folds, decides repeatably, and opens again from what it saved', (_title, type) => {
    const compiled = compile(type);
    const cursor = compiled.open();
    for (const given of relayEvents.slice(0, 2)) cursor.apply(given);
    expect(cursor.decide()).toBe(cursor.decide());
    expect(cursor.state()).toEqual({ passed: 1, running: false });
    const opened = compiled.open(JSON.parse(JSON.stringify(cursor.save())));
    expect(opened.decide()).toEqual(cursor.decide());
    for (const given of relayEvents.slice(2)) opened.apply(given);
    expect(opened.decide()).toEqual([{ kind: 'complete', output: { passed: 2 } }]);
    expect(cursor.state()).toEqual({ passed: 1, running: false });
  });

  test('graph code is asked once between two events', () => {
    let asked = 0;
    const type = relayWith((operations) => ({
      decide: (state) => {
        asked += 1;
        return operations.decide(state);
      },
    }));
    const cursor = compile(type).open();
    cursor.decide();
    cursor.decide();
    expect(asked).toBe(1);
    cursor.apply(event(0, 'other'));
    cursor.decide();
    expect(asked).toBe(2);
  });

  test("the type's own is asked once between two events, too", () => {
    const type = relayWith((operations) => ({
      open: () => {
        const inner = defaultCursor(operations);
        return { ...inner, decide: () => [...inner.decide()] };
      },
    }));
    const cursor = compile(type).open();
    const decision = cursor.decide();
    expect(cursor.decide()).toBe(decision);
    cursor.apply(event(0, 'other'));
    expect(cursor.decide()).not.toBe(decision);
  });

  test("the type's own is held to the same rules", () => {
    const wrong: GraphCursor<RelayState> = {
      decide: () => [{ kind: 'pause', reason: '' }],
      apply: () => undefined,
      state: () => ({ passed: Number.NaN, running: false }),
      save: () => new Map() as unknown as JsonValue,
    };
    const cursor = compile(relayWith(() => ({ open: () => wrong }))).open();
    expect(issuesOf(() => cursor.decide())).toEqual(['INVALID_GRAPH_COMMAND /0/reason']);
    expect(() => cursor.state()).toThrow();
    expect(() => cursor.save()).toThrow();
    expect(issuesOf(() => cursor.apply(event(undefined as unknown as null)))).toEqual([
      'INVALID_GRAPH_TYPE /event/payload',
    ]);
  });
});
