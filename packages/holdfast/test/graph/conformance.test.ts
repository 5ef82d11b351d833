/** The kit: it accepts what is sound, and each wrong graph type fails the case meant for it. */
import { defaultCursor, type GraphCursor, type JsonValue } from 'holdfast/graph';
import { assertGraphTypeConformance, runGraphTypeConformance } from 'holdfast/testing';
import { expect, test } from 'vitest';
import {
  describeRelay,
  type RelayCompilation,
  type RelayState,
  type RelayType,
  relayDefinition,
  relayFixture,
  relayWith,
} from './relay.ts';

const sound = relayWith(() => ({}));

test('a sound graph type passes, and the caller keeps its values as they were', () => {
  const fixture = relayFixture(sound);
  const before = JSON.stringify(fixture);
  const report = runGraphTypeConformance(fixture);
  expect(report).toEqual({ ok: true, cases: 9, failures: [] });
  expect(JSON.stringify(fixture)).toBe(before);
  expect(Object.isFrozen(fixture.definition)).toBe(false);
  expect(() => assertGraphTypeConformance(fixture)).not.toThrow();
});

test('a sound cursor of its own passes one case more', () => {
  const type = relayWith((operations) => ({ open: (saved) => defaultCursor(operations, saved) }));
  expect(runGraphTypeConformance(relayFixture(type))).toMatchObject({ ok: true, cases: 10 });
});

/** A cursor that is wrong in the way that `change` says. */
function wrongCursor(
  change: (right: GraphCursor<RelayState>) => Partial<GraphCursor<RelayState>>,
): RelayType {
  return relayWith((operations) => ({
    open: (saved) => {
      const right = defaultCursor(operations, saved);
      return { ...right, ...change(right) };
    },
  }));
}

let outside = 0;

type Mutant = readonly [title: string, failingCase: string, type: RelayType];

const mutants: readonly Mutant[] = [
  [
    'reads the clock',
    'no clock or chance',
    relayWith(({ decide }) => ({
      decide: (state) => (Date.now() > 0 ? decide(state) : []),
    })),
  ],
  [
    'makes a date of now',
    'no clock or chance',
    relayWith(({ reduce }) => ({
      reduce: (state, event) => (new Date().getFullYear() > 0 ? reduce(state, event) : state),
    })),
  ],
  [
    'draws lots',
    'no clock or chance',
    relayWith(({ decide }) => ({ decide: (state) => (Math.random() < 2 ? decide(state) : []) })),
  ],
  [
    'writes to its state',
    'input immutability',
    relayWith(() => ({
      reduce: (state, event) => {
        if (event.type === 'node-completed') {
          Object.assign(state, { passed: state.passed + 1, running: false });
        }
        if (event.type === 'node-dispatched') Object.assign(state, { running: true });
        return state;
      },
    })),
  ],
  [
    'writes to the event',
    'input immutability',
    relayWith(({ reduce }) => ({
      reduce: (state, event) => reduce(state, Object.assign(event, { version: 1 })),
    })),
  ],
  [
    'writes to the definition',
    'input immutability',
    relayWith((_, definition) => {
      Object.assign(definition, { id: 'mine' });
      return {};
    }),
  ],
  [
    'asks again for what is in flight',
    'new requests only',
    relayWith(({ decide }) => ({ decide: (state) => decide({ ...state, running: false }) })),
  ],
  [
    'keeps a class instance in its state',
    'deterministic replay',
    relayWith(({ reduce }) => ({
      reduce: (state, event) => Object.assign(new (class Relay {})(), reduce(state, event)),
    })),
  ],
  [
    'keeps a Map in its first state',
    'deterministic compile',
    relayWith(() => ({ initialState: () => new Map() as unknown as RelayState })),
  ],
  [
    'counts outside of its state',
    'deterministic decision',
    relayWith(({ decide }) => ({
      decide: (state) => {
        outside += 1;
        return decide(state).map((command) =>
          command.kind === 'dispatch'
            ? { ...command, position: `${command.position}/${outside}` }
            : command,
        );
      },
    })),
  ],
  [
    'remembers the fold instead of the state',
    'deterministic replay',
    relayWith(({ reduce }) => {
      let completed = 0;
      return {
        reduce: (state, event) => {
          if (event.type === 'node-completed') completed += 1;
          return { ...reduce(state, event), passed: completed };
        },
      };
    }),
  ],
  [
    'knows states by identity',
    'deterministic decision',
    relayWith(({ reduce, decide }) => {
      const mine = new WeakSet<object>();
      return {
        reduce: (state, event) => {
          const next = reduce(state, event);
          mine.add(next);
          return next;
        },
        decide: (state) => (state.passed === 0 || mine.has(state) ? decide(state) : []),
      };
    }),
  ],
  [
    'describes itself differently each time',
    'deterministic compile',
    relayWith((_, definition) => {
      outside += 1;
      return { describe: () => ({ ...describeRelay(definition), inputContract: { outside } }) };
    }),
  ],
  [
    'resolves to a plan of its own each time',
    'deterministic plan resolution',
    relayWith((_, definition) => {
      outside += 1;
      const policies = { ...describeRelay(definition).policies, retry: outside };
      return { describe: () => ({ ...describeRelay(definition), policies }) };
    }),
  ],
  [
    'declares too small a maximum',
    'declared bounds',
    boundsOf({
      dispatches: { min: { kind: 'known', value: 1 }, max: { kind: 'known', value: 1 } },
    }),
  ],
  [
    'declares a minimum that a complete run does not meet',
    'declared bounds',
    boundsOf({
      dispatches: { min: { kind: 'known', value: 3 }, max: { kind: 'known', value: 3 } },
    }),
  ],
  [
    'declares too small a fan-out',
    'declared bounds',
    boundsOf({ maxFanOut: { kind: 'known', value: 0 } }),
  ],
  [
    'swallows the wrong event',
    'deterministic replay',
    relayWith(({ reduce }) => ({
      reduce: (state, event) => (event.type === 'node-dispatched' ? state : reduce(state, event)),
    })),
  ],
  [
    'completes and dispatches at once',
    'deterministic decision',
    relayWith(({ decide }) => ({
      decide: (state) => [...decide(state), { kind: 'complete', output: null }],
    })),
  ],
  ['has no version', 'invalid definitions', { ...sound, version: 0 }],
  [
    'its cursor decides by an older state',
    'own cursor',
    wrongCursor((right) => {
      let before = right.decide();
      return {
        apply: (event) => {
          before = right.decide();
          right.apply(event);
        },
        decide: () => before,
      };
    }),
  ],
  [
    'its cursor saves too little',
    'own cursor',
    wrongCursor(() => ({ save: (): JsonValue => ({ passed: 0, running: false }) })),
  ],
  [
    'its cursor folds only when asked',
    'own cursor',
    wrongCursor((right) => {
      let fresh = true;
      return {
        apply: (event) => {
          if (fresh) right.apply(event);
          fresh = false;
        },
        decide: () => {
          fresh = true;
          return right.decide();
        },
      };
    }),
  ],
];

function boundsOf(bounds: Partial<ReturnType<typeof describeRelay>['bounds']>): RelayType {
  return relayWith((_, definition): Partial<RelayCompilation> => {
    const described = describeRelay(definition);
    return { describe: () => ({ ...described, bounds: { ...described.bounds, ...bounds } }) };
  });
}

test.each(mutants)('a graph type that %s fails "%s"', (_title, failingCase, graphType) => {
  const report = runGraphTypeConformance(relayFixture(graphType));
  expect(report.ok).toBe(false);
  expect(report.failures.map((failure) => failure.case)).toContain(failingCase);
});

test('a wrong bound is caught even where the fixture expects it', () => {
  const dispatches = {
    min: { kind: 'known', value: 3 },
    max: { kind: 'known', value: 4 },
  } as const;
  const fixture = relayFixture(boundsOf({ dispatches }));
  const bounds = { ...fixture.expected.bounds, dispatches };
  const report = runGraphTypeConformance({
    ...fixture,
    expected: { ...fixture.expected, bounds },
  });
  expect(report.failures).toEqual([
    {
      case: 'declared bounds',
      message: 'the completed trace has 2 dispatches, below the declared minimum 3',
    },
  ]);
});

test('a repeated position is caught even where the fixture expects it', () => {
  const again = relayWith(({ decide }) => ({
    decide: (state) => decide({ ...state, running: false }),
  }));
  const { expected, ...fixture } = relayFixture(again);
  const commands = expected.commands.map((decision, index) =>
    decision.length === 0 ? (expected.commands[index - 1] ?? []) : decision,
  );
  const report = runGraphTypeConformance({ ...fixture, expected: { ...expected, commands } });
  expect(report.failures.map((failure) => failure.case)).toContain('new requests only');
});

test('a partial, empty or paused ending proves no minimum', () => {
  const { expected, events, ...fixture } = relayFixture(sound);
  for (const length of [0, 1, 2, 3]) {
    const part = {
      ...fixture,
      events: events.slice(0, length),
      expected: {
        ...expected,
        states: expected.states.slice(0, length + 1),
        commands: expected.commands.slice(0, length + 1),
      },
    };
    expect(runGraphTypeConformance(part).failures).toEqual([]);
  }
});

test('a fixture of the wrong size, or without invalid definitions, is told so', () => {
  const { expected, ...fixture } = relayFixture(sound);
  const states = expected.states.slice(1);
  const commands = expected.commands.slice(1);
  const report = runGraphTypeConformance({
    ...fixture,
    invalidDefinitions: [],
    expected: { ...expected, states, commands },
  });
  expect(report.failures.map((failure) => failure.case)).toEqual([
    'deterministic compile',
    'deterministic replay',
    'deterministic decision',
    'invalid definitions',
    'declared bounds',
  ]);
});

test('a definition refused with a plain error fails its case', () => {
  const type = relayWith((_, definition) => {
    if (definition.nodes.length === 0) throw new TypeError('no nodes');
    return {};
  });
  const empty = { ...relayDefinition, nodes: [], edges: [] };
  const report = runGraphTypeConformance({ ...relayFixture(type), invalidDefinitions: [empty] });
  expect(report.failures).toEqual([{ case: 'invalid definitions', message: 'no nodes' }]);
});

test('a definition that is accepted though the fixture calls it invalid fails its case', () => {
  const fixture = { ...relayFixture(sound), invalidDefinitions: [relayDefinition] };
  expect(() => assertGraphTypeConformance(fixture)).toThrowError(
    'invalid definitions: the invalid definition 0 was accepted',
  );
});

test('the kit puts the clock and chance back', () => {
  const before = [Date, Math.random, performance.now, crypto.randomUUID];
  runGraphTypeConformance(relayFixture(sound));
  expect([Date, Math.random, performance.now, crypto.randomUUID]).toEqual(before);
  expect(Object.getOwnPropertyNames(performance)).not.toContain('now');
});
