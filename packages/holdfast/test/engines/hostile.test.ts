/** Engines that break their contract: each harms its own attempt at most. Issue 3, bad input. */
import {
  type AgentResult,
  type Engine,
  type EngineLine,
  type EngineListener,
  engineNode,
  engineSelection,
} from 'holdfast';
import { describe, expect, it } from 'vitest';
import { gate } from '../executor/world.ts';
import { failOnUnhandledRejections } from '../support/unhandled-rejections.ts';
import { laneWorld, target } from './world.ts';

failOnUnhandledRejections();

const big = target('big');
const small = target('small', { provider: 'other' });
const requested = engineSelection({ ...big, capabilities: [] });
const answer = (text: string): AgentResult => ({
  parts: [{ kind: 'assistant', text, final: true }],
  usage: { kind: 'reported', inputTokens: 3, outputTokens: 4 },
  requested,
  effective: null,
});

/** A node whose first target is this engine; its second would answer. */
async function run(first: Engine['run'], onEngineEvent?: (line: EngineLine) => void) {
  const world = await laneWorld({
    targets: [big, small],
    responders: [() => 'unused', () => 'the fallback'],
    nodes: ['a', 'b'],
    bindings: { a: engineNode({ prompt: () => 'hi', timeoutMs: 60_000 }) },
  });
  let calls = 0;
  const own: Engine['run'] = (request, onEvent, signal) => {
    calls += 1;
    if (calls > 1) return Promise.resolve(answer('fine'));
    return first(request, onEvent, signal);
  };
  const [, fallback] = world.engines;
  const executor = await world.open({
    engines: [
      { target: big, engine: { name: 'own', run: own } },
      { target: small, engine: fallback as Engine },
    ],
    ...(onEngineEvent === undefined ? {} : { onEngineEvent }),
  });
  const result = await executor.run();
  const [failed] = await world.payloads('node-failed');
  const receipts = await world.payloads('engine-attempt-recorded');
  expect(fallback?.calls).toEqual([]);
  return { world, result, failed, receipts };
}

/** A value that throws whatever is done to it. */
const untouchable = (but?: string): object => {
  const refuse = (_target: unknown, key?: unknown): never => {
    if (key !== undefined && key === but) return undefined as never;
    throw new Error('do not touch');
  };
  return new Proxy(() => {}, {
    get: refuse,
    has: refuse,
    getPrototypeOf: refuse,
    ownKeys: refuse,
    getOwnPropertyDescriptor: refuse,
    apply: refuse,
  });
};

/** An error that lies about everything that is read of it. */
const lying = () => {
  const error = new Error('x');
  for (const name of ['name', 'kind', 'message', 'code', 'effective', 'usage', 'stack']) {
    Object.defineProperty(error, name, {
      get: () => {
        throw new Error('no');
      },
    });
  }
  return error;
};

const named = (fields: object) => Object.assign(new Error('gone'), { name: 'EngineError' }, fields);

describe('an engine that throws no error', () => {
  it.each<[string, () => unknown]>([
    ['null', () => null],
    ['undefined', () => undefined],
    ['a text', () => 'auth: the key was refused'],
    ['a number', () => 401],
    ['a symbol', () => Symbol('auth')],
    ['a bigint', () => 1n],
    ['an object that names a kind', () => ({ name: 'EngineError', kind: 'auth' })],
    ['an object without a prototype', () => Object.create(null)],
    ['a proxy that throws', () => untouchable()],
    ['an error whose getters throw', lying],
    ['an error of an unknown kind', () => named({ kind: 'bored' })],
    ['an error whose kind is inherited from Object', () => named({ kind: 'toString' })],
    ['a huge text', () => 'x'.repeat(5_000_000)],
  ])('%s: it is unknown, proves nothing, and its text is bounded', async (_what, make) => {
    for (const first of [
      () => {
        throw make();
      },
      () => Promise.reject(make()),
    ]) {
      const { failed, receipts, world } = await run(first);
      expect(failed).toMatchObject({ nodeId: 'a', code: 'EFFECT_FAILED' });
      expect(String(failed?.['message']).length).toBeLessThan(2_100);
      expect(receipts).toMatchObject([{ failure: 'unknown', usage: { kind: 'unknown' } }]);
      expect(await world.types()).not.toContain('model-unavailable');
    }
  });

  it.each<[string, object]>([
    ['a malformed identity', { effective: { adapter: '', provider: 7 } }],
    ['an identity that cannot be read', { effective: untouchable() }],
    ['an identity of another shape', { effective: ['mock'] }],
    ['malformed usage', { usage: { kind: 'reported', inputTokens: 'many' } }],
    ['usage that cannot be read', { usage: untouchable() }],
  ])('%s beside a true kind: the kind counts, the rest is unknown', async (_what, more) => {
    const { receipts, failed } = await run(() =>
      Promise.reject(named({ kind: 'rate-limit', ...more })),
    );
    expect(failed).toMatchObject({ code: 'EFFECT_FAILED' });
    expect(receipts).toMatchObject([
      { failure: 'rate-limit', usage: { kind: 'unknown' }, effective: null },
    ]);
  });
});

describe('an engine that returns what is no answer', () => {
  it.each<[string, () => unknown]>([
    ['undefined', () => undefined],
    ['null', () => null],
    ['a text', () => 'hello'],
    ['a list', () => []],
    ['a proxy that throws', () => untouchable('then')],
    [
      'an answer whose getter throws',
      () => Object.defineProperty({}, 'parts', { get: () => untouchable().toString() }),
    ],
    ['a value that is no JSON', () => ({ ...answer(''), parts: [part(new Map())] })],
    ['a value in a circle', () => ({ ...answer(''), parts: [part(circle())] })],
    ['a promise in a part', () => ({ ...answer(''), parts: [part(Promise.resolve(1))] })],
    ['a lone surrogate', () => answer('\ud800')],
  ])('%s: the node fails with RESULT_INVALID', async (_what, make) => {
    for (const first of [make, async () => make()]) {
      const { failed, receipts } = await run(first as Engine['run']);
      expect(failed).toMatchObject({ nodeId: 'a', code: 'RESULT_INVALID' });
      expect(receipts).toHaveLength(1);
    }
  });

  it('may change its answer afterwards: the record keeps what was said', async () => {
    const said = { ...answer('first') } as { parts: unknown };
    const { result } = await run(async () => {
      setImmediate(() => {
        said.parts = [{ kind: 'assistant', text: 'second', final: true }];
      });
      return said as AgentResult;
    });
    expect(result).toMatchObject({ output: { nodes: { a: 'first' } } });
  });
});

const part = (value: unknown) => ({ kind: 'structured', value, final: true }) as never;
const circle = () => {
  const self: { self?: unknown } = {};
  self.self = self;
  return self;
};

describe('an engine that answers more than once', () => {
  const thenable = (
    settle: (resolve: (value: unknown) => void, reject: (e: unknown) => void) => void,
  ) =>
    // biome-ignore lint/suspicious/noThenProperty: an engine may return such a thing
    ({ then: settle }) as unknown as Promise<AgentResult>;

  it.each<[string, Engine['run'], string]>([
    [
      'two answers',
      () =>
        thenable((resolve) => {
          resolve(answer('first'));
          resolve(answer('second'));
        }),
      'first',
    ],
    [
      'an answer, then a failure',
      () =>
        thenable((resolve, reject) => {
          resolve(answer('first'));
          reject(new Error('too late'));
        }),
      'first',
    ],
  ])('%s: only the first counts', async (_what, first, text) => {
    const { result, receipts } = await run(first);
    expect(result).toMatchObject({ output: { nodes: { a: text } } });
    expect(receipts).toHaveLength(2);
  });

  it('a failure, then an answer: the failure counts', async () => {
    const { failed, result } = await run(() =>
      thenable((resolve, reject) => {
        reject(new Error('first'));
        resolve(answer('second'));
      }),
    );
    expect(result).toMatchObject({ kind: 'fail' });
    expect(failed).toMatchObject({ code: 'EFFECT_FAILED' });
  });
});

describe('an engine that streams', () => {
  it('after its end is not heard, and changes no receipt', async () => {
    const lines: EngineLine[] = [];
    const ended = gate<EngineListener>();
    const { receipts } = await run(
      async (_request, onEvent) => {
        onEvent({ kind: 'text', text: 'during' });
        ended.open(onEvent);
        return answer('done');
      },
      (line) => lines.push(line),
    );
    const onEvent = await ended.opened;
    onEvent({ kind: 'text', text: 'after' });
    onEvent({ kind: 'usage', usage: { kind: 'reported', inputTokens: 1e9, outputTokens: 1e9 } });
    expect(lines.map(({ event }) => event)).toEqual([{ kind: 'text', text: 'during' }]);
    expect(receipts[0]).toMatchObject({ usage: { inputTokens: 3, outputTokens: 4 } });
  });

  it.each<[string, unknown]>([
    ['null', null],
    ['a text', 'hello'],
    ['an unknown kind', { kind: 'dance' }],
    ['usage that is none', { kind: 'usage', usage: { kind: 'reported', inputTokens: -5 } }],
    ['what cannot be read', untouchable()],
  ])('%s as an event breaks nothing', async (_what, event) => {
    const { result, receipts } = await run(
      async (_request, onEvent) => {
        onEvent(event as never);
        return answer('done');
      },
      () => {},
    );
    expect(result).toMatchObject({ output: { nodes: { a: 'done' } } });
    expect(receipts[0]).toMatchObject({ usage: { inputTokens: 3 } });
  });

  it('tells its host events and nothing else', async () => {
    const lines: EngineLine[] = [];
    const held: { text: string } = { text: 'Hm' };
    const usage = { kind: 'reported', inputTokens: 1, outputTokens: 2 };
    const told: readonly unknown[] = [
      { kind: 'text', text: 'one', secretly: held },
      { kind: 'text', text: held },
      { kind: 'thinking' },
      { kind: 'dance', text: 'no' },
      { kind: 'tool', name: 'read', phase: 'use', target: 7 },
      { kind: 'tool', name: 'read', phase: 'perhaps' },
      { kind: 'tool', name: 'read', phase: 'result', target: '/tmp' },
      { kind: 'usage', usage: { ...usage, held }, model: held },
      { kind: 'usage', usage: { kind: 'reported', inputTokens: -1, outputTokens: 2 } },
      ['text'],
      untouchable(),
    ];
    await run(
      async (_request, onEvent) => {
        for (const event of told) onEvent(event as never);
        return answer('done');
      },
      (line) => lines.push(line),
    );
    const events = lines.map(({ event }) => event);
    expect(events).toStrictEqual([
      { kind: 'text', text: 'one' },
      { kind: 'tool', name: 'read', phase: 'use' },
      { kind: 'tool', name: 'read', phase: 'result', target: '/tmp' },
      { kind: 'usage', usage },
    ]);
    expect(events.every((event) => Object.isFrozen(event))).toBe(true);
  });

  it('to a host whose listener throws is not disturbed', async () => {
    const { result } = await run(
      async (_request, onEvent) => {
        onEvent({ kind: 'text', text: 'hello' });
        return answer('done');
      },
      () => {
        throw new Error('a broken screen');
      },
    );
    expect(result).toMatchObject({ output: { nodes: { a: 'done' } } });
  });

  it('its usage and then fails is charged what it has told', async () => {
    const usage = { kind: 'reported', inputTokens: 11, outputTokens: 2 } as const;
    const { receipts } = await run(async (_request, onEvent) => {
      onEvent({ kind: 'usage', usage });
      throw new Error('lost the line');
    });
    expect(receipts).toMatchObject([{ failure: 'unknown', usage }]);
  });
});

describe('an engine', () => {
  it('cannot change what it is asked', async () => {
    const { failed } = await run(async (request) => {
      (request as { prompt: string }).prompt = 'another';
      return answer('done');
    });
    expect(failed?.['message']).toMatch(/read only/);
  });

  it('whose name throws harms nobody but its node', async () => {
    const world = await laneWorld({ targets: [big], responders: [] });
    const engine = Object.defineProperty({ run: () => Promise.reject(new Error('no')) }, 'name', {
      get: () => {
        throw new Error('nameless');
      },
    }) as unknown as Engine;
    const executor = await world.open({ engines: [{ target: big, engine }] });
    expect(await executor.run()).toMatchObject({ kind: 'fail' });
    expect(await world.types()).toContain('node-failed');
  });
});
