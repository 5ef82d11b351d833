/** Seed 002, "Check the engines": pauses, stops, and new processes. */
import {
  dataNode,
  type GraphExecutor,
  interruptRunPreflight,
  type RunResult,
  readRunPreflight,
  verifyRun,
  waitNode,
} from 'holdfast';
import { createFakeClock } from 'holdfast/testing';
import { describe, expect, test } from 'vitest';
import { gate } from '../executor/world.ts';
import { failing, pauseOf, payloads, RUN, STREAM, seatedAt, targetOf, worldOf } from './world.ts';

const A = 'cli/p/a';
const OTHER = 'api/q/b';
const ONE = { lanes: { one: { targets: [A] } } } as const;

/** The checks of a run that has ended before they were done. */
const NEVER_DONE = { phase: 'pending', pause: null, unfinishedProbeEventId: null };

describe('resuming a pause of the engine checks', () => {
  test('static, live not ready, pause; resume, static, live ready, the one node', async () => {
    const world = await worldOf(ONE, { [A]: { live: [failing('transient', 'not ready')] } });
    const pause = pauseOf(await (await world.open()).run());
    expect(payloads(await world.events(), 'graph:node-dispatched')).toEqual([]);
    world.script({});
    const result = await (await world.open()).resume(pause);
    expect(result).toMatchObject({ kind: 'complete' });
    expect(world.calls).toEqual([
      `static ${A} one`,
      `live ${A}`,
      `static ${A} one`,
      `live ${A}`,
      `ordinary ${A} one`,
    ]);
    expect(await readRunPreflight(world.storage, RUN)).toMatchObject({
      phase: 'admitted',
      pause: null,
      resumedPreflightEventId: pause.preflightEventId,
      unfinishedProbeEventId: null,
    });
  });

  test('the same executor repeats no static check that went well', async () => {
    const world = await worldOf(ONE, { [A]: { live: [failing('transient'), 'ready'] } });
    const executor = await world.open();
    await executor.resume(pauseOf(await executor.run()));
    expect(world.calls).toEqual([`static ${A} one`, `live ${A}`, `live ${A}`, `ordinary ${A} one`]);
  });

  test('live answers of an earlier process are reused, its identities expected', async () => {
    const expected: unknown[] = [];
    const world = await worldOf(
      { lanes: { one: { targets: [A] }, two: { targets: [OTHER] } } },
      { [A]: { version: '1.2.3' }, [OTHER]: { live: [failing('rate-limit')] } },
    );
    const pause = pauseOf(await (await world.open()).run());
    world.calls.length = 0;
    world.script({
      [A]: {
        version: '1.2.3',
        admit: (_request, _signal, saved) => {
          expected.push(saved);
          return seatedAt(A, '1.2.3');
        },
      },
    });
    expect(await (await world.open()).resume(pause)).toMatchObject({ kind: 'complete' });
    expect(expected).toEqual([seatedAt(A, '1.2.3')]);
    expect(world.calls.filter((call) => call.startsWith('live'))).toEqual([`live ${OTHER}`]);
  });

  test('an engine that has changed pauses the run until it is the saved one again', async () => {
    const world = await worldOf(
      { ...ONE, functions: { wait: waitNode({ kind: 'approval', prompt: 'Go on?' }) } },
      { [A]: { version: '1.2.3' } },
    );
    const waiting = await (await world.open()).run();
    expect(waiting).toMatchObject({ kind: 'pause', pauses: [{ nodeId: 'wait' }] });
    world.script({ [A]: { version: '2.0.0' } });
    const changed = await (await world.open()).run();
    expect(changed).toMatchObject({
      code: 'PREFLIGHT_PAUSED',
      reason: expect.stringContaining('adapterVersion is 2.0.0, not 1.2.3'),
    });
    expect(await (await world.open()).resume(pauseOf(changed))).toMatchObject({
      code: 'PREFLIGHT_PAUSED',
    });
    world.script({ [A]: { version: '1.2.3' } });
    const again = await (await world.open()).run();
    expect(await (await world.open()).resume(pauseOf(again))).toEqual(waiting);
    expect(await readRunPreflight(world.storage, RUN)).toMatchObject({ phase: 'admitted' });
  });

  test('a stale or invented id is refused, naming both, and ends no pause', async () => {
    const world = await worldOf(ONE, { [A]: { live: [failing('transient')] } });
    const first = pauseOf(await (await world.open()).run());
    const second = pauseOf(await (await world.open()).resume(first));
    for (const stale of [first.preflightEventId, 'invented']) {
      await expect((await world.open()).resume({ preflightEventId: stale })).rejects.toMatchObject({
        code: 'RESUME_EVENT_MISMATCH',
        details: { named: stale, open: second.preflightEventId },
      });
    }
    expect(pauseOf(await (await world.open()).run())).toEqual(second);
  });

  test('an ended pause, an ended run and a plan without checks have none to end', async () => {
    const world = await worldOf(ONE, { [A]: { live: [failing('transient'), 'ready'] } });
    const executor = await world.open();
    const pause = pauseOf(await executor.run());
    await executor.resume(pause);
    const mismatch = { code: 'RESUME_EVENT_MISMATCH' };
    await expect(executor.resume(pause)).rejects.toMatchObject(mismatch);
    await expect((await world.open()).resume(pause)).rejects.toMatchObject(mismatch);
    const unchecked = await worldOf({ ...ONE, isUnchecked: true });
    await expect((await unchecked.open()).resume(pause)).rejects.toMatchObject(mismatch);
  });

  test('only an object with exactly that one own key is taken for a pause', async () => {
    const world = await worldOf(ONE, { [A]: { live: [failing('transient')] } });
    const executor = await world.open();
    const pause = pauseOf(await executor.run());
    const hidden = Object.defineProperty({ ...pause }, 'position', {
      value: 'x',
      enumerable: false,
    });
    const odd = [
      {},
      { ...pause, position: 'dag/one/1' },
      { ...pause, [Symbol('more')]: 1 },
      hidden,
      Object.create(pause),
      { preflightEventId: 1 },
      null,
    ];
    for (const target of odd) {
      await expect(executor.resume(target as never)).rejects.toMatchObject({
        code: 'INVALID_OPTION',
      });
    }
    expect(pauseOf(await executor.run())).toEqual(pause);
  });
});

describe('a new process of an admitted run', () => {
  test('checks every seat statically once, calls none live, and repeats nothing', async () => {
    const world = await worldOf({
      ...ONE,
      functions: { wait: waitNode({ kind: 'approval', prompt: 'Go on?' }) },
    });
    const executor = await world.open();
    const waiting = await executor.run();
    expect(await executor.run()).toEqual(waiting);
    expect(world.calls).toEqual([`static ${A} one`, `live ${A}`]);
    const fresh = await world.open();
    const [pause] = await fresh.pauses();
    await fresh.answer(pause?.pauseId ?? '', { decision: 'approved' }, { by: 'ada' });
    expect(await fresh.run()).toMatchObject({ kind: 'complete' });
    expect(world.calls.slice(2)).toEqual([`static ${A} one`, `ordinary ${A} one`]);
    expect(await (await world.open()).run()).toMatchObject({ kind: 'complete' });
    expect(world.calls).toHaveLength(4);
    await verifyRun(world.storage, { runId: RUN, graph: world.graph });
  });

  test('positions that a dead process left are resumed behind the checks', async () => {
    const entered = gate();
    let runs = 0;
    const world = await worldOf({
      ...ONE,
      functions: {
        first: dataNode(
          () => {
            runs += 1;
            entered.open();
            return runs === 1 ? new Promise(() => {}) : 'again';
          },
          { retrySafe: true },
        ),
      },
    });
    void (await world.open()).run().catch(() => undefined);
    await entered.opened;
    const fresh = await world.open();
    const waiting = await fresh.run();
    expect(waiting).toMatchObject({ kind: 'waiting', positions: ['dag/first/1'] });
    expect(await fresh.resume('dag/first/1')).toMatchObject({ kind: 'complete' });
    expect(runs).toBe(2);
    expect(world.calls).toEqual([
      `static ${A} one`,
      `live ${A}`,
      `static ${A} one`,
      `ordinary ${A} one`,
    ]);
  });
});

describe('stopping during a check', () => {
  test('a halt interrupts the check, rejects as aborted, and leaves a pause', async () => {
    const { world, running, halt, asked } = await hanging();
    await asked;
    halt.abort();
    await expect(running).rejects.toMatchObject({ code: 'ABORTED' });
    const [end] = payloads(await world.events(), 'preflight:probe-finished').slice(-1);
    expect(end?.['outcome']).toMatchObject({ kind: 'interrupted', usage: { kind: 'unknown' } });
    const pause = pauseOf(await (await world.open()).run());
    world.script({});
    expect(await (await world.open()).resume(pause)).toMatchObject({ kind: 'complete' });
  });

  test('a cancel interrupts the check and ends the run', async () => {
    const { world, executor, running, asked } = await hanging();
    await asked;
    await executor.cancel({ by: 'ada', reason: 'enough' });
    expect(await running).toMatchObject({ kind: 'fail', code: 'CANCELLED' });
    expect((await world.types()).slice(-3)).toEqual([
      'preflight:probe-finished',
      'preflight:paused',
      'graph:run-finished',
    ]);
    const [end] = payloads(await world.events(), 'preflight:probe-finished').slice(-1);
    expect(end?.['outcome']).toMatchObject({ kind: 'interrupted' });
    expect((await (await world.open()).view()).status).toBe('cancelled');
    expect(await readRunPreflight(world.storage, RUN)).toMatchObject(NEVER_DONE);
    await verifyRun(world.storage, { runId: RUN, graph: world.graph });
  });

  test('a run that waits for its checks to be resumed can be cancelled', async () => {
    const world = await worldOf(ONE, { [A]: { live: [failing('transient')] } });
    const executor = await world.open();
    const pause = pauseOf(await executor.run());
    await executor.cancel({ by: 'ada', reason: 'enough' });
    expect(await executor.run()).toMatchObject({ kind: 'fail', code: 'CANCELLED' });
    expect(world.calls).toHaveLength(2);
    expect(await readRunPreflight(world.storage, RUN)).toMatchObject(NEVER_DONE);
    await expect((await world.open()).resume(pause)).rejects.toMatchObject({
      code: 'RESUME_EVENT_MISMATCH',
      details: { named: pause.preflightEventId, open: null },
    });
  });

  test('a cancelled run ends, though a dead process has left a check open', async () => {
    const { world, asked } = await hanging();
    await asked;
    const fresh = await world.open();
    await fresh.cancel({ by: 'ada', reason: 'enough' });
    expect(await fresh.run()).toMatchObject({ kind: 'fail', code: 'CANCELLED' });
    expect(await interruptRunPreflight(world.storage, RUN)).toBeNull();
    expect((await world.types()).at(-1)).toBe('graph:run-finished');
    expect(await readRunPreflight(world.storage, RUN)).toMatchObject(NEVER_DONE);
  });

  test('a shutdown lets the check end and begins no other', async () => {
    const answered = gate<string>();
    const { world, executor, running, asked } = await hanging(() => answered.opened, {
      lanes: { one: { targets: [A] }, two: { targets: [OTHER] } },
    });
    await asked;
    const down = executor.shutdown();
    answered.open('ready');
    await down;
    expect(await running).toEqual({ kind: 'waiting', positions: [] });
    expect(world.calls.filter((call) => call.startsWith('live'))).toEqual([`live ${A}`]);
    expect(await (await world.open()).run()).toMatchObject({ kind: 'complete' });
    expect(world.calls.filter((call) => call.startsWith('live'))).toEqual([
      `live ${A}`,
      `live ${OTHER}`,
    ]);
  });

  test('a signal that comes during a check is recorded at once, and nothing is lost', async () => {
    const answered = gate<string>();
    const { world, executor, running, asked } = await hanging(() => answered.opened, {
      ...ONE,
      functions: { wait: waitNode({ kind: 'signal', name: 'go' }) },
    });
    await asked;
    await executor.signal('go', 'now', { signalId: 's1' });
    expect((await world.types()).at(-1)).toBe('graph:signal-received');
    answered.open('ready');
    expect(await running).toMatchObject({ kind: 'complete' });
  });
});

describe('engines that do not keep to their time', () => {
  test('a static check that ignores its signal ends at its time for good', async () => {
    const clock = createFakeClock();
    const late = gate<ReturnType<typeof seatedAt>>();
    const asked = gate();
    const world = await worldOf(
      { ...ONE, timeoutMs: 1_000 },
      {
        [A]: {
          admit: () => {
            asked.open();
            return late.opened;
          },
        },
      },
    );
    const deaf = world.engines[A];
    const executor = await world.open({
      clock,
      engines: [
        {
          target: targetOf(A),
          engine: {
            name: 'deaf',
            admit: async () => {
              asked.open();
              return late.opened;
            },
            run: async (...args) => deaf?.run(...args) as never,
          },
        },
      ],
    });
    const running = executor.run();
    await clock.advance(0);
    await asked.opened;
    await clock.advance(1_001);
    expect(await over(running, clock)).toMatchObject({
      reason: expect.stringContaining('timeout'),
    });
    const types = await world.types();
    late.open(seatedAt(A));
    await clock.runUntilIdle();
    expect(await world.types()).toEqual(types);
  });

  test('a live check that ignores its signal ends soon after its time', async () => {
    const clock = createFakeClock();
    const asked = gate();
    const world = await worldOf({ ...ONE, timeoutMs: 1_000 });
    const executor = await world.open({
      clock,
      engines: [
        {
          target: targetOf(A),
          engine: {
            name: 'deaf',
            admit: async () => seatedAt(A),
            run: () => {
              asked.open();
              return new Promise(() => {});
            },
          },
        },
      ],
    });
    const running = executor.run();
    await clock.advance(0);
    await asked.opened;
    await clock.advance(6_001);
    expect(await over(running, clock)).toMatchObject({
      reason: expect.stringContaining('timeout'),
    });
  });
});

describe('a check that nobody has ended', () => {
  test('it is refused until it is interrupted, and then it is a pause like any other', async () => {
    const { world, asked } = await hanging();
    await asked;
    const { unfinishedProbeEventId } = await readRunPreflight(world.storage, RUN);
    expect(unfinishedProbeEventId).not.toBeNull();
    world.script({});
    await expect((await world.open()).run()).rejects.toMatchObject({
      code: 'PROTOCOL',
      message: expect.stringContaining(unfinishedProbeEventId ?? '?'),
    });
    const pause = await interruptRunPreflight(world.storage, RUN);
    expect(pause).toMatchObject({ reason: 'interrupted', laneId: 'one' });
    expect(await interruptRunPreflight(world.storage, RUN)).toEqual(pause);
    expect(await world.storage.runIndex.get(RUN)).toMatchObject({ status: 'paused' });
    const { preflightEventId = '' } = pause ?? {};
    expect(await (await world.open()).run()).toMatchObject({ preflightEventId });
    expect(await (await world.open()).resume({ preflightEventId })).toMatchObject({
      kind: 'complete',
    });
    expect(await interruptRunPreflight(world.storage, RUN)).toBeNull();
  });

  test('the process that was taken for dead stops when its check ends after all', async () => {
    const answered = gate<string>();
    const { world, running, asked } = await hanging(() => answered.opened);
    await asked;
    await interruptRunPreflight(world.storage, RUN);
    answered.open('ready');
    await expect(running).rejects.toMatchObject({ code: 'OWNERSHIP_LOST' });
    expect(payloads(await world.events(), 'graph:node-dispatched')).toEqual([]);
  });

  test('a run without an open check has nothing to interrupt', async () => {
    const world = await worldOf(ONE);
    expect(await interruptRunPreflight(world.storage, RUN)).toBeNull();
    await (await world.open()).run();
    expect(await interruptRunPreflight(world.storage, RUN)).toBeNull();
    for await (const { type } of world.storage.eventStore.read(STREAM)) {
      expect(type).not.toBe('preflight:paused');
    }
  });
});

/** A run whose live check of `A` does not answer by itself. */
async function hanging(
  live: () => Promise<string> = () => new Promise(() => {}),
  shape: Parameters<typeof worldOf>[0] = ONE,
) {
  const asked = gate();
  const world = await worldOf(shape, {
    [A]: {
      live: [
        () => {
          asked.open();
          return live();
        },
      ],
    },
  });
  const executor: GraphExecutor = await world.open();
  const halt = new AbortController();
  const running = executor.run(halt.signal);
  // Some tests leave it behind, as a dead process would.
  running.catch(() => undefined);
  return { world, executor, running, halt, asked: asked.opened };
}

/** The result, for which a fake clock has to turn. */
async function over(
  running: Promise<RunResult>,
  clock: ReturnType<typeof createFakeClock>,
): Promise<RunResult> {
  let result: RunResult | null = null;
  void running.then((found) => {
    result = found;
  });
  for (let turns = 0; turns < 20 && result === null; turns += 1) await clock.advance(0);
  if (result === null) throw new Error('The run is not over.');
  return result;
}
