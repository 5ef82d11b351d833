/** The door `holdfast/flow`: the planner, its catalogue and its checks. Pure, browser-safe. */

// Expressions
export {
  type CompiledExpression,
  compileCondition,
  compileExpression,
  compileList,
  type ExpressionOptions,
} from './expression/compile.ts';
export type { ExpressionValues } from './expression/evaluate.ts';
export {
  ExpressionError,
  type ExpressionErrorCode,
  type ExpressionPlace,
} from './expression/expression-error.ts';
// Validation
export {
  checkExpression,
  checkFlowExpression,
  checkTemplateValue,
  type ExpressionIssue,
} from './expression/issues.ts';
export type { ExpressionKind } from './expression/prepared.ts';
export { expressionReferences } from './expression/references.ts';
export { type ExpressionScope, flowExpressionScope } from './expression/scope.ts';
export { compileTemplate } from './expression/template.ts';
export { type CompiledTemplateValue, compileTemplateValue } from './expression/template-value.ts';
// The node catalogue
export {
  branchesOf,
  configSources,
  isNodeType,
  nodeTypes,
  outputsOf,
  runsUserCode,
  validateConfig,
} from './flow/catalogue.ts';
// The incremental planner
export { type CompiledTopology, compileTopology, type EdgeRows } from './flow/compiled-topology.ts';
// The planner of seed 004
export {
  beginNode,
  completeLoop,
  completeNode,
  failNode,
  markRunning,
  markWaiting,
} from './flow/complete.ts';
export type { ConfigIssue, ConfigSource, SourceKind } from './flow/config-fields.ts';
export {
  type DryRun,
  type DryRunChoice,
  type DryRunChoose,
  type DryRunOptions,
  dryRun,
} from './flow/dry-run.ts';
export type {
  CheckExpression,
  ExpressionFault,
  FlowExpressionScope,
} from './flow/expression-port.ts';
export {
  type CanvasPlace,
  edgeHandle,
  type FlowEdge,
  type FlowGraph,
  type FlowNode,
  isBackEdge,
  topologyKey,
} from './flow/flow-graph.ts';
export type { FlowIssueCode, GraphIssue, GraphIssues } from './flow/graph-issue.ts';
export { loopRegion } from './flow/loop-region.ts';
export {
  type ApprovalConfig,
  type ContinueAsNewConfig,
  type DelayConfig,
  type LoopConfig,
  type MapConfig,
  type NodeConfigs,
  type NodeType,
  nodeDefaults,
  type RetryConfig,
  type SignalConfig,
  type SubflowConfig,
  type SwitchCase,
  type SwitchConfig,
  type TaskConfig,
  type TypedNode,
  type UndoConfig,
} from './flow/node-config.ts';
export {
  type PlanOutcome,
  type PlanRejection,
  planOutcome,
  planRejections,
} from './flow/outcome.ts';
export type { SavedPlan } from './flow/plan-columns.ts';
export { PlanCursor, type ReadyIndexes } from './flow/plan-cursor.ts';
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
export { type ValidateGraphOptions, validateGraph } from './flow/validate-graph.ts';
