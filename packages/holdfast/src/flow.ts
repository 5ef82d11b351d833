/** The door `holdfast/flow`: the planner, its catalogue and its checks. Pure, browser-safe. */

// The planner of seed 004
export {
  beginNode,
  completeLoop,
  completeNode,
  failNode,
  markRunning,
  markWaiting,
} from './flow/complete.ts';
export {
  type DryRun,
  type DryRunChoice,
  type DryRunChoose,
  type DryRunOptions,
  dryRun,
} from './flow/dry-run.ts';
export {
  type CanvasPlace,
  edgeHandle,
  type FlowEdge,
  type FlowGraph,
  type FlowNode,
  isBackEdge,
  topologyKey,
} from './flow/flow-graph.ts';
export { loopRegion } from './flow/loop-region.ts';
export {
  type PlanOutcome,
  type PlanRejection,
  planOutcome,
  planRejections,
} from './flow/outcome.ts';
export {
  type EdgeState,
  initPlan,
  type NodeStatus,
  type PlanNode,
  type PlanState,
} from './flow/plan-state.ts';
export { isSettled, type ReadyNodes, readyNodes } from './flow/ready.ts';
export {
  type FlowOccurrence,
  flowPosition,
  parseFlowPosition,
  stepKey,
} from './flow/step-key.ts';
