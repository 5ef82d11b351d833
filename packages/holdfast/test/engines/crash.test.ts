/** A process that dies with an engine call in flight, and the one that goes on. Issue 3. */
import {
  type AgentResult,
  createTokenBudget,
  EngineError,
  engineNode,
  type MockResponder,
  type Reconciliation,
} from 'holdfast';
import { describe, expect, it, test } from 'vitest';
import { gate } from '../executor/world.ts';
import { type LaneWorld, laneWorld, target } from './world.ts';

const big = target('big');
const small = target('small', { provider: 'other' });
const interrupted = {
  nodeId: 'a',
  position: 'dag/a/1',
  requested: null,
  effective: null,
  usage: { kind: 'unknown' },
};

/** Answers from the second call on; the first one never ends. */
function hangsOnce() {
  const called = gate();
  const responder: MockResponder = (_request, { index }) => {
    if (index > 0) return 'fine';
    called.open();
    return new Promise(() => {});
  };
  return { responder, called: called.opened };
}

/** A run whose process died while the engine of `a` was called. */
async function died(options: { readonly retrySafe?: boolean } = {}) {
  const { responder, called } = hangsOnce();
  const world = await laneWorld({
    targets: [big],
    responders: [responder],
    nodes: ['a', 'b'],
    bindings: { a: engineNode({ prompt: () => 'hi', ...options }) },
  });
  void (await world.open()).run().catch(() => {});
  await called;
  return world;
}

const attemptsOf = ({ engines }: LaneWorld) =>
  engines.flatMap(({ calls }) => calls.map(({ attempt }) => attempt?.attemptId));

describe('a call that was in flight', () => {
  it('of a retry-safe node is recorded as unknown, and the same attempt calls again', async () => {
    const world = await died({ retrySafe: true });
    const next = await world.open();
    expect(await next.run()).toEqual({ kind: 'waiting', positions: ['dag/a/1'] });
    expect(await next.resume('dag/a/1')).toMatchObject({ kind: 'complete' });
    const receipts = (await world.payloads('engine-attempt-recorded')).slice(0, 2);
    expect(receipts).toEqual([
      { ...interrupted, sequence: 1 },
      expect.objectContaining({ sequence: 2, requested: expect.anything() }),
    ]);
    expect((await world.types()).slice(3, 7)).toEqual([
      'engine-attempt-recorded',
      'node-resumed',
      'engine-attempt-recorded',
      'node-completed',
    ]);
    const [first, second] = attemptsOf(world);
    expect(second).toBe(first);
  });

  it('of any other node is recorded as unknown, and somebody is asked', async () => {
    const world = await died();
    const result = await (await world.open()).resume('dag/a/1');
    expect(result).toMatchObject({
      kind: 'pause',
      pauses: [{ request: { kind: 'reconcile-attempt', attemptId: attemptsOf(world)[0] } }],
    });
    expect((await world.types()).slice(3)).toEqual(['engine-attempt-recorded', 'node-paused']);
    expect(await world.payloads('engine-attempt-recorded')).toEqual([
      { ...interrupted, sequence: 1 },
    ]);
    expect(attemptsOf(world)).toHaveLength(1);
  });

  const by = { by: 'ada', reason: 'looked at the bill' };
  it.each<[Reconciliation, number, object]>([
    [{ kind: 'completed', result: 'by hand', ...by }, 1, { output: { nodes: { a: 'by hand' } } }],
    [{ kind: 'retry', ...by }, 2, { output: { nodes: { a: 'fine' } } }],
    [{ kind: 'failed', code: 'NO_ANSWER', ...by }, 1, { kind: 'fail' }],
  ])('is settled by what a person says: %o', async (said, calls, result) => {
    const world = await died();
    const paused = await (await world.open()).resume('dag/a/1');
    const [pause] = paused.kind === 'pause' ? paused.pauses : [];
    const other = await world.open();
    await other.reconcile(pause?.pauseId ?? '', said);
    expect(await (await world.open()).run()).toMatchObject(result);
    const ofA = attemptsOf(world).filter((each) => each === attemptsOf(world)[0]);
    expect(ofA).toHaveLength(calls);
    const [failed] = await world.payloads('node-failed');
    expect(failed?.['code']).toBe(said.kind === 'failed' ? 'NO_ANSWER' : undefined);
  });

  it('is recorded once, however often processes open the run', async () => {
    const world = await died();
    for (let process = 0; process < 3; process += 1) await (await world.open()).run();
    await (await world.open()).resume('dag/a/1');
    for (let process = 0; process < 3; process += 1) await (await world.open()).run();
    expect(await world.payloads('engine-attempt-recorded')).toHaveLength(1);
  });

  it('is recorded as unknown too when the next process only cancels the run', async () => {
    const world = await died();
    const next = await world.open();
    await next.cancel({ by: 'ada', reason: 'enough' });
    expect(await next.run()).toMatchObject({ kind: 'fail', code: 'CANCELLED' });
    expect(await world.payloads('engine-attempt-recorded')).toEqual([
      { ...interrupted, sequence: 1 },
    ]);
    expect(await world.payloads('node-failed')).toMatchObject([
      { code: 'ABORTED', abandoned: true },
    ]);
  });

  it('is recorded once when the run is cancelled after somebody was asked', async () => {
    const world = await died();
    const next = await world.open();
    await next.resume('dag/a/1');
    await next.cancel({ by: 'ada', reason: 'enough' });
    expect(await next.run()).toMatchObject({ kind: 'fail', code: 'CANCELLED' });
    expect(await world.payloads('engine-attempt-recorded')).toHaveLength(1);
  });

  it('to the fallback leaves the dead target dead: the next process calls it no more', async () => {
    const { responder, called } = hangsOnce();
    const world = await laneWorld({
      targets: [big, small],
      responders: [
        () => {
          throw new EngineError({ kind: 'auth', message: 'no' });
        },
        responder,
      ],
      bindings: { a: engineNode({ prompt: () => 'hi', retrySafe: true }) },
    });
    void (await world.open()).run().catch(() => {});
    await called;
    expect(await (await world.open()).resume('dag/a/1')).toMatchObject({
      output: { nodes: { a: 'fine' } },
    });
    const receipts = await world.payloads('engine-attempt-recorded');
    expect(receipts.map(({ sequence, failure }) => [sequence, failure])).toEqual([
      [1, 'auth'],
      [2, undefined],
      [3, undefined],
    ]);
    expect(world.engines.map(({ calls }) => calls.length)).toEqual([1, 2]);
  });

  it('answers too late for a process that was taken for dead: the answer is dropped', async () => {
    const late = gate<string>();
    const called = gate();
    const world = await laneWorld({
      targets: [big],
      responders: [
        (_request, { index }) => {
          if (index > 0) return 'second';
          called.open();
          return late.opened;
        },
      ],
      bindings: { a: engineNode({ prompt: () => 'hi', retrySafe: true }) },
    });
    const first = (await world.open()).run();
    const lost = expect(first).rejects.toMatchObject({ code: 'OWNERSHIP_LOST' });
    await called.opened;
    const result = await (await world.open()).resume('dag/a/1');
    late.open('first');
    await lost;
    expect(result).toMatchObject({ output: { nodes: { a: 'second' } } });
    expect(await world.payloads('node-completed')).toMatchObject([{ result: 'second' }]);
  });
});

describe('a token budget', () => {
  /** Nodes `a`, `b` … that use 15 tokens each under one budget, made anew in every process. */
  async function spending(
    budgetOf: () => ReturnType<typeof createTokenBudget>,
    options: { readonly nodes?: readonly string[]; readonly usage?: AgentResult['usage'] } = {},
  ) {
    const { nodes = ['a', 'b', 'c', 'd'], usage } = options;
    const halt = new AbortController();
    const halted = { after: Number.POSITIVE_INFINITY };
    const world = await laneWorld({
      targets: [big],
      nodes,
      responders: [
        (_request, { index }) => {
          if (index + 1 === halted.after) halt.abort();
          return usage === undefined ? 'fine' : { text: 'fine', usage };
        },
      ],
    });
    const open = async () => {
      const tokenBudget = budgetOf();
      const bound = Object.fromEntries(
        nodes.map((id) => [id, engineNode({ prompt: () => id, tokenBudget })]),
      );
      const engine = world.engines[0] as NonNullable<(typeof world.engines)[0]>;
      const engines = [{ target: big, engine, hardTokenLimitEnforceable: true }];
      return { tokenBudget, executor: await world.open({ nodes: bound, engines }) };
    };
    /** Runs in a process that stops during its call of this number. */
    const stopsAfter = async (calls: number) => {
      halted.after = calls;
      const { executor } = await open();
      await executor.run(halt.signal).catch(() => {});
    };
    return { world, open, stopsAfter };
  }

  it('refuses when it is used up, as an ordinary failure of the node', async () => {
    const { world, open } = await spending(() => createTokenBudget(40));
    const { executor, tokenBudget } = await open();
    expect(await executor.run()).toMatchObject({ kind: 'fail' });
    expect(world.engines[0]?.calls).toHaveLength(3);
    expect(tokenBudget.snapshot()).toMatchObject({ usedTokens: 45, reservedTokens: 0 });
    const [failed] = await world.payloads('node-failed');
    expect(failed).toMatchObject({ nodeId: 'd', code: 'TOKEN_BUDGET', retryable: false });
  });

  it('of a fresh process knows what every node of the run has used', async () => {
    const { world, open, stopsAfter } = await spending(() => createTokenBudget(40));
    await stopsAfter(2);
    const { executor, tokenBudget } = await open();
    expect(tokenBudget.snapshot().usedTokens).toBe(0);
    expect(await executor.run()).toMatchObject({ kind: 'fail' });
    expect(tokenBudget.snapshot()).toMatchObject({ usedTokens: 45, calls: 3 });
    expect(world.engines[0]?.calls).toHaveLength(3);
  });

  it('of an executor that only looked on counts what another one has used since', async () => {
    const { open, stopsAfter } = await spending(() => createTokenBudget(40));
    const { executor, tokenBudget } = await open();
    expect(await executor.pauses()).toEqual([]);
    await stopsAfter(2);
    expect(tokenBudget.snapshot().usedTokens).toBe(0);
    expect(await executor.run()).toMatchObject({ kind: 'fail' });
    expect(tokenBudget.snapshot()).toMatchObject({ usedTokens: 45, calls: 3 });
  });

  it('that is hard is closed by a call of unknown usage, also in a fresh process', async () => {
    const unknown = { kind: 'unknown' } as const;
    const hard = () => createTokenBudget(1_000, { mode: 'hard' });
    const { world, open, stopsAfter } = await spending(hard, { usage: unknown });
    await stopsAfter(1);
    const { executor, tokenBudget } = await open();
    expect(await executor.run()).toMatchObject({ kind: 'fail' });
    expect(tokenBudget.snapshot()).toMatchObject({ closed: true, unknownUsageCalls: 1 });
    const [failed] = await world.payloads('node-failed');
    expect(failed).toMatchObject({ nodeId: 'b', code: 'TOKEN_BUDGET' });
    expect(world.engines[0]?.calls).toHaveLength(1);
  });

  it('that is observed goes on after a call of unknown usage, and counts it', async () => {
    const unknown = { kind: 'unknown' } as const;
    const { open } = await spending(() => createTokenBudget(1_000), { usage: unknown });
    const { executor, tokenBudget } = await open();
    expect(await executor.run()).toMatchObject({ kind: 'complete' });
    expect(tokenBudget.snapshot()).toMatchObject({ closed: false, unknownUsageCalls: 4 });
  });

  it('that is hard counts an interrupted call as one of unknown usage', async () => {
    const { responder, called } = hangsOnce();
    const tokenBudget = () => createTokenBudget(1_000, { mode: 'hard' });
    const ask = (budget: ReturnType<typeof tokenBudget>) =>
      engineNode({ prompt: () => 'hi', retrySafe: true, tokenBudget: budget });
    const world = await laneWorld({ targets: [big], responders: [responder] });
    const [engine] = world.engines;
    const engines = [{ target: big, engine: engine as never, hardTokenLimitEnforceable: true }];
    void (await world.open({ nodes: { a: ask(tokenBudget()) }, engines })).run().catch(() => {});
    await called;
    const next = await world.open({ nodes: { a: ask(tokenBudget()) }, engines });
    expect(await next.resume('dag/a/1')).toMatchObject({ kind: 'fail' });
    expect(await world.payloads('node-failed')).toMatchObject([{ code: 'TOKEN_BUDGET' }]);
    expect(engine?.calls).toHaveLength(1);
  });

  it('that is hard fails the call of an engine that used more than it was given', async () => {
    const world = await laneWorld({
      targets: [big],
      responders: [() => 'fine'],
      bindings: {
        a: engineNode({
          prompt: () => 'hi',
          callTokens: { mode: 'hard', tokens: 10 },
          tokenBudget: createTokenBudget(1_000, { mode: 'hard' }),
        }),
      },
    });
    const [engine] = world.engines;
    const engines = [{ target: big, engine: engine as never, hardTokenLimitEnforceable: true }];
    expect(await (await world.open({ engines })).run()).toMatchObject({ kind: 'fail' });
    expect(await world.payloads('node-failed')).toMatchObject([
      {
        code: 'TOKEN_BUDGET',
        message: expect.stringMatching(/^Engine \S+ was called: .* 15 tokens/),
      },
    ]);
    expect(await world.payloads('engine-attempt-recorded')).toMatchObject([
      { usage: { inputTokens: 10, outputTokens: 5 }, effective: { model: 'big' } },
    ]);
    expect(engine?.calls).toMatchObject([{ maxTokens: 10 }]);
  });

  it('that is hard takes no engine that cannot enforce a limit', async () => {
    const tokenBudget = createTokenBudget(1_000, { mode: 'hard' });
    const world = await laneWorld({
      targets: [big],
      responders: [() => 'fine'],
      bindings: { a: engineNode({ prompt: () => 'hi', tokenBudget }) },
    });
    await (await world.open()).run();
    expect(await world.payloads('node-failed')).toMatchObject([{ code: 'TOKEN_BUDGET' }]);
    expect(world.engines[0]?.calls).toEqual([]);
  });
});

test('a call that its attempt has abandoned is counted once, as unknown', async () => {
  const tokenBudget = createTokenBudget(1_000);
  const late = gate<string>();
  const called = gate();
  const world = await laneWorld({
    targets: [big],
    responders: [],
    bindings: { a: engineNode({ prompt: () => 'hi', tokenBudget, graceMs: 0 }) },
  });
  const run = async () => {
    called.open();
    await late.opened;
    throw new Error('too late');
  };
  const executor = await world.open({ engines: [{ target: big, engine: { name: 'own', run } }] });
  const running = executor.run();
  await called.opened;
  await executor.cancel({ by: 'ada', reason: 'enough' });
  await running;
  late.open('x');
  await new Promise((resolve) => setImmediate(resolve));
  expect(tokenBudget.snapshot()).toMatchObject({
    calls: 1,
    unknownUsageCalls: 1,
    reservedTokens: 0,
  });
});
