/** What a call to an engine came to, and what is recorded of it. Issue 3, outcomes. */
import {
  EngineError,
  engineNode,
  engineSelection,
  MockEngine,
  type MockReply,
  type MockResponder,
} from 'holdfast';
import { describe, expect, it, test } from 'vitest';
import { gate } from '../executor/world.ts';
import { inOrder, scriptWorld } from '../seeds/world.ts';
import { answer, asked, big, oneCall, oneReply, type Rules } from './one-call.ts';
import { laneWorld } from './world.ts';

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
    [
      'over outputBytes in all its parts, small as its result is',
      'OUTPUT_LIMIT',
      reply({ parts: [text('a long way', false), text('ok', true)] }),
      { outputBytes: 10, parseResult: () => 1 },
    ],
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

describe('an answer that the graph has something against', () => {
  const lane = { id: 'lane', requested: big, knownSubstitutions: [] };
  const seats = [{ target: big, engine: MockEngine.forTarget(big, () => 'poison') }];
  const nodes = { a: engineNode({ prompt: () => 'hi' }) };

  it('is refused by validateNodeResult before it is recorded', async () => {
    const told: string[] = [];
    const world = await scriptWorld(
      {
        nodes: { a: lane },
        decide: inOrder(['a', 'a/1']),
        reduce: ({ type }) => void told.push(type),
        validate: () => ({ code: 'BITTER', path: '/taste', message: 'spit it out' }),
      },
      { nodes, engines: seats },
    );
    await (await world.open()).run();
    expect(await world.payload('node-failed')).toMatchObject({
      code: 'RESULT_INVALID',
      message: expect.stringMatching(/BITTER .*taste.* a: spit it out/),
    });
    expect(told).toEqual(['node-dispatched', 'engine-attempt-recorded', 'node-failed']);
    expect(JSON.stringify(await world.events())).not.toContain('poison');
  });

  it('and cannot fold is a failure in its place, with one receipt', async () => {
    const world = await scriptWorld(
      {
        nodes: { a: lane },
        decide: inOrder(['a', 'a/1']),
        reduce: ({ type }) => {
          if (type === 'node-completed') throw new Error('cannot swallow');
        },
      },
      { nodes, engines: seats },
    );
    expect(await (await world.open()).run()).toMatchObject({ kind: 'complete' });
    expect((await world.types()).slice(3)).toEqual([
      'engine-attempt-recorded',
      'node-failed',
      'run-finished',
    ]);
    expect(await world.payload('node-failed')).toMatchObject({ code: 'RESULT_INVALID' });
    expect(await (await world.open()).run()).toMatchObject({ kind: 'complete' });
  });

  it('is refused when a person says it too', async () => {
    const world = await scriptWorld(
      {
        nodes: { a: lane },
        decide: inOrder(['a', 'a/1']),
        validate: (_nodeId, result) =>
          result === 'poison' ? { code: 'BITTER', path: '', message: 'no' } : null,
      },
      { nodes, engines: [{ target: big, engine: hanging() }] },
    );
    void (await world.open()).run().catch(() => {});
    await called.opened;
    const executor = await world.open();
    const paused = await executor.resume('a/1');
    const [pause] = paused.kind === 'pause' ? paused.pauses : [];
    const by = { kind: 'completed', by: 'ada', reason: 'looked' } as const;
    const id = pause?.pauseId ?? '';
    await expect(executor.reconcile(id, { ...by, result: 'poison' })).rejects.toMatchObject({
      code: 'RESULT_INVALID',
    });
    await executor.reconcile(id, { ...by, result: 'honey' });
    expect(await executor.run()).toEqual({ kind: 'complete', output: ['honey'] });
  });

  const called = gate();
  const hanging = () =>
    MockEngine.forTarget(big, () => {
      called.open();
      return new Promise<string>(() => {});
    });
});
