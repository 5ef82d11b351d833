/** The door `holdfast/testing`: kits, fakes and generators. */

// The parts of the local storage that tests and benches replace or use by themselves
export type { FileSync } from './adapters/sqlite/file-sync.ts';
export { loadSqliteDriver } from './adapters/sqlite/load-driver.ts';
export type { SqliteConnection, SqliteDriver } from './adapters/sqlite/sqlite-driver.ts';
export { createSqliteRunStorage, type SqliteParts } from './adapters/sqlite/storage.ts';

// What the executor makes of an engine's answer
export {
  finalPart,
  partsBytes,
  readAgentResult,
  readReportedIdentity,
  readUsage,
} from './engine/agent-result.ts';
// The graph-type kit
export { defineGraphDefinition } from './graph/definition.ts';
// The store kits
export {
  assertArtifactStoreConformance,
  runArtifactStoreConformance,
} from './testing/artifact-store-conformance.ts';
export type {
  ConformanceFailure,
  ConformanceReport,
} from './testing/conformance-report.ts';
// The engine kit
export {
  assertEngineConformance,
  runEngineConformance,
} from './testing/engine-conformance.ts';
export type {
  EngineConformanceFixture,
  EngineScenario,
  ObservedCall,
  OpenedEngine,
  ProvokedFailure,
} from './testing/engine-fixture.ts';
export {
  assertEventStoreConformance,
  runEventStoreConformance,
} from './testing/event-store-conformance.ts';
// Time and chance
export { createFakeClock, type FakeClock, type FakeClockOptions } from './testing/fake-clock.ts';
export { createGraphEventTrace, type GraphEventTrace } from './testing/graph-event-trace.ts';
export {
  assertGraphTypeConformance,
  runGraphTypeConformance,
} from './testing/graph-type-conformance.ts';
export type { GraphTypeConformanceFixture } from './testing/graph-type-fixture.ts';
export {
  assertLeaseStoreConformance,
  runLeaseStoreConformance,
} from './testing/lease-store-conformance.ts';
export {
  assertMemoryConformance,
  runMemoryConformance,
} from './testing/memory-conformance.ts';
export type { MemoryBacking, MemoryFactory } from './testing/memory-fixture.ts';
// The planner
export { type RandomFlowOptions, randomChoices, randomFlow } from './testing/random-flow.ts';
export {
  assertRunIndexConformance,
  runRunIndexConformance,
} from './testing/run-index-conformance.ts';
export { createSeededRandom, type SeededRandom } from './testing/seeded-random.ts';
// The simulation of the executor
export type { CrashPoint, FaultBudget } from './testing/sim-faults.ts';
export {
  type SimulationForm,
  type SimulationOptions,
  simulationOptions,
} from './testing/sim-options.ts';
export type { SimProcess } from './testing/sim-process.ts';
export { runSimulation, type SimulationReport, simulateSeed } from './testing/sim-run.ts';
export type { SimulationSeams } from './testing/sim-world.ts';
export { simulate } from './testing/simulate-flow.ts';
export {
  assertSnapshotStoreConformance,
  runSnapshotStoreConformance,
} from './testing/snapshot-store-conformance.ts';
export type {
  StorageBacking,
  StorageFactory,
  StorageKitOptions,
} from './testing/storage-fixture.ts';
