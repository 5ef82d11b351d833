/** How a call to an engine ends, and what is recorded of each end. Issue 3, outcomes. */
import {
  type AgentResult,
  type Engine,
  EngineError,
  type EngineNodeOptions,
  engineNode,
  engineSelection,
  type JsonObject,
  type MockReply,
  type MockResponder,
  type NodeRules,
  type RunStorage,
} from 'holdfast';
import { describe, expect, it, test } from 'vitest';
import { gate } from '../executor/world.ts';
import { type HandClock, handClock } from '../scenarios/world.ts';
import { laneWorld, target } from './world.ts';

const big = target('big');
const requested = engineSelection({ ...big, capabilities: [] });
const asked = { adapter: 'mock', provider: 'acme', modelFamily: 'm', model: 'big' };
const answer = (text: string): AgentResult => ({
  parts: [{ kind: 'assistant', text, final: true }],
  usage: { kind: 'reported', inputTokens: 3, outputTokens: 4 },
  requested,
  effective: null,
});

/** Lets what is under way come to rest, and then time pass. */
async function passing(clock: HandClock, ms: number) {
  await clock.rest();
  clock.pass(ms);
  await clock.rest();
}

type Rules = Partial<EngineNodeOptions<never>> & NodeRules<never>;

/** One node on one lane of one engine. */
async function oneCall(run: Engine['run'], rules: Rules = {}, storage?: RunStorage) {
  const world = await laneWorld({
    targets: [big],
    responders: [],
    bindings: { a: engineNode({ prompt: () => 'hi', ...rules }) },
    ...(storage === undefined ? {} : { storage }),
  });
  const engines = [{ target: big, engine: { name: 'own', run } }];
  const only = async (type: string): Promise<JsonObject | undefined> => {
    const all = await world.payloads(type);
    expect(all.length, type).toBeLessThan(2);
    return all[0];
  };
  return {
    ...world,
    open: (options?: Parameters<typeof world.open>[0]) => world.open({ engines, ...options }),
    only,
  };
}

/** One node whose mock engine answers like this. */
async function oneReply(responder: MockResponder, rules: Rules = {}) {
  const world = await laneWorld({
    targets: [big],
    responders: [responder],
    bindings: { a: engineNode({ prompt: () => 'hi', ...rules }) },
  });
  const result = await (await world.open()).run();
  const [failed] = await world.payloads('node-failed');
  const [receipt] = await world.payloads('engine-attempt-recorded');
  return { world, result, failed, receipt };
}

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
      failure: 'timeout',
    });
  });
});

describe('an answer that is refused', () => {
  const reply = (given: MockReply) => () => given;
  const text = (said: string, final: boolean) =>
    ({ kind: 'assistant', text: said, final }) as const;
  const contract = {
    schema: { type: 'object' },
    validate: (value: unknown) => {
      if (value !== 'good') throw new Error('only good will do');
      return value;
    },
  };

  it.each<[string, string, MockResponder, Rules]>([
    ['over outputBytes', 'OUTPUT_LIMIT', () => 'x'.repeat(11), { outputBytes: 10 }],
    ['against its contract', 'RESULT_INVALID', () => 'bad', { resultContract: contract }],
    [
      'that parseResult cannot read',
      'RESULT_INVALID',
      () => '{"half":',
      {
        resultContract: { schema: {}, validate: (value) => value },
        parseResult: (final) => JSON.parse(final.kind === 'assistant' ? final.text : ''),
      },
    ],
    ['with two finals', 'RESULT_INVALID', reply({ parts: [text('a', true), text('b', true)] }), {}],
    ['without a final', 'RESULT_INVALID', reply({ parts: [text('a', false)] }), {}],
    ['without parts', 'RESULT_INVALID', reply({ parts: [] }), {}],
    [
      'with malformed usage',
      'RESULT_INVALID',
      reply({ text: 'a', usage: { kind: 'reported', inputTokens: -1, outputTokens: 0 } }),
      {},
    ],
    [
      'of a malformed identity',
      'RESULT_INVALID',
      reply({ text: 'a', effective: { adapter: 7 } as never }),
      {},
    ],
    ['too large for an event', 'RESULT_TOO_LARGE', () => 'x'.repeat(300_000), {}],
  ])('%s is recorded as %s, beside its receipt', async (_what, code, responder, rules) => {
    const { result, failed, receipt, world } = await oneReply(responder, rules);
    expect(result).toMatchObject({ kind: 'fail' });
    expect(failed?.['code']).toBe(code);
    expect(receipt).toMatchObject({ requested: asked, sequence: 1 });
    expect(await world.types()).not.toContain('node-completed');
  });

  it('says for whom the engine answered when it was another than was asked', async () => {
    const world = await oneCall(async () => ({
      ...answer('a'),
      requested: engineSelection({ ...big, model: 'huge', capabilities: [] }),
    }));
    await (await world.open()).run();
    const failed = await world.only('node-failed');
    expect(failed).toMatchObject({ code: 'RESULT_INVALID' });
    expect(failed?.['message']).toMatch(/\/requested\/model.*huge.*big/);
  });

  it('counts what was reported although the answer was refused', async () => {
    const { receipt } = await oneReply(() => 'x'.repeat(11), { outputBytes: 10 });
    expect(receipt).toMatchObject({
      usage: { kind: 'reported', inputTokens: 10, outputTokens: 5 },
    });
    expect(receipt).not.toHaveProperty('failure');
  });

  it('becomes an artifact instead when the binding says so, stored once', async () => {
    const { result, world } = await oneReply(() => 'x'.repeat(300_000), {
      largeResult: 'artifact',
    });
    expect(result).toMatchObject({ kind: 'complete' });
    const [completed] = await world.payloads('node-completed');
    const { artifact } = (completed?.['result'] ?? {}) as { artifact: never };
    const bytes = await world.storage.artifactStore.read(
      { namespace: 'test', runId: 'r1' },
      artifact,
    );
    expect(JSON.parse(Buffer.from(bytes).toString())).toHaveLength(300_000);
  });

  it('is never asked for when the input and the prompt are over inputBytes', async () => {
    const { failed, receipt, world } = await oneReply(() => 'fine', {
      prompt: () => 'x'.repeat(100),
      inputBytes: 60,
    });
    expect(failed).toMatchObject({ code: 'INPUT_LIMIT', retryable: false });
    expect(receipt).toBeUndefined();
    expect(world.engines[0]?.calls).toEqual([]);
  });

  it('keeps what the contract makes of it', async () => {
    const { result } = await oneReply(() => ({ structured: { n: '4' } }), {
      resultContract: {
        schema: { type: 'object' },
        validate: (value) => ({ n: Number((value as { n: string }).n) }),
      },
    });
    expect(result).toMatchObject({ output: { nodes: { a: { n: 4 } } } });
  });
});

test('each end has its own code in the record, and no two read the same', async () => {
  const codes = new Set<unknown>();
  const ends: readonly [MockResponder, Rules][] = [
    [() => 'x'.repeat(300_000), {}],
    [() => 'x'.repeat(20), { outputBytes: 10 }],
    [() => 'fine', { inputBytes: 1 }],
    [() => ({ parts: [] }), {}],
    [() => 'fine', { decideAction: () => ({ kind: 'deny', reason: 'no' }) }],
    [() => 'fine', { prompt: () => '' }],
    [() => 'fine', { callTokens: { mode: 'hard', tokens: 5 } }],
    [
      () => {
        throw new EngineError({ kind: 'timeout', message: 'slow' });
      },
      {},
    ],
    [
      () => {
        throw new EngineError({ kind: 'auth', message: 'no' });
      },
      {},
    ],
    [
      () => {
        throw new EngineError({ kind: 'transient', message: 'no' });
      },
      {},
    ],
  ];
  for (const [responder, rules] of ends) {
    codes.add((await oneReply(responder, rules)).failed?.['code']);
  }
  expect([...codes]).toEqual([
    'RESULT_TOO_LARGE',
    'OUTPUT_LIMIT',
    'INPUT_LIMIT',
    'RESULT_INVALID',
    'DENIED',
    'INVALID_ATTEMPT',
    'TOKEN_BUDGET',
    'TIMEOUT',
    'ENGINE_UNAVAILABLE',
    'EFFECT_FAILED',
  ]);
});

test('a policy that waits and is then allowed runs the same attempt, asked once', async () => {
  let decided = 0;
  const world = await laneWorld({
    targets: [big],
    responders: [({ attempt }) => attempt?.attemptId ?? ''],
    bindings: {
      a: engineNode({
        prompt: () => 'hi',
        decideAction: () => {
          decided += 1;
          return { kind: 'wait', reason: 'who pays?', request: { sum: 5 } };
        },
      }),
    },
  });
  const paused = await (await world.open()).run();
  expect(world.engines[0]?.calls).toEqual([]);
  const [pause] = paused.kind === 'pause' ? paused.pauses : [];
  expect(pause).toMatchObject({ reason: 'who pays?', request: { kind: 'policy', sum: 5 } });
  const next = await world.open();
  await next.answer(pause?.pauseId ?? '', { decision: 'allow' }, { by: 'ada' });
  const result = await next.run();
  const [start] = await world.payloads('node-attempt-started');
  const { attemptId = '' } = (start?.['identity'] ?? {}) as { attemptId?: string };
  expect(result).toMatchObject({ output: { nodes: { a: attemptId } } });
  expect(decided).toBe(1);
  expect(world.engines[0]?.calls).toHaveLength(1);
});

test('a policy that waits and is then denied calls no engine', async () => {
  const world = await laneWorld({
    targets: [big],
    responders: [() => 'fine'],
    bindings: {
      a: engineNode({
        prompt: () => 'hi',
        decideAction: () => ({ kind: 'wait', reason: 'who pays?', request: {} }),
      }),
    },
  });
  const executor = await world.open();
  const paused = await executor.run();
  const [pause] = paused.kind === 'pause' ? paused.pauses : [];
  const denial = { decision: 'deny' };
  await executor.answer(pause?.pauseId ?? '', denial, { by: 'ada' });
  expect(await executor.run()).toMatchObject({ kind: 'fail' });
  const [failed] = await world.payloads('node-failed');
  expect(failed).toMatchObject({ code: 'DENIED', message: 'Denied by ada.' });
  expect(world.engines[0]?.calls).toEqual([]);
});
