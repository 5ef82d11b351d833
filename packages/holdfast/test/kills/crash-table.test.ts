/**
 * The crash table with real processes: a worker is killed (SIGKILL) at a named point, a fresh one
 * recovers the run from the file alone, and the effects log shows how often each effect happened.
 */
import { describe, expect, test } from 'vitest';
import { typesOf } from '../support/stored-events.ts';
import { attemptIdOf, expectSound, killedRun, positionOf } from './processes.ts';

/** Recovers as a host does, then folds the whole record again in a fresh executor. */
const RECOVER = ['host', 'host'] as const;
const PAIR_DONE = { kind: 'complete', output: { nodes: { a: 'a', b: 'b' } } };

describe.concurrent('before a dispatch is recorded', () => {
  test.each([
    ['before:run-started', ['start', 'host']],
    ['after:run-started', ['host']],
    ['before:node-dispatched', ['host']],
  ] as const)('killed %s: it is decided and dispatched, once', async (kill, recovery) => {
    const run = killedRun('pair', { retrySafe: false });
    await run.killed({ acts: ['start', 'run'], kill });
    expect((await run.work({ acts: recovery })).at(-1)).toEqual(PAIR_DONE);
    expect(run.effects()).toEqual({ a: 1, b: 1 });
    expectSound(await run.events());
  });
});

describe.concurrent('after dispatch, before node code starts', () => {
  test('a dispatch without a start record is started unasked, without a resume', async () => {
    const run = killedRun('wide', { retrySafe: false });
    const executor = { maxConcurrentAttempts: 1 };
    await run.killed({ acts: ['start', 'run'], kill: 'enter:a', executor });
    const [paused] = await run.work({ acts: ['host'] });
    expect(paused).toMatchObject({ kind: 'pause', pauses: [{ position: 'dag/a/1' }] });
    expect(run.effects()).toEqual({ b: 1 });
    const events = await run.events();
    expectSound(events);
    expect(typesOf(events)).not.toContain('node-resumed');
  });

  test('a start record without its code: a retry-safe attempt is resumed', async () => {
    const run = killedRun('pair', { retrySafe: true });
    await run.killed({ acts: ['start', 'run'], kill: 'after:node-attempt-started' });
    expect(await run.work({ acts: RECOVER })).toEqual([PAIR_DONE, PAIR_DONE]);
    expect(run.effects()).toEqual({ a: 1, b: 1 });
    const events = await run.events();
    expectSound(events);
    expect(typesOf(events).filter((type) => type === 'node-resumed')).toHaveLength(1);
  });

  test('a start record without its code: any other attempt is uncertain', async () => {
    const run = killedRun('pair', { retrySafe: false });
    await run.killed({ acts: ['start', 'run'], kill: 'after:node-attempt-started' });
    const [paused] = await run.work({ acts: ['host'] });
    expect(paused).toMatchObject({ pauses: [{ request: { kind: 'reconcile-attempt' } }] });
    expect(run.effects()).toEqual({});
  });
});

describe.concurrent('dispatched, not yet due', () => {
  test.each(['delay', 'backoff'])('%s: it starts when it is due, and not before', async (scene) => {
    const run = killedRun(scene);
    await run.killed({ acts: ['start', 'run'], kill: 'asleep' });
    expect(run.effects()).toEqual({ a: 1 });
    const executor = { maxIdleMs: 0 };
    const [early] = await run.work({ acts: ['host'], aheadMs: 1_800_000, executor });
    expect(early).toMatchObject({ kind: 'waiting', positions: [] });
    expect(run.effects()).toEqual({ a: 1 });
    const late = await run.work({ acts: RECOVER, aheadMs: 3_700_000, executor });
    expect(late).toMatchObject([{ kind: 'complete' }, { kind: 'complete' }]);
    expect(run.effects()).toEqual({ a: scene === 'backoff' ? 2 : 1, b: 1 });
    expectSound(await run.events());
  });
});

describe.concurrent('after node code starts, before its result', () => {
  const points = ['leave:a', 'before:node-completed'] as const;

  test.each(points)('retry-safe, killed %s: the same attempt again', async (kill) => {
    const run = killedRun('pair', { retrySafe: true });
    await run.killed({ acts: ['start', 'run'], kill });
    expect(run.effects()).toEqual({ a: 1 });
    expect(await run.work({ acts: RECOVER })).toEqual([PAIR_DONE, PAIR_DONE]);
    expect(run.effects()).toEqual({ a: 2, b: 1 });
    const events = await run.events();
    expectSound(events);
    expect(events.filter(({ type }) => type === 'graph:node-resumed')).toHaveLength(1);
  });

  test.each(points)(
    'B32: not retry-safe, killed %s: it pauses and its code is not called',
    async (kill) => {
      const run = killedRun('pair', { retrySafe: false });
      await run.killed({ acts: ['start', 'run'], kill });
      const recovered = await run.work({ acts: RECOVER });
      for (const paused of recovered) {
        expect(paused).toMatchObject({ kind: 'pause', pauses: [{ position: 'dag/a/1' }] });
      }
      expect(run.effects()).toEqual({ a: 1 });
      const events = await run.events();
      const start = events.find(({ type }) => type === 'graph:node-attempt-started');
      const pause = events.find(({ type }) => type === 'graph:node-paused');
      const attemptId = attemptIdOf(start);
      expect(pause?.payload).toMatchObject({ request: { kind: 'reconcile-attempt', attemptId } });
    },
  );

  test.each([
    [
      { kind: 'completed', result: 'seen' },
      { a: 1, b: 1 },
    ],
    [{ kind: 'retry' }, { a: 2, b: 1 }],
    [{ kind: 'failed', code: 'LOST' }, { a: 1 }],
  ] as const)(
    'an uncertain attempt is reconciled as %j in another process',
    async (said, effects) => {
      const run = killedRun('pair', { retrySafe: false });
      await run.killed({ acts: ['start', 'run'], kill: 'leave:a' });
      await run.work({ acts: ['host'] });
      await run.work({ acts: [['reconcile', { ...said, reason: 'looked' }]] });
      const [result, again] = await run.work({ acts: RECOVER });
      expect(result?.kind).toBe(said.kind === 'failed' ? 'fail' : 'complete');
      expect(again).toEqual(result);
      expect(run.effects()).toEqual(effects);
      expectSound(await run.events());
    },
  );

  test('a repeat that was allowed is killed too: it is asked about again', async () => {
    const run = killedRun('pair', { retrySafe: false });
    await run.killed({ acts: ['start', 'run'], kill: 'leave:a' });
    const retry = ['reconcile', { kind: 'retry', reason: 'looked' }] as const;
    await run.killed({ acts: ['host', retry, 'host'], kill: 'leave:a' });
    expect(run.effects()).toEqual({ a: 2 });
    expect((await run.work({ acts: ['host'] }))[0]).toMatchObject({ kind: 'pause' });
    expect((await run.work({ acts: [retry, 'host'] }))[1]).toEqual(PAIR_DONE);
    expect(run.effects()).toEqual({ a: 3, b: 1 });
    expectSound(await run.events());
  });

  test('a child run is gone on with, in its own record', async () => {
    const run = killedRun('child');
    await run.killed({ acts: ['start', 'run'], kill: 'leave:y' });
    const [result] = await run.work({ acts: RECOVER });
    expect(result).toMatchObject({ kind: 'complete', output: { nodes: { b: 'b' } } });
    expect(run.effects()).toEqual({ x: 1, y: 2, b: 1 });
    expectSound(await run.events());
  });

  test('a halt was under way: the next process goes by the table', async () => {
    const run = killedRun('hold', { retrySafe: false });
    await run.killed({ acts: ['start', 'halt-inside'], kill: 'before:node-failed' });
    expect((await run.work({ acts: ['host'] }))[0]).toMatchObject({
      pauses: [{ request: { kind: 'reconcile-attempt' } }],
    });
    expect(run.effects()).toEqual({ a: 1 });
  });
});

describe.concurrent('inside a sub-step', () => {
  const points = ['leave:two', 'before:node-step-recorded#2'] as const;

  test.each(points)('not retry-safe, killed %s: the pause names the step', async (kill) => {
    const run = killedRun('steps', { retrySafe: false });
    await run.killed({ acts: ['start', 'run'], kill });
    const [paused] = await run.work({ acts: ['host'] });
    expect(paused).toMatchObject({
      pauses: [{ request: { kind: 'reconcile-attempt', steps: ['two'] } }],
    });
    expect(run.effects()).toEqual({ a: 1, one: 1, two: 1 });
  });

  test.each(points)(
    'retry-safe, killed %s: the step runs again, the one before it not',
    async (kill) => {
      const run = killedRun('steps', { retrySafe: true });
      await run.killed({ acts: ['start', 'run'], kill });
      expect((await run.work({ acts: RECOVER }))[0]).toMatchObject({ kind: 'complete' });
      expect(run.effects()).toEqual({ a: 2, one: 1, two: 2, three: 1 });
      expectSound(await run.events());
    },
  );

  test.each([
    [{ kind: 'completed', result: 'seen' }, 'complete', { a: 2, one: 1, two: 1, three: 1 }],
    [{ kind: 'retry' }, 'complete', { a: 2, one: 1, two: 2, three: 1 }],
    [{ kind: 'failed', code: 'LOST' }, 'fail', { a: 2, one: 1, two: 1 }],
  ] as const)('the step is reconciled as %j', async (said, kind, effects) => {
    const run = killedRun('steps', { retrySafe: false });
    await run.killed({ acts: ['start', 'run'], kill: 'leave:two' });
    const reconcile = ['reconcile', { ...said, step: 'two', reason: 'looked' }] as const;
    const [, , result] = await run.work({ acts: ['host', reconcile, 'host'] });
    expect(result).toMatchObject({ kind });
    expect(run.effects()).toEqual(effects);
    expectSound(await run.events());
  });

  test('a step that was recorded is not done again', async () => {
    const run = killedRun('steps', { retrySafe: false });
    await run.killed({ acts: ['start', 'run'], kill: 'after:node-step-recorded#2' });
    expect((await run.work({ acts: RECOVER }))[0]).toMatchObject({ kind: 'complete' });
    expect(run.effects()).toEqual({ a: 2, one: 1, two: 1, three: 1 });
  });

  test('B40: of a list only the item in flight is asked about, none is repeated', async () => {
    const run = killedRun('map', { retrySafe: false });
    await run.killed({ acts: ['start', 'run'], kill: 'leave:3' });
    const [paused] = await run.work({ acts: ['host'] });
    expect(paused).toMatchObject({ pauses: [{ request: { steps: ['item/2'] } }] });
    const [, result] = await run.work({ acts: ['retry-all', 'host'] });
    expect(result).toMatchObject({ output: { nodes: { all: [1, 2, 3, 4, 5] } } });
    expect(run.effects()).toEqual({
      'item 1': 1,
      'item 2': 1,
      'item 3': 2,
      'item 4': 1,
      'item 5': 1,
    });
  });
});

describe.concurrent('after the result is recorded', () => {
  test('the run goes on, the finished occurrence is not repeated', async () => {
    const run = killedRun('pair', { retrySafe: false });
    await run.killed({ acts: ['start', 'run'], kill: 'after:node-completed' });
    expect(run.effects()).toEqual({ a: 1 });
    expect(await run.work({ acts: RECOVER })).toEqual([PAIR_DONE, PAIR_DONE]);
    expect(run.effects()).toEqual({ a: 1, b: 1 });
    expectSound(await run.events());
  });

  test('killed while the append is under way: it stands whole or not at all', async () => {
    const run = killedRun('pair', { retrySafe: true });
    await run.killed({ acts: ['start', 'run'], kill: 'during:node-completed' });
    const before = typesOf(await run.events());
    const stands = before.includes('node-completed');
    expect(before.filter((type) => type === 'node-attempt-started')).toHaveLength(stands ? 2 : 1);
    expect((await run.work({ acts: RECOVER }))[0]).toEqual(PAIR_DONE);
    expect(run.effects()).toEqual({ a: stands ? 1 : 2, b: 1 });
    expectSound(await run.events());
  });

  test('the graph type of seed 003: killed between draft and review', async () => {
    const run = killedRun('review');
    await run.killed({ acts: ['start', 'run'], kill: 'after:node-completed' });
    const [result, again] = await run.work({ acts: RECOVER });
    expect(result).toEqual({ kind: 'complete', output: { approved: true } });
    expect(again).toEqual(result);
    expect(run.effects()).toEqual({ draft: 1, review: 1 });
    const events = await run.events();
    expectSound(events);
    const dispatched = events.filter(({ type }) => type === 'graph:node-dispatched');
    expect(dispatched.map(({ payload }) => positionOf(payload))).toEqual([
      'work/draft',
      'work/review',
    ]);
  });
});

describe.concurrent('paused', () => {
  test.each(['paused', 'before:node-paused'])(
    'killed %s: it stays paused until it is answered',
    async (kill) => {
      const run = killedRun('ask');
      await run.killed({ acts: ['start', 'run'], kill });
      const [paused, still] = await run.work({ acts: RECOVER });
      expect(paused).toMatchObject({ kind: 'pause', pauses: [{ nodeId: 'ask' }] });
      expect(still).toEqual(paused);
      expect(run.effects()).toEqual({ a: 1 });
      const [, result] = await run.work({ acts: [['answer', 'yes'], 'host'] });
      expect(result).toMatchObject({ output: { nodes: { ask: 'yes' } } });
      expect(run.effects()).toEqual({ a: 1, b: 1 });
      expectSound(await run.events());
    },
  );

  test('an answer that was recorded counts, also when its process died right after', async () => {
    const run = killedRun('ask');
    await run.work({ acts: ['start', 'run'] });
    await run.killed({ acts: [['answer', 'yes']], kill: 'after:pause-answered' });
    expect((await run.work({ acts: RECOVER }))[0]).toMatchObject({ kind: 'complete' });
    expect(run.effects()).toEqual({ a: 1, b: 1 });
  });

  test('an answer that was not recorded does not count', async () => {
    const run = killedRun('ask');
    await run.work({ acts: ['start', 'run'] });
    await run.killed({ acts: [['answer', 'yes']], kill: 'before:pause-answered' });
    expect((await run.work({ acts: ['host'] }))[0]).toMatchObject({ kind: 'pause' });
    expect(run.effects()).toEqual({ a: 1 });
  });

  test('B70 B71: a deadline that passed fires once, also if its firing was killed', async () => {
    const run = killedRun('ask');
    await run.work({ acts: ['start', 'run'] });
    await run.killed({ acts: ['run'], kill: 'before:timer-fired', aheadMs: 61_000 });
    await run.killed({ acts: ['run'], kill: 'after:timer-fired', aheadMs: 61_000 });
    const [result, again] = await run.work({ acts: RECOVER, aheadMs: 61_000 });
    expect(result).toMatchObject({ kind: 'fail', code: 'DAG_NODE_FAILED' });
    expect(again).toEqual(result);
    const types = typesOf(await run.events());
    expect(types.filter((type) => type === 'timer-fired')).toHaveLength(1);
  });

  test.each([
    ['a message that came while nobody ran', 'paused'],
    ['a message whose completion was killed', 'before:node-completed'],
  ])('%s is consumed once', async (_what, kill) => {
    const run = killedRun('message');
    const signal = ['signal', 'go', 'one'] as const;
    if (kill === 'paused') {
      await run.killed({ acts: ['start', 'run'], kill });
      await run.work({ acts: [signal, signal] });
    } else {
      await run.killed({ acts: ['start', signal, 'run'], kill });
    }
    const [result] = await run.work({ acts: RECOVER });
    expect(result).toMatchObject({ output: { nodes: { wait: 'hello' } } });
    expect(run.effects()).toEqual({ b: 1 });
    const types = typesOf(await run.events());
    expect(types.filter((type) => type === 'signal-received')).toHaveLength(1);
  });
});

describe.concurrent('terminal decided, not recorded', () => {
  test('it is decided again, and recorded once', async () => {
    const run = killedRun('ask');
    await run.work({ acts: ['start', 'run', ['answer', 'yes']] });
    await run.killed({ acts: ['run'], kill: 'before:run-finished' });
    expect((await run.work({ acts: RECOVER }))[0]).toMatchObject({ kind: 'complete' });
    expect(run.effects()['a']).toBe(1);
    expect(typesOf(await run.events()).at(-1)).toBe('run-finished');
  });

  test('once recorded it is returned again, and nothing runs', async () => {
    const run = killedRun('pair', { retrySafe: true });
    await run.killed({ acts: ['start', 'run'], kill: 'after:run-finished' });
    const before = await run.events();
    expect(await run.work({ acts: RECOVER })).toEqual([PAIR_DONE, PAIR_DONE]);
    expect(await run.events()).toEqual(before);
    expect(run.effects()).toEqual({ a: 1, b: 1 });
  });
});

describe.concurrent('cancel requested, not finished', () => {
  const CANCELLED = { kind: 'fail', code: 'CANCELLED' };

  test.each([
    ['after:cancel-requested', true],
    ['after:cancel-requested', false],
    ['before:run-finished', true],
    ['before:run-finished', false],
  ] as const)(
    'killed %s, retry-safe %s: the cancel is finished, nothing else',
    async (kill, retrySafe) => {
      const run = killedRun('hold', { retrySafe });
      await run.killed({ acts: ['start', 'cancel-inside'], kill });
      const [result, again] = await run.work({ acts: RECOVER });
      expect(result).toMatchObject(CANCELLED);
      expect(again).toEqual(result);
      expect(run.effects()).toEqual({ a: 1 });
      const events = await run.events();
      expectSound(events);
      const failed = events.find(({ type }) => type === 'graph:node-failed');
      expect(failed?.payload).toMatchObject({ code: 'ABORTED', abandoned: true });
      expect(typesOf(events).filter((type) => type === 'run-finished')).toHaveLength(1);
    },
  );

  test('a cancel while paused, killed before its end', async () => {
    const run = killedRun('ask');
    await run.work({ acts: ['start', 'run', 'cancel'] });
    await run.killed({ acts: ['run'], kill: 'before:run-finished' });
    expect((await run.work({ acts: RECOVER }))[0]).toMatchObject(CANCELLED);
    expect(run.effects()).toEqual({ a: 1 });
  });

  test('B122: a cancel while delayed ends the run at once', async () => {
    const run = killedRun('delay');
    await run.killed({ acts: ['start', 'run'], kill: 'asleep' });
    const [, result] = await run.work({ acts: ['cancel', 'host'] });
    expect(result).toMatchObject(CANCELLED);
    expect(run.effects()).toEqual({ a: 1 });
  });

  test.each([
    ['leave:undo-b', { a: 1, b: 1, 'undo-b': 2, 'undo-a': 1 }],
    ['after:node-completed', { a: 1, b: 1, 'undo-b': 1, 'undo-a': 1 }],
  ])('B125: a retry-safe undo, killed %s, goes on and is not skipped', async (kill, effects) => {
    const run = killedRun('undo', { retrySafe: true });
    await run.work({ acts: ['start', 'run', 'cancel'] });
    await run.killed({ acts: ['run'], kill });
    expect((await run.work({ acts: RECOVER }))[0]).toMatchObject(CANCELLED);
    expect(run.effects()).toEqual(effects);
    expectSound(await run.events());
  });

  test('an undo that is not retry-safe is asked about', async () => {
    const run = killedRun('undo', { retrySafe: false });
    await run.work({ acts: ['start', 'run', 'cancel'] });
    await run.killed({ acts: ['run'], kill: 'leave:undo-b' });
    const [paused, , result] = await run.work({ acts: ['host', 'retry-all', 'host'] });
    expect(paused).toMatchObject({ pauses: [{ request: { kind: 'reconcile-attempt' } }] });
    expect(result).toMatchObject(CANCELLED);
    expect(run.effects()).toEqual({ a: 1, b: 1, 'undo-b': 2, 'undo-a': 1 });
    expectSound(await run.events());
  });
});

describe.concurrent('under a lease', () => {
  test('the lease of a killed process on this machine is taken over at once', async () => {
    const run = killedRun('pair', { retrySafe: true });
    await run.killed({ acts: ['start', 'drive'], kill: 'leave:a' });
    expect(await run.work({ acts: ['drive'] })).toEqual([{ ...PAIR_DONE, runId: 'r1' }]);
    expect(run.effects()).toEqual({ a: 2, b: 1 });
    expectSound(await run.events());
  });

  test.each(['after:run-finished', 'before:run-started#2', 'after:run-started#2'])(
    'a run that continues as new, killed %s: its successor is started once',
    async (kill) => {
      const run = killedRun('successors');
      await run.killed({ acts: ['start', 'drive'], kill });
      const [driven] = await run.work({ acts: ['drive'] });
      expect(driven).toMatchObject({ kind: 'complete', runId: 'r1.c3' });
      expect(run.effects()).toEqual({ 'count 1': 1, 'count 2': 1, 'count 3': 1 });
    },
  );
});
