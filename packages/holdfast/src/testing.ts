/** The door `holdfast/testing`: kits, fakes and generators. */

// The graph-type kit
export { defineGraphDefinition } from './graph/definition.ts';
export type {
  ConformanceFailure,
  ConformanceReport,
} from './testing/conformance-report.ts';
export { createGraphEventTrace, type GraphEventTrace } from './testing/graph-event-trace.ts';
export {
  assertGraphTypeConformance,
  runGraphTypeConformance,
} from './testing/graph-type-conformance.ts';
export type { GraphTypeConformanceFixture } from './testing/graph-type-fixture.ts';
// The planner
export { simulate } from './testing/simulate-flow.ts';
