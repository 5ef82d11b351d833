/** The mock engine: what it fills in, what it tells, how it is aborted. */
import { getEventListeners } from 'node:events';
import {
  type AgentRequest,
  classifyEngineFailure,
  EngineError,
  type EngineEvent,
  engineSelection,
  MockEngine,
} from 'holdfast';
import { describe, expect, it } from 'vitest';

const target = {
  adapter: 'stub',
  provider: 'acme',
  modelFamily: 'small',
  model: 'small-1',
  tools: ['read'],
};

async function call(engine: MockEngine, request: Partial<AgentRequest> = {}) {
  const events: EngineEvent[] = [];
  const signal = new AbortController().signal;
  const asked = { prompt: 'hello', ...request };
  const result = await engine.run(asked, (event) => events.push(event), signal);
  return { result, events };
}

describe('the mock engine', () => {
  it('echoes the prompt, reports 10 tokens in and 5 out, and calls itself mock', async () => {
    const { result, events } = await call(new MockEngine());
    const usage = { kind: 'reported', inputTokens: 10, outputTokens: 5 };
    expect(result).toEqual({
      parts: [{ kind: 'assistant', text: 'hello', final: true }],
      usage,
      requested: engineSelection({ adapter: 'mock' }),
      effective: { adapter: 'mock', provider: null, modelFamily: null, model: 'mock' },
    });
    expect(events).toEqual([
      { kind: 'text', text: 'hello' },
      { kind: 'usage', usage, model: 'mock' },
    ]);
  });

  it('runs under the identity of its target, with the tools and model of a request', async () => {
    const engine = MockEngine.forTarget(target, () => ({ structured: [1], text: 'so' }));
    const identity = { adapter: 'stub', provider: 'acme', modelFamily: 'small', model: 'small-1' };
    const { result } = await call(engine, { tools: ['read'] });
    expect(result.requested).toEqual(engineSelection({ ...identity, capabilities: ['read'] }));
    expect(result.effective).toEqual(identity);
    expect(result.parts.map((part) => [part.kind, part.final])).toEqual([
      ['assistant', false],
      ['structured', true],
    ]);
    const other = await call(engine, { model: 'small-2', purpose: 'preflight' });
    expect(other.result.requested).toMatchObject({ model: 'small-2', capabilities: [] });
    expect(engine.calls.map(({ purpose }) => purpose)).toEqual([undefined, 'preflight']);
  });

  it('gives on what a reply says, word for word', async () => {
    const engine = new MockEngine((_, { index }) =>
      index === 0
        ? { model: 'other', usage: { kind: 'unknown' }, stopReason: 'length' }
        : { effective: null },
    );
    const { result, events } = await call(engine);
    expect(result).toMatchObject({ usage: { kind: 'unknown' }, stopReason: 'length' });
    expect(result.effective?.model).toBe('other');
    expect(events.at(-1)).toEqual({ kind: 'usage', usage: { kind: 'unknown' }, model: 'other' });
    expect((await call(engine)).result.effective).toBeNull();
  });

  it('throws what its responder throws', async () => {
    const dead = new EngineError({ kind: 'auth', message: 'No.' });
    const engine = new MockEngine((_, { index }) => {
      throw index === 0 ? dead : 'no error at all';
    });
    await expect(call(engine)).rejects.toBe(dead);
    await expect(call(engine)).rejects.toBe('no error at all');
    expect(engine.calls).toHaveLength(2);
  });

  it('leaves an answer that never comes when it is aborted, and tells no more of it', async () => {
    const controller = new AbortController();
    let tell: (event: EngineEvent) => void = () => {};
    const engine = new MockEngine((_, { onEvent }) => {
      tell = onEvent;
      return new Promise(() => {});
    });
    const events: EngineEvent[] = [];
    const listen = (event: EngineEvent) => events.push(event);
    const running = engine.run({ prompt: 'p' }, listen, controller.signal);
    tell({ kind: 'thinking', text: 'hm' });
    const reason = new Error('enough');
    controller.abort(reason);
    await expect(running).rejects.toMatchObject({ kind: 'aborted', cause: reason });
    tell({ kind: 'text', text: 'too late' });
    expect(events).toEqual([{ kind: 'thinking', text: 'hm' }]);
  });

  it('leaves no listener at a signal that outlives its calls', async () => {
    const { signal } = new AbortController();
    const engine = new MockEngine((_, { index }) => {
      if (index === 1) throw new Error('no');
      return 'yes';
    });
    await engine.run({ prompt: 'p' }, () => {}, signal);
    await engine.run({ prompt: 'p' }, () => {}, signal).catch(() => {});
    await engine.admit?.({}, signal);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('throws what a responder throws that aborted its own call, and no more', async () => {
    const controller = new AbortController();
    const own = new Error('mine');
    const engine = new MockEngine(() => {
      controller.abort();
      throw own;
    });
    await expect(engine.run({ prompt: 'p' }, () => {}, controller.signal)).rejects.toBe(own);
    // A refusal that nobody handles would fail this file.
    await new Promise(setImmediate);
  });

  it('keeps each request as it was, whatever becomes of it', async () => {
    const engine = new MockEngine();
    const request = { prompt: 'before' };
    await engine.run(request, () => {}, new AbortController().signal);
    request.prompt = 'after';
    expect(engine.calls).toEqual([{ prompt: 'before' }]);
  });

  it('leaves a check that never answers when it is aborted', async () => {
    const controller = new AbortController();
    const engine = new MockEngine(undefined, { admit: () => new Promise(() => {}) });
    const check = engine.admit?.({}, controller.signal);
    controller.abort();
    expect(await check?.catch(classifyEngineFailure)).toBe('aborted');
  });

  it('makes no call of one that was aborted before', async () => {
    const engine = new MockEngine();
    const running = engine.run({ prompt: 'p' }, () => {}, AbortSignal.abort());
    expect(await running.catch(classifyEngineFailure)).toBe('aborted');
    expect(engine.calls).toEqual([]);
  });

  it('admits by its selection, by a function, or not at all', async () => {
    const { signal } = new AbortController();
    const admitted = engineSelection({ ...target, capabilities: ['read'] });
    const engine = MockEngine.forTarget(target);
    expect(await engine.admit?.({ tools: ['read'] }, signal)).toEqual(admitted);
    expect(engine.admissions).toEqual([{ tools: ['read'] }]);
    expect(engine.calls).toEqual([]);
    const other = engineSelection({ adapter: 'other' });
    const own = new MockEngine(undefined, { admit: (_, __, expected) => expected ?? other });
    expect(await own.admit?.({}, signal)).toBe(other);
    expect(await own.admit?.({}, signal, admitted)).toBe(admitted);
    expect('admit' in new MockEngine(undefined, { admit: 'unsupported' })).toBe(false);
  });
});
