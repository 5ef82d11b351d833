/** Seed 000: stored lanes, dead lanes and the one fallback, through the public executor. */
import {
  ENGINE_FAILURE_KINDS,
  EngineError,
  type EngineFailureKind,
  engineNode,
  LANE_DEAD_FAILURES,
} from 'holdfast';
import { describe, expect, it } from 'vitest';
import { laneWorld, target } from './world.ts';

const failing = (kind: EngineFailureKind) => () => {
  throw new EngineError({ kind, message: `${kind} on purpose` });
};
const answer = () => 'fine';
const [primary, fallback, third] = [
  target('big'),
  target('small', { provider: 'other' }),
  target('tiny', { provider: 'third', adapter: 'spare' }),
];

describe('a lane', () => {
  it(
    'an engine-backed node gives its final text, with one receipt in the ' + 'append of its result',
    async () => {
      const world = await laneWorld({ targets: [primary], responders: [answer] });
      const result = await (await world.open()).run();
      expect(result).toMatchObject({ kind: 'complete', output: { nodes: { a: 'fine' } } });
      expect(await world.types()).toEqual([
        'run-started',
        'node-dispatched',
        'node-attempt-started',
        'engine-attempt-recorded',
        'node-completed',
        'run-finished',
      ]);
      expect(await world.payloads('engine-attempt-recorded')).toEqual([
        {
          nodeId: 'a',
          position: 'dag/a/1',
          sequence: 1,
          requested: { adapter: 'mock', provider: 'acme', modelFamily: 'm', model: 'big' },
          effective: expect.objectContaining({ model: 'big' }),
          usage: { kind: 'reported', inputTokens: 10, outputTokens: 5 },
        },
      ]);
    },
  );

  it.each([...LANE_DEAD_FAILURES])(
    'a %s failure moves the call to the fallback, once recorded',
    async (kind) => {
      const world = await laneWorld({
        targets: [primary, target('small', { provider: 'other', adapter: 'spare' })],
        responders: [failing(kind), answer],
        nodes: ['a', 'b', 'c'],
      });
      const result = await (await world.open()).run();
      expect(result.kind).toBe('complete');
      expect(world.engines.map(({ calls }) => calls.length)).toEqual([1, 3]);
      expect(await world.payloads('model-unavailable')).toEqual([
        expect.objectContaining({
          nodeId: 'a',
          failure: kind,
          selected: { adapter: 'mock', provider: 'acme', modelFamily: 'm', model: 'big' },
          source: { kind: 'attempt', sequence: 1 },
        }),
      ]);
    },
  );

  const harmless = ENGINE_FAILURE_KINDS.filter((kind) => !LANE_DEAD_FAILURES.has(kind));
  it.each(harmless)('a %s failure does not run again elsewhere', async (kind) => {
    const world = await laneWorld({
      targets: [primary, fallback],
      responders: [failing(kind), answer],
    });
    const result = await (await world.open()).run();
    expect(result.kind).toBe('fail');
    expect(world.engines.map(({ calls }) => calls.length)).toEqual([1, 0]);
    expect(await world.types()).not.toContain('model-unavailable');
    const [failed] = await world.payloads('node-failed');
    expect(failed?.['code']).toBe(kind === 'timeout' ? 'TIMEOUT' : 'EFFECT_FAILED');
  });

  it('an error without a kind is unknown, whatever its message says', async () => {
    const world = await laneWorld({
      targets: [primary, fallback],
      responders: [
        () => {
          throw new Error('401 unauthorized: invalid api key, please login');
        },
        answer,
      ],
    });
    await (await world.open()).run();
    const [receipt] = await world.payloads('engine-attempt-recorded');
    expect(receipt?.['failure']).toBe('unknown');
    expect(world.engines[1]?.calls).toHaveLength(0);
  });

  it('an engine that cannot say why it failed is believed what it has used', async () => {
    const usage = { kind: 'reported', inputTokens: 3, outputTokens: 1 } as const;
    const world = await laneWorld({
      targets: [primary],
      responders: [
        () => {
          throw new EngineError({ kind: 'unknown', message: 'Nobody can say.', usage });
        },
      ],
    });
    await (await world.open()).run();
    expect(await world.payloads('engine-attempt-recorded')).toEqual([
      expect.objectContaining({ failure: 'unknown', usage }),
    ]);
  });

  it('at most one live fallback is tried in one attempt; a retry goes on to the next', async () => {
    const world = await laneWorld({
      targets: [primary, fallback, third],
      responders: [failing('quota'), failing('quota'), answer],
      retries: 1,
    });
    const result = await (await world.open()).run();
    expect(result.kind).toBe('complete');
    const [failed] = await world.payloads('node-failed');
    expect(failed).toMatchObject({
      code: 'ENGINE_UNAVAILABLE',
      position: 'dag/a/1',
      retryable: true,
    });
    expect(world.engines.map(({ calls }) => calls.length)).toEqual([1, 1, 1]);
  });

  it('once every declared target is dead no engine runs, also in a fresh process', async () => {
    const world = await laneWorld({
      targets: [primary, fallback],
      responders: [failing('auth'), failing('auth')],
      retries: 2,
    });
    const result = await (await world.open()).run();
    expect(result.kind).toBe('fail');
    // No retry is tried: what is retired stays retired for the run.
    expect(await world.payloads('node-failed')).toMatchObject([
      {
        code: 'ENGINE_UNAVAILABLE',
        retryable: false,
        message: expect.stringContaining('(mock/acme/big: auth on purpose; mock/other/small: '),
      },
    ]);
    expect(world.engines.map(({ calls }) => calls.length)).toEqual([1, 1]);
    expect(await (await world.open()).run()).toEqual(result);
    expect(world.engines.map(({ calls }) => calls.length)).toEqual([1, 1]);
  });

  it('a lane that one process found dead is skipped by the next one', async () => {
    const halt = new AbortController();
    const world = await laneWorld({
      targets: [primary, fallback],
      responders: [
        failing('auth'),
        (_request, { index }) => {
          if (index === 0) halt.abort();
          return 'fine';
        },
      ],
      nodes: ['a', 'b'],
    });
    await expect((await world.open()).run(halt.signal)).rejects.toMatchObject({ code: 'ABORTED' });
    expect(await (await world.open()).run()).toMatchObject({ kind: 'complete' });
    expect(world.engines.map(({ calls }) => calls.length)).toEqual([1, 2]);
  });
});

describe('the scope of what a failure proves', () => {
  const same = target('small');
  const otherProvider = target('big', { provider: 'other' });
  const otherAdapter = target('big', { adapter: 'spare' });

  it.each([
    ['auth', same, false],
    ['auth', otherProvider, true],
    ['auth', otherAdapter, true],
    ['model-unavailable', same, true],
    ['billing', otherProvider, true],
    ['quota', otherAdapter, false],
    ['missing-cli', same, false],
    ['missing-cli', otherAdapter, true],
    ['invalid-config', otherProvider, false],
  ] as const)('%s retires another target or not (%#)', async (kind, second, lives) => {
    const world = await laneWorld({
      targets: [primary, second],
      responders: [failing(kind), answer],
    });
    const result = await (await world.open()).run();
    expect(world.engines[1]?.calls.length).toBe(lives ? 1 : 0);
    expect(result.kind).toBe(lives ? 'complete' : 'fail');
  });

  it('a missing model retires also the provider and model that the engine reported', async () => {
    const reported = { adapter: 'mock', provider: 'other', modelFamily: 'm', model: 'small' };
    const world = await laneWorld({
      targets: [primary, fallback, third],
      responders: [
        () => {
          throw new EngineError({ kind: 'quota', message: 'gone', effective: reported });
        },
        answer,
        answer,
      ],
    });
    await (await world.open()).run();
    expect(world.engines.map(({ calls }) => calls.length)).toEqual([1, 0, 1]);
    const [fact] = await world.payloads('model-unavailable');
    expect(fact).toMatchObject({ selected: { model: 'big' }, reported });
  });
});

describe('a prompt', () => {
  it('is built from the typed input of its own dispatch', async () => {
    const world = await laneWorld({
      targets: [primary],
      responders: [({ prompt }) => `re: ${prompt}`],
      nodes: ['a', 'b'],
      bindings: {
        b: engineNode<{ readonly results: { readonly a: string } }>({
          prompt: ({ results }) => `judge "${results.a}"`,
        }),
      },
    });
    const result = await (await world.open()).run();
    expect(result).toMatchObject({
      output: { nodes: { b: 're: judge "re: prompt of a"' } },
    });
  });

  const throwing = (): string => {
    throw new Error('no prompt');
  };
  it.each<[string, () => string, string]>([
    ['throws', throwing, 'EFFECT_FAILED'],
    ['is blank', () => '  ', 'INVALID_ATTEMPT'],
    ['is no text', () => 7 as never, 'INVALID_ATTEMPT'],
  ])(
    'a builder that %s is a node failure, and no engine is called',
    async (_what, prompt, code) => {
      const world = await laneWorld({
        targets: [primary],
        responders: [answer],
        bindings: { a: engineNode({ prompt }) },
      });
      expect(await (await world.open()).run()).toMatchObject({ kind: 'fail' });
      expect((await world.payloads('node-failed'))[0]?.['code']).toBe(code);
      expect(world.engines[0]?.calls).toHaveLength(0);
    },
  );
});
