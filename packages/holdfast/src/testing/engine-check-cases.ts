/** Cases of the engine kit: checks before a run. Seed 002, "Check the engines". */
import { engineSelection } from '../base/engine-identity.ts';
import type { AgentRequest, Engine } from '../engine/engine.ts';
import { classifyEngineFailure } from '../engine/engine-error.ts';
import { fail } from './conformance-report.ts';
import type { EngineCase } from './engine-answer-cases.ts';
import { ABORT_LIMIT_MS, type EngineBench } from './engine-bench.ts';
import { expectSame, expectTrue, withinTime } from './expectation.ts';

/** What a live check changes of a request. */
const LIVE_CHECK = {
  prompt: 'Answer with the one word: ready',
  purpose: 'preflight',
  tools: [],
  allowedTools: [],
  workspaceMode: 'none',
  maxTokens: 16,
} as const satisfies Partial<AgentRequest>;

type Admit = (signal: AbortSignal) => Promise<unknown>;

function admission({ engine, fixture }: EngineBench): Admit {
  const { prompt: _, ...request } = fixture.request;
  const admit: Engine['admit'] = engine.admit?.bind(engine);
  if (admit === undefined) fail("it has no admit: declare 'admit' unsupported, with the reason");
  return async (signal) => admit(structuredClone(request), signal, fixture.requested);
}

const liveChecks: readonly EngineCase[] = [
  {
    name: 'a live check is one call without tools, answered with text',
    scenario: 'text',
    run: async (bench) => {
      const { result } = await bench.answered({ request: LIVE_CHECK, capabilities: [] });
      const last = result.parts.at(-1);
      const hasText = last?.kind === 'assistant' && last.text.trim() !== '';
      expectTrue('the final part is no text', hasText);
      const offered = bench.observed().map((call) => call.tools);
      expectSame('the tools of each call', offered, [[]]);
    },
  },
  {
    name: 'a live check that fails is not tried again by the engine',
    scenario: 'preflight-transient',
    run: async (bench) => {
      const error = await bench.failed({ request: LIVE_CHECK, capabilities: [] });
      expectSame('the kind of the failure', classifyEngineFailure(error), 'transient');
      expectSame('how many calls', bench.observed().length, 1);
    },
  },
];

const staticChecks: readonly EngineCase[] = [
  {
    name: 'a static check reports the identity that calls run under, and calls nobody',
    scenario: 'admit',
    run: async (bench) => {
      const { requested } = bench.fixture;
      const admitted = await withinTime(admission(bench)(new AbortController().signal));
      expectSame('the identity', admitted, requested);
      expectSame('the same, normalised', engineSelection(requested), admitted);
      expectSame('how many calls', bench.observed().length, 0);
    },
  },
  {
    name: 'a static check that is aborted before it begins is refused as aborted',
    scenario: 'admit',
    run: async (bench) => {
      const check = admission(bench)(AbortSignal.abort());
      const kind = await withinTime(check.then(() => 'admitted', classifyEngineFailure));
      expectSame('what it comes to', kind, 'aborted');
    },
  },
  {
    name: `a static check that is aborted meanwhile settles within ${ABORT_LIMIT_MS} ms`,
    scenario: 'admit',
    run: async (bench) => {
      const controller = new AbortController();
      const check = admission(bench)(controller.signal);
      controller.abort();
      // A check without I/O may have its answer already.
      const settled = check.then(() => 'admitted', classifyEngineFailure);
      const kind = await withinTime(settled, ABORT_LIMIT_MS);
      expectTrue(`it failed as ${kind}`, kind === 'admitted' || kind === 'aborted');
      expectSame('how many calls', bench.observed().length, 0);
    },
  },
];

export const checkCases: readonly EngineCase[] = [...liveChecks, ...staticChecks];
