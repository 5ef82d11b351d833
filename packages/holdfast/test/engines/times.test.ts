/** Engines whose time is over, or that are told to stop. Issue 3, outcomes. */
import {
  type AgentResult,
  createTokenBudget,
  type Engine,
  EngineError,
  engineNode,
} from 'holdfast';
import { describe, expect, it } from 'vitest';
import { gate } from '../executor/world.ts';
import { handClock } from '../scenarios/world.ts';
import { answer, asked, big, oneCall, oneReply, passing } from './one-call.ts';
import { laneWorld, target } from './world.ts';

type Late = ReturnType<typeof gate<AgentResult | Promise<never>>>;

describe('an engine whose time is over', () => {
  const times = { timeoutMs: 1_000, graceMs: 100 };

  it('is recorded as TIMEOUT when it never settles, and its late answer is not', async () => {
    const clock = handClock();
    const late = gate<AgentResult>();
    const world = await oneCall(() => late.opened, times);
    const running = (await world.open({ clock })).run();
    await passing(clock, 1_099);
    expect(await world.types()).not.toContain('node-failed');
    await passing(clock, 1);
    expect(await running).toMatchObject({ kind: 'fail' });
    late.open(answer('too late'));
    await clock.rest();
    expect(await world.only('node-failed')).toMatchObject({ code: 'TIMEOUT', retryable: false });
    expect(await world.only('engine-attempt-recorded')).toEqual({
      nodeId: 'a',
      position: 'dag/a/1',
      sequence: 1,
      requested: asked,
      effective: null,
      usage: { kind: 'unknown' },
      failure: 'timeout',
    });
    expect(await world.types()).not.toContain('node-completed');
  });

  it.each([
    ['answers', (late: Late) => late.open(answer('too late'))],
    [
      'fails',
      (late: Late) => late.open(Promise.reject(new EngineError({ kind: 'auth', message: 'no' }))),
    ],
  ] as const)('that %s before its end is recorded is too late all the same', async (_how, end) => {
    const clock = handClock();
    const late: Late = gate();
    const tokenBudget = createTokenBudget(1_000);
    const world = await oneCall(() => late.opened as Promise<AgentResult>, {
      ...times,
      tokenBudget,
    });
    const running = (await world.open({ clock })).run();
    await passing(clock, 1_000);
    clock.pass(100);
    end(late);
    await running;
    expect(await world.only('node-failed')).toMatchObject({ code: 'TIMEOUT' });
    expect(await world.only('engine-attempt-recorded')).toMatchObject({
      usage: { kind: 'unknown' },
      failure: 'timeout',
    });
    expect(tokenBudget.snapshot()).toMatchObject({ calls: 1, unknownUsageCalls: 1 });
  });

  it.each([50, 200])('is not called at all by a prompt that comes %i ms late', async (ms) => {
    const clock = handClock();
    const late = gate<string>();
    let calls = 0;
    const run: Engine['run'] = async () => {
      calls += 1;
      return answer('x');
    };
    const world = await oneCall(run, { ...times, prompt: () => late.opened });
    const running = (await world.open({ clock })).run();
    await passing(clock, 1_000);
    await passing(clock, ms);
    late.open('hi');
    expect(await running).toMatchObject({ kind: 'fail' });
    await clock.rest();
    expect(await world.only('node-failed')).toMatchObject({ code: 'TIMEOUT' });
    expect(await world.types()).not.toContain('engine-attempt-recorded');
    expect(calls).toBe(0);
  });

  it('may be tried again after it never settled only if its node is retry-safe', async () => {
    const clock = handClock();
    const world = await oneCall(() => new Promise(() => {}), { ...times, retrySafe: true });
    const running = (await world.open({ clock })).run();
    await passing(clock, 1_100);
    await running;
    expect(await world.only('node-failed')).toMatchObject({ code: 'TIMEOUT', retryable: true });
  });

  it('is recorded as TIMEOUT when it obeys, with what it says it has used', async () => {
    const clock = handClock();
    const usage = { kind: 'reported', inputTokens: 7, outputTokens: 0 } as const;
    const obeys: Engine['run'] = (_request, _onEvent, signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () =>
          reject(new EngineError({ kind: 'aborted', message: 'stopped', usage })),
        );
      });
    const world = await oneCall(obeys, times);
    const running = (await world.open({ clock })).run();
    await passing(clock, 1_000);
    await running;
    expect(await world.only('node-failed')).toMatchObject({ code: 'TIMEOUT', retryable: true });
    expect(await world.only('engine-attempt-recorded')).toMatchObject({
      usage,
      failure: 'aborted',
    });
  });

  it('counts when it ignores the abort and answers within its grace', async () => {
    const clock = handClock();
    const late = gate<AgentResult>();
    const world = await oneCall(() => late.opened, times);
    const running = (await world.open({ clock })).run();
    await passing(clock, 1_050);
    late.open(answer('just in time'));
    expect(await running).toMatchObject({ output: { nodes: { a: 'just in time' } } });
    expect(await world.only('engine-attempt-recorded')).not.toHaveProperty('failure');
  });

  it.each([
    ['auth', () => new EngineError({ kind: 'auth', message: 'too late' })],
    ['unknown', () => new Error('too late')],
  ] as const)(
    'that fails late (%s) proves nothing, and another try goes on',
    async (_kind, late) => {
      const clock = handClock();
      const first = gate<never>();
      const failing = first.opened.then(() => {
        throw late();
      });
      failing.catch(() => {});
      const second = gate<string>();
      const tokenBudget = createTokenBudget(1_000);
      const world = await laneWorld({
        targets: [big, target('small', { provider: 'other' })],
        responders: [],
        retries: 1,
        bindings: {
          a: engineNode({ prompt: () => 'hi', retrySafe: true, tokenBudget, ...times }),
        },
      });
      let calls = 0;
      const run: Engine['run'] = async () => {
        calls += 1;
        return calls === 1 ? failing : answer(await second.opened);
      };
      const [, fallback] = world.engines;
      const engines = [
        { target: big, engine: { name: 'own', run } },
        { target: target('small', { provider: 'other' }), engine: fallback as Engine },
      ];
      const running = (await world.open({ clock, engines })).run();
      await passing(clock, 1_100);
      expect(calls).toBe(2);
      first.open(undefined as never);
      await clock.rest();
      second.open('fine');
      expect(await running).toMatchObject({ output: { nodes: { a: 'fine' } } });
      expect(await world.types()).not.toContain('model-unavailable');
      expect(await world.payloads('engine-attempt-recorded')).toMatchObject([
        { position: 'dag/a/1', failure: 'timeout', usage: { kind: 'unknown' } },
        { position: 'dag/a/2', usage: { kind: 'reported' } },
      ]);
      expect(fallback?.calls).toEqual([]);
      expect(tokenBudget.snapshot()).toMatchObject({ calls: 2, unknownUsageCalls: 1 });
    },
  );

  it('is told how much time the attempt has left', async () => {
    const { world } = await oneReply(() => 'fine', { timeoutMs: 5_000, graceMs: 70 });
    const [call] = world.engines[0]?.calls ?? [];
    expect(call).toMatchObject({ timeoutGraceMs: 70 });
    expect(call?.timeoutMs).toBeGreaterThan(4_000);
    expect(call?.timeoutMs).toBeLessThanOrEqual(5_000);
  });

  it('waits ten minutes for an engine when nothing else is said', async () => {
    const clock = handClock();
    const world = await oneCall(() => new Promise(() => {}), { graceMs: 0 });
    const running = (await world.open({ clock })).run();
    await passing(clock, 10 * 60_000 - 1);
    expect(await world.types()).not.toContain('node-failed');
    await passing(clock, 1);
    expect(await running).toMatchObject({ kind: 'fail' });
  });
});

describe('an engine that is told to stop', () => {
  const hold = () => {
    const called = gate();
    const told = gate();
    const run: Engine['run'] = (_request, _onEvent, signal) => {
      called.open();
      return new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          told.open();
          reject(signal.reason);
        });
      });
    };
    return { called: called.opened, told: told.opened, run };
  };

  it('is recorded as ABORTED by a halt', async () => {
    const { called, run } = hold();
    const world = await oneCall(run);
    const halt = new AbortController();
    const running = (await world.open()).run(halt.signal);
    await called;
    halt.abort();
    await expect(running).rejects.toMatchObject({ code: 'ABORTED' });
    expect(await world.only('node-failed')).toMatchObject({ code: 'ABORTED', retryable: false });
    expect(await world.only('engine-attempt-recorded')).toMatchObject({ failure: 'aborted' });
  });

  it('is recorded as ABORTED by a cancel, and the run ends', async () => {
    const { called, run } = hold();
    const world = await oneCall(run);
    const executor = await world.open();
    const running = executor.run();
    await called;
    await executor.cancel({ by: 'ada', reason: 'enough' });
    expect(await running).toMatchObject({ kind: 'fail', code: 'CANCELLED' });
    expect(await world.only('node-failed')).toMatchObject({ code: 'ABORTED' });
    expect(await world.only('node-failed')).not.toHaveProperty('abandoned');
  });

  it('keeps an answer that it gives within the grace of a halt', async () => {
    const called = gate();
    const late = gate<AgentResult>();
    const world = await oneCall(() => {
      called.open();
      return late.opened;
    });
    const halt = new AbortController();
    const running = (await world.open()).run(halt.signal);
    await called.opened;
    halt.abort();
    late.open(answer('finished anyway'));
    await expect(running).rejects.toMatchObject({ code: 'ABORTED' });
    expect(await world.only('node-completed')).toMatchObject({ result: 'finished anyway' });
  });

  it('leaves nothing behind when it ignores a halt: the next process decides', async () => {
    const clock = handClock();
    const called = gate();
    const run: Engine['run'] = () => {
      called.open();
      return new Promise(() => {});
    };
    const world = await oneCall(run, { graceMs: 100 });
    const halt = new AbortController();
    const running = (await world.open({ clock })).run(halt.signal);
    await clock.rest();
    await called.opened;
    halt.abort();
    const ended = expect(running).rejects.toMatchObject({ code: 'ABORTED' });
    await passing(clock, 100);
    await ended;
    expect((await world.types()).at(-1)).toBe('node-attempt-started');
    expect(await (await world.open()).run()).toMatchObject({
      kind: 'waiting',
      positions: ['dag/a/1'],
    });
  });

  it('is abandoned when it ignores a cancel, with a receipt of unknown usage', async () => {
    const clock = handClock();
    const called = gate();
    const run: Engine['run'] = () => {
      called.open();
      return new Promise(() => {});
    };
    const world = await oneCall(run, { graceMs: 100 });
    const executor = await world.open({ clock });
    const running = executor.run();
    await clock.rest();
    await called.opened;
    const cancelled = executor.cancel({ by: 'ada', reason: 'enough' });
    await passing(clock, 100);
    await cancelled;
    expect(await running).toMatchObject({ code: 'CANCELLED' });
    expect(await world.only('node-failed')).toMatchObject({ code: 'ABORTED', abandoned: true });
    expect(await world.only('engine-attempt-recorded')).toMatchObject({
      requested: asked,
      usage: { kind: 'unknown' },
      failure: 'aborted',
    });
  });
});
