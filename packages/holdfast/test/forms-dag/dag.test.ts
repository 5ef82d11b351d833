/** The dag form: what it refuses, when it dispatches, and how it ends. */
import { type DagDefinition, dagGraphType, GraphValidationError, type JsonValue } from 'holdfast';
import { assertGraphTypeConformance } from 'holdfast/testing';
import { describe, expect, test } from 'vitest';
import { compileDag, dagOf, event } from './dags.ts';

/** A dag being driven by hand. */
class Run {
  readonly #cursor: ReturnType<ReturnType<typeof compileDag>['open']>;

  constructor(definition: DagDefinition) {
    this.#cursor = compileDag(definition).open();
  }

  /** What is decided now, in short: positions, or the end. */
  decide(): readonly string[] {
    return this.#cursor.decide().map((command) => {
      return command.kind === 'dispatch' ? command.position : command.kind;
    });
  }

  /** Decides, and records the dispatches. */
  start(): readonly string[] {
    const decision = this.decide();
    for (const command of this.#cursor.decide()) {
      if (command.kind !== 'dispatch') continue;
      const { nodeId, position } = command;
      this.#cursor.apply(event('node-dispatched', { nodeId, position }));
    }
    return decision;
  }

  commands() {
    return this.#cursor.decide();
  }

  complete(position: string, result: JsonValue = null): this {
    return this.#settle('node-completed', position, { result });
  }

  fail(position: string, code = 'EFFECT_FAILED', retryable = true): this {
    return this.#settle('node-failed', position, { code, message: 'no', retryable });
  }

  pause(position: string, reason = 'waits'): this {
    return this.#settle('node-paused', position, { reason, request: { kind: 'approval' } });
  }

  resume(position: string): this {
    return this.#settle('node-resumed', position, {});
  }

  #settle(type: string, position: string, rest: Readonly<Record<string, JsonValue>>): this {
    const nodeId = position.split('/')[1] ?? '';
    this.#cursor.apply(event(type, { nodeId, position, ...rest }));
    return this;
  }
}

const diamond = dagOf({ a: 'required', b: 'required', c: 'required', d: 'required' }, [
  'a>b',
  'a>c',
  'b>d',
  'c>d',
]);

test('the kit accepts it, its own cursor included', () => {
  const definition = dagOf({ a: 'required', b: 'optional', z: 'finalizer' }, ['a>b'], {
    retryCapPerNode: 1,
  });
  const dispatched = (nodeId: string, attempt = 1) =>
    event('node-dispatched', { nodeId, position: `dag/${nodeId}/${attempt}` });
  const fresh = { attempts: 0, failures: 0, pauseReason: null, failureCode: null, result: null };
  const pending = { status: 'pending', ...fresh } as const;
  const nodes = (a: object, b: object = pending, z: object = pending) => ({
    nodes: { a: { ...pending, ...a }, b: { ...pending, ...b }, z: { ...pending, ...z } },
  });
  const identity = {
    source: 'npm:dag',
    version: '1.0.0',
    digest: `sha256:${'3'.repeat(64)}`,
  } as const;
  const done = {
    status: 'passed',
    attempts: 2,
    failures: 1,
    failureCode: 'EFFECT_FAILED',
    result: 7,
  };
  const input = { positionSummary: 'node b, attempt 1', results: { a: 7 } };
  assertGraphTypeConformance({
    graphType: dagGraphType,
    definition,
    events: [
      dispatched('a'),
      event('node-failed', {
        nodeId: 'a',
        position: 'dag/a/1',
        code: 'EFFECT_FAILED',
        message: 'm',
        retryable: true,
      }),
      dispatched('a', 2),
      event('node-completed', { nodeId: 'a', position: 'dag/a/2', result: 7 }),
      dispatched('b'),
      event('node-failed', {
        nodeId: 'b',
        position: 'dag/b/1',
        code: 'EFFECT_FAILED',
        message: 'm',
        retryable: true,
      }),
      dispatched('z'),
      event('node-completed', { nodeId: 'z', position: 'dag/z/1', result: null }),
    ],
    invalidDefinitions: [
      {
        ...definition,
        edges: [...definition.edges, { id: 'b>a', source: 'b', target: 'a', data: {} }],
      },
    ],
    planResolution: {
      package: identity,
      admission: { package: identity, permissions: [] },
      executionLanes: [],
    },
    expected: {
      states: [
        nodes({}),
        nodes({ status: 'in-flight', attempts: 1 }),
        nodes({ attempts: 1, failures: 1, failureCode: 'EFFECT_FAILED' }),
        nodes({ status: 'in-flight', attempts: 2, failures: 1, failureCode: 'EFFECT_FAILED' }),
        nodes(done),
        nodes(done, { status: 'in-flight', attempts: 1 }),
        nodes(done, { status: 'failed', attempts: 1, failures: 1, failureCode: 'EFFECT_FAILED' }),
        nodes(
          done,
          { status: 'failed', attempts: 1, failures: 1, failureCode: 'EFFECT_FAILED' },
          { status: 'in-flight', attempts: 1 },
        ),
        nodes(
          done,
          { status: 'failed', attempts: 1, failures: 1, failureCode: 'EFFECT_FAILED' },
          { status: 'passed', attempts: 1 },
        ),
      ] as never,
      commands: [
        [
          {
            kind: 'dispatch',
            nodeId: 'a',
            input: { positionSummary: 'node a, attempt 1' },
            position: 'dag/a/1',
          },
        ],
        [],
        [
          {
            kind: 'dispatch',
            nodeId: 'a',
            input: { positionSummary: 'node a, attempt 2' },
            position: 'dag/a/2',
            retryOf: 'dag/a/1',
          },
        ],
        [],
        [{ kind: 'dispatch', nodeId: 'b', input, position: 'dag/b/1' }],
        [],
        [
          {
            kind: 'dispatch',
            nodeId: 'z',
            input: { positionSummary: 'node z, attempt 1' },
            position: 'dag/z/1',
          },
        ],
        [],
        [{ kind: 'complete', output: { nodes: { a: 7, z: null } } }],
      ],
      bounds: {
        dispatches: { min: { kind: 'known', value: 3 }, max: { kind: 'known', value: 4 } },
        maxConcurrency: { kind: 'known', value: 100 },
        maxFanOut: { kind: 'known', value: 100 },
      },
    },
  });
});

describe('readiness', () => {
  test('B02: fan-in node fires once, after both branches, whatever their order', () => {
    for (const order of [
      ['dag/b/1', 'dag/c/1'],
      ['dag/c/1', 'dag/b/1'],
    ]) {
      const run = new Run(diamond);
      expect(run.start()).toEqual(['dag/a/1']);
      expect(run.complete('dag/a/1').start()).toEqual(['dag/b/1', 'dag/c/1']);
      expect(run.complete(order[0] ?? '').start()).toEqual([]);
      expect(run.complete(order[1] ?? '').start()).toEqual(['dag/d/1']);
      expect(run.start()).toEqual([]);
      expect(run.complete('dag/d/1').decide()).toEqual(['complete']);
    }
  });

  test('B04: an independent node is not held back by a slow sibling', () => {
    const run = new Run(
      dagOf({ a: 'required', b: 'required', c: 'required', d: 'required' }, ['a>b', 'a>c', 'b>d']),
    );
    run.start();
    run.complete('dag/a/1').start();
    expect(run.complete('dag/b/1').start()).toEqual(['dag/d/1']);
  });

  test('B05: the order of the edges into a join changes neither its runs nor its results', () => {
    const swapped = { ...diamond, edges: diamond.edges.toReversed() };
    const inputs = [diamond, swapped].map((definition) => {
      const run = new Run(definition);
      run.start();
      run.complete('dag/a/1').start();
      const [command] = run.complete('dag/c/1', 'c').complete('dag/b/1', 'b').commands();
      return command?.kind === 'dispatch' ? command.input : null;
    });
    expect(inputs[0]).toEqual({
      positionSummary: 'node d, attempt 1',
      results: { b: 'b', c: 'c' },
    });
    expect(inputs[1]).toEqual(inputs[0]);
  });

  test('a global limit and limits by key hold back what they say, in declaration order', () => {
    const red = { kind: 'required', key: 'red' } as const;
    const run = new Run(
      dagOf({ a: red, b: red, c: 'required', d: 'required' }, [], {
        globalConcurrency: 2,
        keyedConcurrency: { red: 1 },
      }),
    );
    expect(run.start()).toEqual(['dag/a/1', 'dag/c/1']);
    expect(run.start()).toEqual([]);
    expect(run.complete('dag/c/1').start()).toEqual(['dag/d/1']);
    expect(run.complete('dag/d/1').start()).toEqual([]);
    expect(run.complete('dag/a/1').start()).toEqual(['dag/b/1']);
  });

  test('a skipped node counts as passed and its result goes on', () => {
    const run = new Run(dagOf({ a: 'required', b: 'required' }, ['a>b']));
    run.start();
    run.complete('dag/a/1', { skipped: true }).start();
    run.complete('dag/b/1', 1);
    expect(run.commands()).toEqual([
      { kind: 'complete', output: { nodes: { a: { skipped: true }, b: 1 } } },
    ]);
  });

  test('a dag without nodes is complete at once', () => {
    expect(new Run(dagOf({}, [])).commands()).toEqual([
      { kind: 'complete', output: { nodes: {} } },
    ]);
  });
});

describe('pauses', () => {
  test('others go on beside a paused node; when only paused ones remain the dag pauses', () => {
    const run = new Run(dagOf({ a: 'required', b: 'required', c: 'required' }, ['b>c']));
    run.start();
    expect(run.pause('dag/a/1', 'ask Ann').start()).toEqual([]);
    expect(run.complete('dag/b/1').start()).toEqual(['dag/c/1']);
    expect(run.complete('dag/c/1').commands()).toEqual([{ kind: 'pause', reason: 'ask Ann' }]);
    expect(run.complete('dag/a/1').decide()).toEqual(['complete']);
  });

  test('the reason is that of the first paused node as declared, also after a resume', () => {
    const run = new Run(dagOf({ a: 'required', b: 'required' }, []));
    run.start();
    run.pause('dag/b/1', 'second').pause('dag/a/1', 'first');
    expect(run.commands()).toEqual([{ kind: 'pause', reason: 'first' }]);
    expect(run.resume('dag/a/1').decide()).toEqual([]);
    expect(run.complete('dag/a/1').commands()).toEqual([{ kind: 'pause', reason: 'second' }]);
  });

  test('a paused node keeps its slots: it may be resumed without a new decision', () => {
    const run = new Run(dagOf({ a: 'required', b: 'required' }, [], { globalConcurrency: 1 }));
    run.start();
    expect(run.pause('dag/a/1').decide()).toEqual(['pause']);
    expect(run.complete('dag/a/1').decide()).toEqual(['dag/b/1']);
  });
});

describe('failures', () => {
  test('B07: a failed child decides its dependants at once: nothing waits for ever', () => {
    const run = new Run(
      dagOf({ a: 'required', b: 'required', c: 'required', after: 'required' }, [
        'a>after',
        'b>after',
        'c>after',
      ]),
    );
    run.start();
    run.complete('dag/a/1').fail('dag/b/1').complete('dag/c/1');
    expect(run.commands()).toEqual([
      { kind: 'fail', code: 'DAG_NODE_FAILED', message: 'Failed nodes: b (EFFECT_FAILED).' },
    ]);
  });

  test('a required node is tried again up to the cap, as one occurrence', () => {
    const run = new Run(dagOf({ a: 'required' }, [], { retryCapPerNode: 2 }));
    run.start();
    for (const attempt of [2, 3]) {
      const [command] = run.fail(`dag/a/${attempt - 1}`).commands();
      expect(command).toMatchObject({ position: `dag/a/${attempt}`, retryOf: 'dag/a/1' });
      run.start();
    }
    expect(run.fail('dag/a/3').decide()).toEqual(['fail']);
  });

  test('a failure recorded as not retryable is not tried again', () => {
    const run = new Run(dagOf({ a: 'required' }, [], { retryCapPerNode: 2 }));
    run.start();
    expect(run.fail('dag/a/1', 'ABORTED', false).decide()).toEqual(['fail']);
  });

  test('an attempt that a halt interrupted is repeated at no cost, whatever its kind', () => {
    for (const kind of ['required', 'optional', 'finalizer'] as const) {
      const run = new Run(dagOf({ a: kind }, [], { stopOnError: true }));
      run.start();
      for (const attempt of [1, 2, 3]) {
        run.fail(`dag/a/${attempt}`, 'ABORTED', true);
        expect(run.start()).toEqual([`dag/a/${attempt + 1}`]);
      }
      expect(run.complete('dag/a/4').decide()).toEqual(['complete']);
    }
  });

  test('optional nodes may fail: their successors run without that result', () => {
    const run = new Run(dagOf({ a: 'optional', b: 'required' }, ['a>b'], { retryCapPerNode: 5 }));
    run.start();
    expect(run.fail('dag/a/1').commands()).toEqual([
      {
        kind: 'dispatch',
        nodeId: 'b',
        input: { positionSummary: 'node b, attempt 1' },
        position: 'dag/b/1',
      },
    ]);
    run.start();
    expect(run.complete('dag/b/1', 2).commands()).toEqual([
      { kind: 'complete', output: { nodes: { b: 2 } } },
    ]);
  });

  test('without stopOnError independent branches go on; with it nothing new starts', () => {
    const open = { a: 'required', b: 'required', c: 'required' } as const;
    const going = new Run(dagOf(open, ['b>c']));
    going.start();
    going.fail('dag/a/1');
    expect(going.complete('dag/b/1').start()).toEqual(['dag/c/1']);
    expect(going.complete('dag/c/1').decide()).toEqual(['fail']);
    const stopping = new Run(dagOf(open, ['b>c'], { stopOnError: true }));
    stopping.start();
    expect(stopping.fail('dag/a/1').decide()).toEqual(['fail']);
  });

  test('finalizers run last, also after a stop, and may fail the dag', () => {
    const nodes = { a: 'required', b: 'required', z: 'finalizer' } as const;
    const stopped = new Run(dagOf(nodes, [], { stopOnError: true }));
    stopped.start();
    expect(stopped.fail('dag/a/1').decide()).toEqual([]);
    expect(stopped.complete('dag/b/1').start()).toEqual(['dag/z/1']);
    expect(stopped.complete('dag/z/1').decide()).toEqual(['fail']);
    const failing = new Run(dagOf(nodes, []));
    failing.start();
    expect(failing.complete('dag/a/1').complete('dag/b/1').start()).toEqual(['dag/z/1']);
    expect(failing.fail('dag/z/1').commands()).toEqual([
      { kind: 'fail', code: 'DAG_NODE_FAILED', message: 'Failed nodes: z (EFFECT_FAILED).' },
    ]);
  });
});

test('stale and foreign events change nothing', () => {
  const compiled = compileDag(dagOf({ a: 'required' }, [], { retryCapPerNode: 1 }));
  let state = compiled.initialState();
  const apply = (type: string, payload: JsonValue): void => {
    state = compiled.reduce(state, event(type, payload));
  };
  apply('node-dispatched', { nodeId: 'a', position: 'dag/a/1' });
  apply('node-failed', {
    nodeId: 'a',
    position: 'dag/a/1',
    code: 'X',
    message: '',
    retryable: true,
  });
  apply('node-dispatched', { nodeId: 'a', position: 'dag/a/2' });
  const before = state;
  apply('node-completed', { nodeId: 'a', position: 'dag/a/1', result: 1 });
  apply('node-completed', { nodeId: 'b', position: 'dag/b/1', result: 1 });
  apply('node-dispatched', { nodeId: 'a', position: 'dag/a/3' });
  apply('signal-received', { name: 'a', signalId: 's', payload: null });
  apply('node-completed', null);
  expect(state).toBe(before);
});

test('a log that dispatched a node before its predecessor was settled is folded all the same', () => {
  const definition = dagOf({ a: 'required', b: 'required', c: 'required' }, ['a>b'], {
    globalConcurrency: 2,
  });
  const compiled = compileDag(definition);
  const cursor = compiled.open();
  const early = [
    event('node-dispatched', { nodeId: 'b', position: 'dag/b/1' }),
    event('node-dispatched', { nodeId: 'a', position: 'dag/a/1' }),
    event('node-completed', { nodeId: 'a', position: 'dag/a/1', result: 1 }),
  ];
  for (const given of early) cursor.apply(given);
  expect(cursor.decide()).toMatchObject([{ position: 'dag/c/1' }]);
  expect(cursor.decide()).toEqual(compiled.decide(cursor.state()));
});

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
