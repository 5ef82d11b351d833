/** The engine kit passes the mock engine, and catches engines that are wrong in one way. */
import {
  type AgentRequest,
  type AgentResult,
  EngineError,
  type EngineEvent,
  type EngineListener,
} from 'holdfast';
import { assertEngineConformance, runEngineConformance } from 'holdfast/testing';
import { describe, expect, it } from 'vitest';
import { type Mutation, mockFixture } from './mock-service.ts';

/** An engine whose answers are changed. */
function answering(change: (result: AgentResult) => unknown): Mutation {
  return {
    engine: (real) => ({
      run: async (...call) => change(await real.run(...call)) as AgentResult,
    }),
  };
}

/** An engine whose listener is changed. */
function telling(change: (listen: EngineListener) => EngineListener): Mutation {
  return {
    engine: (real) => ({ run: (asked, listen, signal) => real.run(asked, change(listen), signal) }),
  };
}

function withoutKey<T extends object>(value: T, key: keyof T): Partial<T> {
  const { [key]: _, ...rest } = value;
  return rest as Partial<T>;
}

const mutants: Readonly<Record<string, readonly [caught: string, mutation: Mutation]>> = {
  'makes zero of unknown usage': [
    'usage that nobody reported',
    answering((result) => ({
      ...result,
      usage:
        result.usage.kind === 'unknown'
          ? { kind: 'reported', inputTokens: 0, outputTokens: 0 }
          : result.usage,
    })),
  ],
  'leaves reported usage out': [
    'reported usage is given on',
    answering((result) => withoutKey(result, 'usage')),
  ],
  'tells usage twice': [
    'reported usage is given on',
    telling((listen) => (event) => {
      listen(event);
      if (event.kind === 'usage') listen(event);
    }),
  ],
  'has no final part': [
    'a text is the final part',
    answering((result) => ({
      ...result,
      parts: result.parts.map((part) => ({ ...part, final: false })),
    })),
  ],
  'gives parts in the wrong order': [
    'parts and told texts are in the order',
    answering((result) => {
      const parts = result.parts.map((part) => ({ ...part, final: false })).reverse();
      return {
        ...result,
        parts: parts.map((part, at) => ({ ...part, final: at === parts.length - 1 })),
      };
    }),
  ],
  'gives a structured answer as text': [
    'a structured answer',
    answering((result) => ({
      ...result,
      parts: result.parts.map((part) =>
        part.kind === 'assistant'
          ? part
          : { kind: 'assistant', text: JSON.stringify(part.value), final: true },
      ),
    })),
  ],
  'tells no text': [
    'a text is the final part',
    telling((listen) => (event) => event.kind === 'text' || listen(event)),
  ],
  'tells of tools after the answer': [
    'a tool is told when',
    {
      engine: (real) => ({
        run: async (asked, listen, signal) => {
          const tools: EngineEvent[] = [];
          const result = await real.run(
            asked,
            (event) => (event.kind === 'tool' ? tools.push(event) : listen(event)),
            signal,
          );
          for (const event of tools) listen(event);
          return result;
        },
      }),
    },
  ],
  'tells after the answer': [
    'a text is the final part',
    {
      engine: (real) => ({
        run: async (asked, listen, signal) => {
          const result = await real.run(asked, listen, signal);
          setImmediate(() => listen({ kind: 'thinking', text: 'by the way' }));
          return result;
        },
      }),
    },
  ],
  'tells malformed events': [
    'a text is the final part',
    telling((listen) => (event) => listen({ ...event, kind: 'message' } as unknown as EngineEvent)),
  ],
  'ignores its signal': [
    'a call that is aborted settles',
    {
      engine: (real) => ({
        run: (asked, listen) => real.run(asked, listen, new AbortController().signal),
      }),
    },
  ],
  'calls an abort a timeout': [
    'a call that is aborted settles',
    {
      engine: (real) => ({
        run: (...call) =>
          real.run(...call).catch((error: unknown) => {
            if (!call[2].aborted) throw error;
            throw new EngineError({ kind: 'timeout', message: 'Too late.' });
          }),
      }),
    },
  ],
  'calls although it is aborted': [
    'aborted before it begins is none',
    {
      engine: (real) => ({
        run: async (asked, listen, signal) => {
          const result = await real.run(asked, listen, new AbortController().signal);
          if (!signal.aborted) return result;
          throw new EngineError({ kind: 'aborted', message: 'Aborted.' });
        },
      }),
    },
  ],
  'stays aborted': [
    'a call after an aborted one',
    {
      engine: (real) => {
        let isAborted = false;
        return {
          run: (asked, listen, signal) => {
            isAborted ||= signal.aborted;
            return real.run(asked, listen, isAborted ? AbortSignal.abort() : signal);
          },
        };
      },
    },
  ],
  'names a failure by its text': [
    'a failure of kind unknown',
    {
      engine: (real) => ({
        run: (...call) =>
          real.run(...call).catch((error: unknown) => {
            if (!String(error).includes('401')) throw error;
            throw new EngineError({ kind: 'auth', message: 'The key was refused.' });
          }),
      }),
    },
  ],
  'throws plain errors': [
    'a failure of kind auth',
    {
      engine: (real) => ({
        run: (...call) =>
          real.run(...call).catch((error: unknown) => {
            throw new Error(String(error));
          }),
      }),
    },
  ],
  'tries a live check again': [
    'a live check that fails is not tried again',
    { engine: (real) => ({ run: (...call) => real.run(...call).catch(() => real.run(...call)) }) },
  ],
  'offers tools to a live check': [
    'a live check is one call without tools',
    {
      responder: (real) => (asked, call) => real({ ...asked, tools: ['read'] }, call),
    },
  ],
  'remembers earlier calls': [
    'a call does not see the one before',
    {
      responder: (real) => {
        const said: string[] = [];
        return (asked, call) => {
          said.push(asked.prompt);
          return real({ ...asked, prompt: said.join('\n') }, call);
        };
      },
    },
  ],
  'has one listener for all calls': [
    'calls that overlap are apart',
    {
      engine: (real) => {
        let current: EngineListener = () => {};
        return {
          run: (asked, listen, signal) => {
            current = listen;
            return real.run(asked, (event) => current(event), signal);
          },
        };
      },
    },
  ],
  'writes to its request': [
    'a text is the final part',
    {
      engine: (real) => ({
        run: (asked, ...rest) => {
          (asked as { -readonly [Key in keyof AgentRequest]: AgentRequest[Key] }).maxTokens = 1;
          return real.run(asked, ...rest);
        },
      }),
    },
  ],
  'says that something else was asked for': [
    'a text is the final part',
    answering((result) => ({ ...result, requested: { ...result.requested, model: 'large-1' } })),
  ],
  'reports no identity': [
    'a text is the final part',
    answering((result) => ({ ...result, effective: null })),
  ],
  'admits another identity than it runs under': [
    'a static check reports the identity',
    {
      engine: (real) => ({
        admit: async (...check) => ({
          ...(await real.admit?.(...check)),
          ...{ adapter: 'mock', provider: null, modelFamily: null, model: null },
          ...{ adapterVersion: null, executable: null, capabilities: [] },
        }),
      }),
    },
  ],
  'makes a call to admit': [
    'a static check reports the identity',
    {
      engine: (real) => ({
        admit: async (asked, signal) =>
          (await real.run({ ...asked, prompt: 'ready?' }, () => {}, signal)).requested,
      }),
    },
  ],
  'admits although it is aborted': [
    'aborted before it begins is refused',
    {
      engine: (real) => ({
        admit: async (asked) => {
          if (real.admit === undefined) throw new Error('no admit');
          return real.admit(asked, new AbortController().signal);
        },
      }),
    },
  ],
  'has no static check, and does not say so': [
    'a static check reports the identity',
    { options: { admit: 'unsupported' } },
  ],
};

describe('the engine kit', () => {
  it('passes the mock engine in every case', async () => {
    const report = await runEngineConformance(mockFixture());
    expect(report.failures).toEqual([]);
    expect(report.cases).toBe(27);
    await expect(assertEngineConformance(mockFixture())).resolves.toBeUndefined();
  });

  it.concurrent.each(Object.entries(mutants))('catches an engine that %s', async (_, mutant) => {
    const [caught, mutation] = mutant;
    const report = await runEngineConformance(mockFixture(mutation));
    expect(report.failures.map((failure) => failure.case).join('\n')).toContain(caught);
  });

  it('leaves out what is declared unsupported with a reason', async () => {
    const fixture = mockFixture({ options: { admit: 'unsupported' } });
    const report = await runEngineConformance({
      ...fixture,
      unsupported: { admit: 'The service has no way to ask.' },
    });
    expect(report).toMatchObject({ ok: true, cases: 24 });
  });

  it.each<[string, Readonly<Record<string, string>>, string]>([
    ['without a reason', { admit: ' ' }, 'admit has no reason'],
    ['that every engine can have', { hang: 'It never hangs.' }, 'hang cannot be unsupported'],
    ['that does not exist', { 'failure:aborted': 'x' }, 'failure:aborted is no scenario'],
  ])('refuses a declaration %s', async (_, unsupported, message) => {
    const { failures } = await runEngineConformance({ ...mockFixture(), unsupported });
    const declared = failures.filter((failure) => failure.case.includes('declared'));
    expect(declared).toEqual([
      expect.objectContaining({ message: expect.stringContaining(message) }),
    ]);
  });
});
