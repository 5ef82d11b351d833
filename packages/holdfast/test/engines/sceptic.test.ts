/** What a sceptic found: each was a fault, and is not one any more. */
import {
  createTokenBudget,
  dataNode,
  EngineError,
  type EngineLine,
  engineNode,
  type JsonObject,
  type LogLine,
  NodeFailure,
  waitNode,
} from 'holdfast';
import { createMemoryBacking, createMemoryRunStorage } from 'holdfast/storage/memory';
import { describe, expect, test } from 'vitest';
import { gate, worldOf } from '../executor/world.ts';
import { handClock } from '../scenarios/world.ts';
import { passing } from './one-call.ts';
import { laneWorld, target } from './world.ts';

const KEY = 'sk-live-AAAABBBBCCCCDDDDEEEEFFFF';
const PEM = '-----BEGIN KEY-----\r\nMIIBVgIBADANBg\r\nkqhkiG9w0BAQ\r\n-----END KEY-----';
const SPACED = 'correct\thorse  battery\nstaple';
const SECRETS = [KEY, PEM, SPACED];
const storage = () => createMemoryRunStorage({ namespace: 'test', knownSecrets: SECRETS });
/** Pieces of the secrets that nothing may hold. */
const PIECES = ['AAAABBBB', 'MIIBVg', 'kqhkiG9w0BAQ', 'horse', 'battery'];

type World = Awaited<ReturnType<typeof worldOf>>;
const recorded = async (world: Pick<World, 'events'>) => JSON.stringify(await world.events());
const payloadOf = async (world: Pick<World, 'events'>, type: string) =>
  (await world.events()).find((event) => event.type === `graph:${type}`)?.payload as JsonObject;

describe('a secret is taken out before a text is cut or cleaned', () => {
  test.each([
    ['at the end of what an error may hold', `${'y'.repeat(1_985)} ${KEY}`],
    ['with line ends that are cleaned away', `the key is ${PEM}!`],
    ['with white space', `say ${SPACED} now`],
  ])('%s', async (_where, text) => {
    const fail = () => {
      throw new Error(text);
    };
    const world = await worldOf(
      {
        error: dataNode(fail),
        step: dataNode((_input, { step }) => step('s', fail)),
        code: dataNode(() => {
          throw new NodeFailure(text, 'no');
        }),
        pause: dataNode(() => 1, {
          decideAction: () => ({ kind: 'wait', reason: text, request: {} }),
        }),
        deny: dataNode(() => 1, { decideAction: () => ({ kind: 'deny', reason: text }) }),
        policy: dataNode(() => 1, { decideAction: () => ({ kind: 'perhaps', text }) as never }),
        late: waitNode({
          kind: 'signal',
          name: 'never',
          deadlineMs: 0,
          onDeadline: { failWith: 'LATE' },
        }),
      },
      { edges: [] },
      storage(),
    );
    await (await world.open()).run();
    const said = await recorded(world);
    for (const piece of PIECES) expect(said).not.toContain(piece);
  });

  test('also in what is said of a malformed answer', async () => {
    const engine = {
      name: 'odd',
      run: async () => ({ parts: `${'z'.repeat(50)}${KEY}${'z'.repeat(100)}` }) as never,
    };
    const first = target('big');
    const world = await laneWorld({ targets: [first], responders: [], storage: storage() });
    await (await world.open({ engines: [{ target: first, engine }] })).run();
    expect(await recorded(world)).not.toContain('AAAA');
  });
});

test('a secret that becomes known later does not stop a run that has stored it', async () => {
  const backing = createMemoryBacking();
  const halt = new AbortController();
  const ids = Array.from({ length: 900 }, (_none, place) => `n${place}`);
  const edges = ids.slice(1).map((id, place) => `n${place}>${id}`);
  const nodes = Object.fromEntries(
    ids.map((id) => [
      id,
      dataNode(() => {
        if (id === 'n50') halt.abort();
        return id === 'n3' ? KEY : id;
      }),
    ]),
  );
  const before = createMemoryRunStorage({ namespace: 'test', backing });
  const world = await worldOf(nodes, { edges }, before);
  await (await world.open()).run(halt.signal).catch(() => 'halted');
  const after = createMemoryRunStorage({ namespace: 'test', backing, knownSecrets: [KEY] });
  const end = await (await world.open({ storage: after })).run().catch((error: unknown) => error);
  // What holds the secret again is refused as such; the steps before it are all made.
  expect(JSON.stringify(end)).not.toContain('snapshot');
  expect((await world.types()).filter((type) => type === 'node-completed')).toHaveLength(900);
});

test('an identity that no event holds is none', async () => {
  const huge = 'x'.repeat(300_000);
  const first = target('big');
  const effective = { adapter: 'mock', provider: 'p', modelFamily: null, model: huge };
  const world = await laneWorld({
    targets: [first, target('small', { provider: 'other' })],
    responders: [
      () => {
        throw new EngineError({ kind: 'auth', message: 'no', effective });
      },
      () => 'fine',
    ],
  });
  expect(await (await world.open()).run()).toMatchObject({ kind: 'complete' });
  expect((await world.payloads('model-unavailable'))[0]).toMatchObject({ reported: null });
});

describe('usage that was told', () => {
  const usage = { kind: 'reported', inputTokens: 70, outputTokens: 7 } as const;

  test('counts when the time of the call is over, in the record and in the budget', async () => {
    const clock = handClock();
    const tokenBudget = createTokenBudget(1_000);
    const told = gate();
    const world = await laneWorld({
      targets: [target('big')],
      responders: [
        (_request, { onEvent }) => {
          onEvent({ kind: 'usage', usage });
          told.open();
          return new Promise(() => {});
        },
      ],
      bindings: {
        a: engineNode({ prompt: () => 'hi', timeoutMs: 100, graceMs: 0, tokenBudget }),
      },
    });
    const run = (await world.open({ clock })).run();
    await told.opened;
    await passing(clock, 200);
    await run;
    expect((await world.payloads('engine-attempt-recorded'))[0]).toMatchObject({ usage });
    expect(tokenBudget.snapshot()).toMatchObject({ usedTokens: 77, unknownUsageCalls: 0 });
  });

  test.each([
    ['an answer without usage', { usage: undefined }],
    ['an answer that is malformed', { parts: 'many' }],
  ])('counts when it is followed by %s', async (_what, differs) => {
    const first = target('big');
    const engine = {
      name: 'odd',
      run: async (request: unknown, onEvent: (event: never) => void) => {
        onEvent({ kind: 'usage', usage } as never);
        const { adapter, provider, modelFamily, model } = first;
        const identity = { adapter, provider, modelFamily, model };
        const requested = { ...identity, adapterVersion: null, executable: null, capabilities: [] };
        const parts = [{ kind: 'assistant', text: `${typeof request}`, final: true }];
        return { parts, requested, effective: null, ...differs } as never;
      },
    };
    const world = await laneWorld({ targets: [first], responders: [] });
    await (await world.open({ engines: [{ target: first, engine }] })).run();
    expect((await world.payloads('engine-attempt-recorded'))[0]).toMatchObject({ usage });
  });

  test('counts when it stands in an answer whose parts are malformed', async () => {
    const first = target('big');
    const effective = { adapter: 'mock', provider: 'acme', modelFamily: null, model: 'bigger' };
    const engine = { name: 'odd', run: async () => ({ parts: [], usage, effective }) as never };
    const world = await laneWorld({ targets: [first], responders: [] });
    await (await world.open({ engines: [{ target: first, engine }] })).run();
    expect((await world.payloads('engine-attempt-recorded'))[0]).toMatchObject({
      usage,
      effective,
    });
  });
});

test('the record says after what time a limited engine can be asked again', async () => {
  const limited = () => {
    throw new EngineError({ kind: 'rate-limit', message: 'slow down', retryAfterMs: 30_000 });
  };
  const world = await laneWorld({ targets: [target('big')], responders: [limited] });
  await (await world.open()).run();
  expect((await world.payloads('node-failed'))[0]).toMatchObject({
    message: expect.stringContaining('asked again after 30000 ms'),
  });
});

test('a failure that kills its lane does so though it has used too many tokens', async () => {
  const usage = { kind: 'reported', inputTokens: 900, outputTokens: 0 } as const;
  const tokenBudget = createTokenBudget(5_000, { mode: 'hard' });
  const [first, second] = [target('big'), target('small', { provider: 'other' })];
  const world = await laneWorld({
    targets: [first, second],
    responders: [
      () => {
        throw new EngineError({ kind: 'auth', message: 'no', usage });
      },
      () => 'fine',
    ],
    bindings: {
      a: engineNode({
        prompt: () => 'hi',
        tokenBudget,
        callTokens: { mode: 'hard', tokens: 100 },
      }),
    },
  });
  const engines = [first, second].map((each, place) => ({
    target: each,
    engine: world.engines[place] as never,
    hardTokenLimitEnforceable: true,
  }));
  expect(await (await world.open({ engines })).run()).toMatchObject({ kind: 'complete' });
  expect(await world.payloads('model-unavailable')).toHaveLength(1);
});

test('no secret reaches a listener in a value that JSON does not show', async () => {
  const heard: unknown[] = [];
  const world = await laneWorld({
    targets: [target('big')],
    responders: [
      (_request, { onEvent }) => {
        onEvent({ kind: 'tool', name: new Error(KEY) as never, phase: 'use' });
        return 'done';
      },
    ],
    storage: storage(),
  });
  await (await world.open({ onEngineEvent: (line: EngineLine) => heard.push(line) })).run();
  const logging = await worldOf(
    {
      a: dataNode((_input, { log }) => {
        log('failed', { error: new Error(KEY), map: new Map([['key', KEY]]) } as never);
        log(new Error(KEY) as never);
      }),
    },
    {},
    storage(),
  );
  await (await logging.open({ onLog: (line: LogLine) => heard.push(line) })).run();
  const { inspect } = await import('node:util');
  expect(heard.length).toBeGreaterThan(1);
  expect(inspect(heard, { depth: 9 })).not.toContain('AAAABBBB');
});

test('a contract that is asynchronous makes no result, and ends nothing else', async () => {
  const resultContract = { schema: {}, validate: async () => Promise.reject(new Error('no')) };
  const world = await worldOf({ a: dataNode(() => 1, { resultContract }) });
  await (await world.open()).run();
  expect(await payloadOf(world, 'node-failed')).toMatchObject({
    code: 'RESULT_INVALID',
    message: expect.stringContaining('promise'),
  });
});

test('a listener that rejects, and a log that throws, harm no attempt', async () => {
  const world = await laneWorld({ targets: [target('big')], responders: [() => 'fine'] });
  const onEngineEvent = async () => Promise.reject(new Error('listener'));
  expect(await (await world.open({ onEngineEvent })).run()).toMatchObject({ kind: 'complete' });
  const logging = await worldOf({ a: dataNode((_input, { log }) => log('x')) });
  const onLog = () => {
    throw new Error('log');
  };
  expect(await (await logging.open({ onLog })).run()).toMatchObject({ kind: 'complete' });
});

test('a selection that may stand for several targets of the plan is refused at once', async () => {
  const [first, second] = [target('big'), target('big', { provider: 'other' })];
  const world = await laneWorld({ targets: [first, second], responders: [] });
  const selection = {
    ...{ adapter: 'mock', provider: null, modelFamily: 'm', model: 'big' },
    ...{ adapterVersion: null, executable: null, capabilities: [] },
  };
  const engines = [first, second].map((each, place) => ({
    target: each,
    engine: world.engines[place] as never,
    ...(place === 0 ? { selection } : {}),
  }));
  await expect(world.open({ engines })).rejects.toMatchObject({ code: 'MISSING_ENGINE_BINDING' });
});

test('a cancelled call that never settles is recorded as aborted', async () => {
  const clock = handClock();
  const called = gate();
  const world = await laneWorld({
    targets: [target('big')],
    responders: [
      () => {
        called.open();
        return new Promise(() => {});
      },
    ],
    bindings: { a: engineNode({ prompt: () => 'hi', graceMs: 10 }) },
  });
  const hanging = {
    name: 'hanging',
    run: () => {
      called.open();
      return new Promise<never>(() => {});
    },
  };
  const executor = await world.open({
    clock,
    engines: [{ target: target('big'), engine: hanging }],
  });
  const run = executor.run();
  await called.opened;
  await executor.cancel({ by: 'ada', reason: 'enough' });
  await passing(clock, 100);
  expect(await run).toMatchObject({ code: 'CANCELLED' });
  expect((await world.payloads('engine-attempt-recorded'))[0]).toMatchObject({
    failure: 'aborted',
  });
});

test('an error that an engine gives a code of ours is unknown all the same', async () => {
  const world = await laneWorld({
    targets: [target('big')],
    responders: [
      () => {
        throw Object.assign(new Error('mine'), { code: 'TOKEN_BUDGET' });
      },
    ],
  });
  await (await world.open()).run();
  expect((await world.payloads('node-failed'))[0]).toMatchObject({ code: 'EFFECT_FAILED' });
});
