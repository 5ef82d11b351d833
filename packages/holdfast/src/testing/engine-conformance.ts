/** The kit of engines: whatever answers a prompt keeps the port's promises. Framework-free. */
import { outcomeOf } from './bench-case.ts';
import {
  type ConformanceFailure,
  type ConformanceReport,
  fail,
  failureOf,
  reportOfOutcomes,
  requireConformance,
} from './conformance-report.ts';
import { answerCases, type EngineCase } from './engine-answer-cases.ts';
import { EngineBench } from './engine-bench.ts';
import { checkCases } from './engine-check-cases.ts';
import { failureCases } from './engine-failure-cases.ts';
import type { EngineConformanceFixture, EngineScenario } from './engine-fixture.ts';
import { expectSame } from './expectation.ts';

/** Every engine can have these. */
const ALWAYS: readonly string[] = ['text', 'hang'] satisfies EngineScenario[];
const CASE_LIMIT_MS = 60_000;
const DECLARATION = 'what is unsupported is declared with a reason';

/**
 * Checks an engine against its port: answers, usage, tools, cancellation, failures and checks
 * before a run. Cases of scenarios that the fixture declares unsupported are not run and not
 * counted. Never throws for what the engine does wrong.
 *
 * @example
 * const report = await runEngineConformance({ request, requested, effective, open });
 * if (!report.ok) throw new Error(JSON.stringify(report.failures));
 */
export async function runEngineConformance(
  fixture: EngineConformanceFixture,
): Promise<ConformanceReport> {
  const { unsupported = {} } = fixture;
  const all = [...answerCases, ...failureCases, ...checkCases];
  const cases = all.filter(({ scenario }) => !Object.hasOwn(unsupported, scenario));
  const outcomes = [declarationOutcome(fixture, all)];
  // One after the other: a fixture may have one model's side for all.
  for (const each of cases) {
    const open = async () => new EngineBench(fixture, await fixture.open(each.scenario));
    outcomes.push(await outcomeOf(each, open, CASE_LIMIT_MS));
  }
  return reportOfOutcomes(outcomes);
}

/**
 * Like `runEngineConformance`, but throws `CONFORMANCE_FAILED` naming every failure.
 *
 * @example await assertEngineConformance(fixture)
 */
export async function assertEngineConformance(fixture: EngineConformanceFixture): Promise<void> {
  requireConformance(await runEngineConformance(fixture));
}

function declarationOutcome(
  fixture: EngineConformanceFixture,
  all: readonly EngineCase[],
): ConformanceFailure | null {
  try {
    requireDeclarations(fixture, all);
    return null;
  } catch (error) {
    return failureOf(DECLARATION, error);
  }
}

function requireDeclarations(fixture: EngineConformanceFixture, all: readonly EngineCase[]): void {
  const { request, requested, unsupported = {} } = fixture;
  expectSame("the request's tools, as capabilities", request.tools ?? [], requested.capabilities);
  const known = new Set<string>(all.map(({ scenario }) => scenario));
  for (const [scenario, reason] of Object.entries(unsupported)) {
    if (!known.has(scenario)) fail(`${scenario} is no scenario of this kit`);
    if (ALWAYS.includes(scenario)) fail(`${scenario} cannot be unsupported`);
    if (typeof reason !== 'string' || reason.trim() === '') fail(`${scenario} has no reason`);
  }
}
