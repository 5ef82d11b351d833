/** A fixture of the engine kit over `MockEngine`: its responder is the model's side. */
import {
  type AgentRequest,
  type Engine,
  EngineError,
  type EngineFailureKind,
  engineSelection,
  MockEngine,
  type MockEngineOptions,
  type MockResponder,
} from 'holdfast';
import type { EngineConformanceFixture, EngineScenario, ObservedCall } from 'holdfast/testing';

const target = { adapter: 'mock', provider: 'acme', modelFamily: 'small', model: 'small-1' };

export const request: AgentRequest = { prompt: 'Say hello.', model: 'small-1', tools: ['read'] };
export const requested = engineSelection({ ...target, capabilities: ['read'] });

const never = new Promise<never>(() => {});

const answers: Readonly<Partial<Record<EngineScenario, MockResponder>>> = {
  parts: () => ({
    parts: [
      { kind: 'assistant', text: 'Looking.', final: false },
      { kind: 'assistant', text: 'Done.', final: true },
    ],
  }),
  structured: () => ({ structured: { answer: 42 } }),
  'unknown-usage': () => ({ usage: { kind: 'unknown' } }),
  'reported-usage': () => ({ usage: { kind: 'reported', inputTokens: 5, outputTokens: 3 } }),
  tools: (_, { onEvent }) => {
    onEvent({ kind: 'tool', name: 'read', phase: 'use', target: 'a.txt' });
    onEvent({ kind: 'tool', name: 'read', phase: 'result' });
    return 'Read.';
  },
  hang: () => never,
  'preflight-transient': () => {
    throw new EngineError({ kind: 'transient', message: 'Busy.' });
  },
};

function failing(kind: EngineFailureKind): MockResponder {
  return () => {
    throw kind === 'unknown' ? new Error('401') : new EngineError({ kind, message: 'No.' });
  };
}

function responderOf(scenario: EngineScenario): MockResponder {
  if (scenario.startsWith('failure:')) {
    return failing(scenario.slice('failure:'.length) as EngineFailureKind);
  }
  return answers[scenario] ?? (() => 'Hello from the engine.');
}

/** What a mutant does to the engine of a scenario. */
export interface Mutation {
  readonly responder?: (real: MockResponder) => MockResponder;
  readonly options?: MockEngineOptions;
  readonly engine?: (real: MockEngine, scenario: EngineScenario) => Partial<Engine>;
}

export function mockFixture(mutation: Mutation = {}): EngineConformanceFixture {
  return {
    request,
    requested,
    effective: target,
    open: (scenario) => {
      const observed: ObservedCall[] = [];
      const real = responderOf(scenario);
      const model: MockResponder = (asked, call) => {
        observed.push({ text: asked.prompt, tools: asked.tools ?? [] });
        return real(asked, call);
      };
      const responder = mutation.responder?.(model) ?? model;
      const engine = MockEngine.forTarget(target, responder, mutation.options);
      const port: Engine = {
        name: engine.name,
        run: engine.run.bind(engine),
        ...(engine.admit === undefined ? {} : { admit: engine.admit }),
        ...mutation.engine?.(engine, scenario),
      };
      return { engine: port, observed: () => observed };
    },
  };
}
