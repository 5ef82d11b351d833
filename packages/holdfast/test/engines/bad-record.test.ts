/** Records of engine calls that nobody may have written: refused on read, by name. Issue 3. */
import {
  canonicalJson,
  createGraphExecutor,
  createTokenBudget,
  dataNode,
  type ExecutionLaneDescription,
  type ExecutionTarget,
  engineNode,
  type JsonObject,
  MockEngine,
} from 'holdfast';
import { createMemoryRunStorage } from 'holdfast/storage/memory';
import { describe, expect, it, test } from 'vitest';
import { gate } from '../executor/world.ts';
import { dispatch, RUN, scripted, scriptWorld, settled } from '../seeds/world.ts';
import { target } from './world.ts';

const big = target('big');
const small = target('small', { provider: 'other' });
const at = '2026-11-30T10:00:00.000Z';
const identity = { adapter: 'mock', provider: 'acme', modelFamily: 'm', model: 'big' };
const receipt = {
  nodeId: 'a',
  position: 'a/1',
  sequence: 1,
  requested: identity,
  effective: null,
  usage: { kind: 'reported', inputTokens: 1, outputTokens: 2 },
};
const dead = { ...receipt, failure: 'auth' };
const fact = {
  nodeId: 'a',
  position: 'a/1',
  selected: identity,
  reported: null,
  failure: 'auth',
  source: { kind: 'attempt', sequence: 1 },
};

type Forged = readonly [type: string, payload: JsonObject];
const called = (payload: object): Forged => ['engine-attempt-recorded', payload as JsonObject];
const unavailable = (payload: object): Forged => ['model-unavailable', payload as JsonObject];

/**
 * A run in which `a` (on a lane) and `plain` (on none) have started and `later` is queued, its
 * process dead, and events that somebody else has written behind theirs.
 */
async function forged(events: readonly Forged[], targets: readonly ExecutionTarget[] = [big]) {
  const [requested = big, ...knownSubstitutions] = targets;
  const lane: ExecutionLaneDescription = { id: 'lane', requested, knownSubstitutions };
  const storage = createMemoryRunStorage({ namespace: 'test' });
  const started = gate();
  let asked = 0;
  const responder = () => {
    asked += 1;
    if (asked > 1) return 'fine';
    started.open();
    return new Promise<string>(() => {});
  };
  const engines = targets.map((each) => ({
    target: each,
    engine: MockEngine.forTarget(each, responder),
  }));
  const nodes = {
    a: engineNode({ prompt: () => 'hi', retrySafe: true }),
    later: engineNode({ prompt: () => 'hi' }),
    plain: dataNode(() => new Promise(() => {}), { retrySafe: true }),
  };
  const world = await scriptWorld(
    {
      nodes: { a: lane, plain: null, later: lane },
      decide: (told) => {
        if (settled(told, 'a/1')) return [{ kind: 'fail', code: 'SEEN', message: 'enough' }];
        if (told.length > 0) return [];
        return [
          dispatch('a', 'a/1'),
          dispatch('plain', 'plain/1'),
          { ...dispatch('later', 'later/1'), delayMs: 3_600_000 } as never,
        ];
      },
    },
    { storage, nodes, engines },
  );
  void (await world.open()).run().catch(() => {});
  await started.opened;
  const stream = { namespace: 'test', streamId: RUN };
  const end = await storage.eventStore.end(stream);
  await storage.eventStore.append(
    stream,
    end,
    events.map(([type, payload]) => ({
      type: `graph:${type}`,
      version: 1,
      timestamp: at,
      payload,
    })),
  );
  return { world, nodes, end, calls: () => asked };
}

/** Reads the forged record in a fresh process; why it refuses. */
async function refusal(events: readonly Forged[], targets?: readonly ExecutionTarget[]) {
  const { world, end, calls } = await forged(events, targets);
  const executor = await world.open();
  const error: unknown = await executor.run().then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(calls()).toBe(1);
  const [type = ''] = events.at(-1) ?? [];
  return { error, named: `Event ${end + events.length} (graph:${type})` };
}

async function expectRefused(events: readonly Forged[], why: RegExp) {
  const { error, named } = await refusal(events);
  expect(error).toMatchObject({ code: 'INVALID_EVENT' });
  const { message } = error as Error;
  expect(message).toContain(named);
  expect(message).toMatch(why);
}

const { sequence: _sequence, ...withoutSequence } = receipt;
const { usage: _usage, ...withoutUsage } = receipt;
const { effective: _effective, ...withoutEffective } = receipt;
const { requested: _requested, ...withoutRequested } = receipt;

describe('a receipt', () => {
  it.each<[string, object, RegExp]>([
    ['without a place', withoutSequence, /sequence is missing/],
    ['without usage', withoutUsage, /usage is missing/],
    ['without an effective identity', withoutEffective, /effective is missing/],
    ['without a requested identity', withoutRequested, /requested is missing/],
    ['with a field of its own', { ...receipt, cost: 5 }, /cost is not a field/],
    ['with place 0', { ...receipt, sequence: 0 }, /sequence: .*positive/],
    ['with half a place', { ...receipt, sequence: 1.5 }, /sequence: .*positive/],
    ['with a place in words', { ...receipt, sequence: '1' }, /sequence: .*positive/],
    ['of a node without a name', { ...receipt, nodeId: '' }, /nodeId: /],
    ['of a position that is a number', { ...receipt, position: 7 }, /position: /],
    ['asked of a text', { ...receipt, requested: 'mock' }, /requested: expected an object/],
    [
      'asked of an adapter without a name',
      { ...receipt, requested: { ...identity, adapter: null } },
      /requested: adapter/,
    ],
    [
      'asked of an identity with a field too many',
      { ...receipt, requested: { ...identity, version: '1' } },
      /requested: version is not a field/,
    ],
    [
      'answered by half an identity',
      { ...receipt, effective: { adapter: 'mock' } },
      /effective: provider is missing/,
    ],
    ['of no kind of usage', { ...receipt, usage: { inputTokens: 1 } }, /usage: /],
    [
      'of unknown usage with tokens',
      { ...receipt, usage: { kind: 'unknown', inputTokens: 0 } },
      /usage: /,
    ],
    [
      'of usage below zero',
      { ...receipt, usage: { kind: 'reported', inputTokens: -1, outputTokens: 0 } },
      /usage: inputTokens: .*whole number/,
    ],
    [
      'of reported usage without output',
      { ...receipt, usage: { kind: 'reported', inputTokens: 1 } },
      /usage: outputTokens is missing/,
    ],
    [
      'of half a cached token',
      {
        ...receipt,
        usage: { kind: 'reported', inputTokens: 1, outputTokens: 1, cacheReadInputTokens: 0.5 },
      },
      /usage: cacheReadInputTokens: .*whole number/,
    ],
    ['of a failure that is none', { ...receipt, failure: 'bored' }, /failure: expected one of/],
    ['of a failure that is null', { ...receipt, failure: null }, /failure: expected one of/],
    ['that is null', null as never, /expected an object/],
    ['that is a list', [receipt], /expected an object/],
  ])('%s is malformed', async (_what, payload, why) => {
    await expectRefused([called(payload)], why);
  });

  it.each<[string, readonly Forged[], RegExp]>([
    [
      'of a second call before the first',
      [called({ ...receipt, sequence: 2 })],
      /call 2 .* where 1/,
    ],
    ['of the same call again', [called(receipt), called(receipt)], /call 1 .* where 2/],
    [
      'that leaves a call out',
      [called(receipt), called({ ...receipt, sequence: 3 })],
      /call 3 .* where 2/,
    ],
    [
      'of a data node',
      [called({ ...receipt, nodeId: 'plain', position: 'plain/1' })],
      /plain runs on no lane/,
    ],
    [
      'of a position never dispatched',
      [called({ ...receipt, position: 'a/2' })],
      /a\/2 was never dispatched/,
    ],
    [
      'of a position that has not started',
      [called({ ...receipt, nodeId: 'later', position: 'later/1' })],
      /later\/1 is not running/,
    ],
    [
      'of another node’s position',
      [called({ ...receipt, nodeId: 'later' })],
      /a\/1 is an occurrence of a/,
    ],
    [
      'of a position that has settled',
      [['node-completed', { nodeId: 'a', position: 'a/1', result: 1, at }], called(receipt)],
      /a\/1 is settled/,
    ],
    [
      'of a target that its lane has not',
      [called({ ...receipt, requested: { ...identity, model: 'huge' } })],
      /lane lane has no target of .*huge/,
    ],
    [
      'of a call that nobody asked, but that somebody answered',
      [called({ ...receipt, requested: null, effective: identity })],
      /nothing was asked/,
    ],
    [
      'of a call that nobody asked, but that used tokens',
      [called({ ...receipt, requested: null })],
      /nothing was asked/,
    ],
    [
      'of a call that nobody asked, but that found a credential dead',
      [called({ ...dead, requested: null, usage: { kind: 'unknown' } })],
      /nothing was asked has not failed for auth/,
    ],
  ])('%s is refused', async (_what, events, why) => {
    await expectRefused(events, why);
  });
});

describe('a pause', () => {
  const paused = (request: JsonObject): Forged => [
    'node-paused',
    { nodeId: 'a', position: 'a/1', reason: 'so', request, at },
  ];

  it.each<[string, JsonObject, RegExp]>([
    ['for a child of no name', { kind: 'child', runId: 5 }, /request: runId: /],
    ['for a signal of no name', { kind: 'signal' }, /request: name: /],
    ['about no attempt', { kind: 'reconcile-attempt', attemptId: null }, /request: attemptId: /],
  ])('%s is refused', async (_what, request, why) => {
    await expectRefused([paused(request)], why);
  });
});

test('usage that no safe integer holds in sum is held at the greatest one', async () => {
  const much = { kind: 'reported', inputTokens: Number.MAX_SAFE_INTEGER, outputTokens: 3 };
  const tokenBudget = createTokenBudget(1_000_000);
  const { world, nodes } = await forged([
    called({ ...receipt, usage: much }),
    called({ ...receipt, usage: much, sequence: 2 }),
  ]);
  const a = engineNode({ prompt: () => 'hi', retrySafe: true, tokenBudget });
  await (await world.open({ nodes: { ...nodes, a } })).resume('a/1');
  const failed = (await world.events()).find(({ type }) => type === 'graph:node-failed');
  expect(failed?.payload).toMatchObject({ code: 'TOKEN_BUDGET' });
  expect(tokenBudget.snapshot()).toMatchObject({ usedTokens: Number.MAX_SAFE_INTEGER });
});

describe('a fact of a dead lane', () => {
  it.each<[string, readonly Forged[], RegExp]>([
    ['without a call', [unavailable(fact)], /no call 1 of a\/1 proves it/],
    ['of a call that answered', [called(receipt), unavailable(fact)], /no call 1 .* proves it/],
    [
      'of another call',
      [called(dead), unavailable({ ...fact, source: { kind: 'attempt', sequence: 2 } })],
      /no call 2 of a\/1 proves it/,
    ],
    [
      'of a call that failed otherwise',
      [called({ ...dead, failure: 'quota' }), unavailable(fact)],
      /no call 1 .* proves it/,
    ],
    [
      'of a failure that proves nothing',
      [called({ ...dead, failure: 'rate-limit' }), unavailable({ ...fact, failure: 'rate-limit' })],
      /rate-limit proves no lane dead/,
    ],
    [
      'of a target that its lane has not',
      [called(dead), unavailable({ ...fact, selected: { ...identity, model: 'huge' } })],
      /lane lane has no target of .*huge/,
    ],
    [
      'of another target than was asked',
      [called(dead), unavailable({ ...fact, selected: { ...identity, model: null } })],
      /no call 1 .* proves it/,
    ],
    [
      'of another lane’s node',
      [called(dead), unavailable({ ...fact, nodeId: 'plain', position: 'plain/1' })],
      /names no lane/,
    ],
    [
      'of a position never dispatched',
      [called(dead), unavailable({ ...fact, position: 'a/2' })],
      /a\/2 was never dispatched/,
    ],
    [
      'of an attempt that it does not name',
      [
        called(dead),
        unavailable({
          selected: identity,
          reported: null,
          failure: 'auth',
          source: fact.source,
        }),
      ],
      /names its node and position/,
    ],
    [
      'of a check that no plan asks for',
      [
        unavailable({
          selected: identity,
          reported: null,
          failure: 'auth',
          source: { kind: 'preflight', probeEventId: 'x', laneId: 'lane' },
        }),
      ],
      /the plan asks for no checks/,
    ],
    [
      'from no source',
      [called(dead), unavailable({ ...fact, source: { kind: 'rumour' } })],
      /source: /,
    ],
    [
      'without the reported identity',
      [called(dead), unavailable({ ...fact, reported: undefined } as never)],
      /reported/,
    ],
  ])('%s is refused', async (_what, events, why) => {
    await expectRefused(
      events.map(([type, payload]) => [type, clean(payload)] as const),
      why,
    );
  });
});

const clean = (payload: JsonObject) => JSON.parse(JSON.stringify(payload)) as JsonObject;

describe('a result', () => {
  it.each<[string, Forged, RegExp]>([
    [
      'of a position never dispatched',
      ['node-completed', { nodeId: 'a', position: 'a/9', result: 1, at }],
      /a\/9 was never dispatched/,
    ],
    [
      'of a position that has not started',
      ['node-completed', { nodeId: 'later', position: 'later/1', result: 1, at }],
      /later\/1 was never started/,
    ],
    [
      'of another node’s position',
      ['node-completed', { nodeId: 'later', position: 'a/1', result: 1, at }],
      /a\/1 is an occurrence of a/,
    ],
    [
      'that is a failure of a position never dispatched',
      [
        'node-failed',
        { nodeId: 'a', position: 'a/9', code: 'X', message: '', retryable: false, at },
      ],
      /a\/9 was never dispatched/,
    ],
  ])('%s is refused', async (_what, event, why) => {
    await expectRefused([event], why);
  });

  it('that comes a second time is refused', async () => {
    const completed: Forged = ['node-completed', { nodeId: 'a', position: 'a/1', result: 1, at }];
    await expectRefused([completed, completed], /a\/1 is settled already/);
  });
});

describe('an old record that names no provider', () => {
  const nameless = { adapter: 'mock', provider: null, modelFamily: null, model: null };
  const old = (failure: string): readonly Forged[] => [
    called({ ...receipt, requested: nameless, failure }),
    unavailable({ ...fact, selected: nameless, failure }),
  ];

  it.each(['auth', 'quota', 'billing', 'model-unavailable'])(
    'of %s means the only one that its lane may mean',
    async (failure) => {
      const other = target('small', { adapter: 'spare', provider: 'other' });
      const { world, nodes } = await forged(old(failure), [big, other]);
      const executor = await world.open({ nodes: { ...nodes, plain: dataNode(() => 1) } });
      expect(await executor.run()).toMatchObject({ kind: 'waiting' });
      await executor.resume(['a/1', 'plain/1']);
      const receipts = (await world.events()).filter(
        ({ type }) => type === 'graph:engine-attempt-recorded',
      );
      expect(receipts.at(-1)?.payload).toMatchObject({ requested: { adapter: 'spare' } });
    },
  );

  it.each(['auth', 'quota', 'billing', 'model-unavailable'])(
    'of %s is refused before any work when it may mean several',
    async (failure) => {
      const { error } = await refusal(old(failure), [big, small]);
      expect(error).toMatchObject({ code: 'ENGINE_IDENTITY_UNRESOLVED' });
      expect((error as Error).message).toContain('2 targets');
    },
  );

  it('of auth needs the provider alone: several models of it are no riddle', async () => {
    const { world } = await forged(old('auth'), [big, target('huge')]);
    expect(await (await world.open()).run()).toMatchObject({ kind: 'waiting' });
  });

  it('of a missing tool needs no provider at all', async () => {
    const { world } = await forged(old('missing-cli'), [big, small]);
    expect(await (await world.open()).run()).toMatchObject({ kind: 'waiting' });
  });
});

describe('a plan that was edited after it was stored', () => {
  const lane: ExecutionLaneDescription = {
    id: 'lane',
    requested: big,
    knownSubstitutions: [small],
  };
  const graph = scripted({ nodes: { a: lane }, decide: () => [] });

  it.each([
    ['another model', '"model":"big"', '"model":"free"'],
    ['another fallback', '"model":"small"', '"model":"free"'],
    ['another provider', '"provider":"other"', '"provider":"mine"'],
    ['a node on no lane', '"laneId":"lane"', '"laneId":null'],
  ])('to name %s is refused by name', async (_what, before, after) => {
    const world = await scriptWorld(
      { nodes: { a: lane }, decide: () => [] },
      { nodes: { a: engineNode({ prompt: () => 'hi' }) }, engines: [] },
    );
    const [start] = await world.events();
    const { definition = {} } = (start?.payload ?? {}) as { definition?: JsonObject };
    const text = canonicalJson(definition);
    expect(text).toContain(before);
    const storage = createMemoryRunStorage({ namespace: 'test' });
    await storage.eventStore.append({ namespace: 'test', streamId: RUN }, 0, [
      {
        type: 'graph:run-started',
        version: 1,
        timestamp: start?.timestamp ?? '',
        payload: { definition: JSON.parse(text.replaceAll(before, after)) },
      },
    ]);
    const nodes = { a: engineNode({ prompt: () => 'hi' }) };
    const opened = createGraphExecutor({ runId: RUN, graph, storage, nodes, engines: [] });
    await expect(opened).rejects.toMatchObject({
      code: 'INVALID_STORED_VALUE',
      message: expect.stringMatching(/plan/),
    });
  });
});

test('an honest receipt is read, whatever it leaves open', async () => {
  const { world } = await forged([
    called({ ...receipt, requested: { ...identity, provider: null, model: null } }),
    called({ ...receipt, sequence: 2, requested: null, usage: { kind: 'unknown' } }),
    called({ ...receipt, sequence: 3, effective: { ...identity, model: null } }),
  ]);
  expect(await (await world.open()).run()).toMatchObject({ kind: 'waiting' });
});
