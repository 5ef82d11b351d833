/**
 * The graph-type conformance kit: seed 003, "Conformance". Framework-free and synchronous.
 *
 * It checks public behaviour with separate compiled instances and leaves the caller's values
 * alone. It does not stop effects: a graph type is trusted code.
 */
import type { AnyGraphDefinition } from '../graph/definition.ts';
import type { GraphRequirements } from '../graph/requirements.ts';
import {
  type ConformanceCase,
  type ConformanceReport,
  reportOf,
  requireConformance,
} from './conformance-report.ts';
import {
  declaredBounds,
  deterministicCompile,
  deterministicDecision,
  deterministicPlanResolution,
  deterministicReplay,
  inputImmutability,
  invalidDefinitions,
  newRequestsOnly,
  noClockOrChance,
} from './graph-type-cases.ts';
import { ownCursor } from './graph-type-cursor-case.ts';
import {
  type AnyFixture,
  type GraphTypeConformanceFixture,
  hasOwnCursor,
} from './graph-type-fixture.ts';

const CASES: readonly (readonly [string, (fixture: AnyFixture) => void])[] = [
  ['deterministic compile', deterministicCompile],
  ['deterministic replay', deterministicReplay],
  ['deterministic decision', deterministicDecision],
  ['new requests only', newRequestsOnly],
  ['input immutability', inputImmutability],
  ['invalid definitions', invalidDefinitions],
  ['deterministic plan resolution', deterministicPlanResolution],
  ['declared bounds', declaredBounds],
  ['no clock or chance', noClockOrChance],
];

/**
 * Checks a graph type against a fixture; all cases run, each gives at most one failure. A graph
 * type with a cursor of its own (`open`) has one case more, `own cursor`.
 *
 * @example
 * const report = runGraphTypeConformance(fixture);
 * if (!report.ok) throw new Error(JSON.stringify(report.failures));
 */
export function runGraphTypeConformance<
  Definition extends AnyGraphDefinition,
  State,
  Event,
  Requirements extends GraphRequirements,
>(fixture: GraphTypeConformanceFixture<Definition, State, Event, Requirements>): ConformanceReport {
  // The kit treats states and events as JSON; that they are is one of the things it checks.
  const any = fixture as unknown as AnyFixture;
  const cases = CASES.map(([name, check]): ConformanceCase => ({ name, run: () => check(any) }));
  return reportOf(
    bringsCursor(any) ? [...cases, { name: 'own cursor', run: () => ownCursor(any) }] : cases,
  );
}

/**
 * Like `runGraphTypeConformance`, for test frameworks. Throws one error (`CONFORMANCE_FAILED`)
 * that joins `case: message` of all failures.
 *
 * @example it('keeps the contract', () => assertGraphTypeConformance(fixture));
 */
export function assertGraphTypeConformance<
  Definition extends AnyGraphDefinition,
  State,
  Event,
  Requirements extends GraphRequirements,
>(fixture: GraphTypeConformanceFixture<Definition, State, Event, Requirements>): void {
  requireConformance(runGraphTypeConformance(fixture));
}

function bringsCursor(fixture: AnyFixture): boolean {
  try {
    return hasOwnCursor(fixture);
  } catch {
    // A graph type that does not compile fails the other cases with its reason.
    return false;
  }
}
