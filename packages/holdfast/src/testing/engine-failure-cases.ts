/** Cases of the engine kit: calls that are aborted, and calls that fail. */
import { ENGINE_FAILURE_KINDS } from '../base/engine-failure.ts';
import { classifyEngineFailure } from '../engine/engine-error.ts';
import type { EngineCase } from './engine-answer-cases.ts';
import { ABORT_LIMIT_MS, type EngineBench } from './engine-bench.ts';
import type { ProvokedFailure } from './engine-fixture.ts';
import { expectSame, withinTime } from './expectation.ts';

/** Every kind that is provoked from outside. Not `aborted`: the kit aborts by itself. */
const PROVOKED: readonly ProvokedFailure[] = ENGINE_FAILURE_KINDS.filter(
  (kind) => kind !== 'aborted',
);

async function expectKind(bench: EngineBench, kind: string): Promise<void> {
  expectSame('the kind of the failure', classifyEngineFailure(await bench.failed()), kind);
}

const abortCases: readonly EngineCase[] = [
  {
    name: `a call that is aborted settles within ${ABORT_LIMIT_MS} ms, as aborted`,
    scenario: 'hang',
    run: async (bench) => {
      const controller = new AbortController();
      const call = bench.failed({ signal: controller.signal });
      // Awaited below; until then a refusal is nobody's.
      call.catch(() => {});
      await bench.until('a call at the side of the model', () => bench.observed().length > 0);
      controller.abort(new Error('the kit has aborted this call'));
      const error = await withinTime(call, ABORT_LIMIT_MS);
      expectSame('the kind of the failure', classifyEngineFailure(error), 'aborted');
    },
  },
  {
    name: 'a call that is aborted before it begins is none',
    scenario: 'text',
    run: async (bench) => {
      const error = await bench.failed({ signal: AbortSignal.abort() });
      expectSame('the kind of the failure', classifyEngineFailure(error), 'aborted');
      expectSame('how many calls', bench.observed().length, 0);
    },
  },
  {
    name: 'a call after an aborted one is answered',
    scenario: 'text',
    run: async (bench) => {
      await bench.failed({ signal: AbortSignal.abort() });
      const controller = new AbortController();
      await bench.answered({ signal: controller.signal });
      controller.abort();
      await bench.answered();
    },
  },
];

/** One case for each kind. */
export const failureCases: readonly EngineCase[] = [
  ...abortCases,
  ...PROVOKED.map(
    (kind): EngineCase => ({
      name: `a failure of kind ${kind} is named so`,
      scenario: `failure:${kind}`,
      run: (bench) => expectKind(bench, kind),
    }),
  ),
];
