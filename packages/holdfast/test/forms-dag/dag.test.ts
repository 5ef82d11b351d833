/** The dag form: when it dispatches, and how it ends. */
import type { DagDefinition, JsonValue } from 'holdfast';
import { describe, expect, test } from 'vitest';
import { compileDag, dagOf, diamond, event } from './dags.ts';

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

test('a log that dispatched a node before its predecessor had settled is folded alike', () => {
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
