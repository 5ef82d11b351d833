/** `holdfast/graph`: the pure graph contract of seed 003. Browser-safe. */
export {
  canonicalJson,
  digestJson,
  type HashText,
  isSha256Digest,
  type Sha256Digest,
} from './base/digest.ts';
export {
  type ErrorDetails,
  HoldfastError,
  HoldfastTypeError,
  isHoldfastError,
} from './base/errors.ts';
export {
  cloneFrozenJson,
  type JsonArray,
  type JsonObject,
  type JsonPrimitive,
  type JsonValue,
  JsonValueError,
  MAX_JSON_DEPTH,
} from './base/json.ts';
export type {
  CompleteCommand,
  DispatchCommand,
  FailCommand,
  GraphCommand,
  PauseCommand,
} from './graph/commands.ts';
export { compileGraph } from './graph/compile.ts';
export { defaultCursor, type FoldOperations } from './graph/cursor.ts';
export { MAX_POSITION_BYTES, validateDecision } from './graph/decision.ts';
export {
  type AnyGraphDefinition,
  type CompiledGraphDefinition,
  compileGraphDefinition,
  defineGraphDefinition,
  type GraphDefinition,
  type GraphEdge,
  type GraphNode,
} from './graph/definition.ts';
export type {
  GraphBounds,
  GraphDescription,
  GraphDescriptionInput,
  GraphEdgeDescription,
  GraphIdentity,
  GraphNodeDescription,
  GraphPermission,
  GraphPhaseDescription,
  GraphPolicies,
  PlanBound,
} from './graph/description.ts';
export type { ExecutionLaneDescription, ExecutionTarget } from './graph/execution-target.ts';
export type {
  AnyCompiledGraph,
  CompiledGraphType,
  GraphCursor,
  GraphEvent,
  GraphType,
  GraphTypeCompilation,
  NodeResultIssue,
} from './graph/graph-type.ts';
export { createGraphKernel, type GraphKernel } from './graph/kernel.ts';
export {
  type GraphAdmission,
  type GraphPackageIdentity,
  type LaneResolution,
  type PlanResolution,
  type ResolvedExecutionLane,
  type ResolvedPlan,
  type ResolvedPlanSnapshot,
  resolveGraphPlan,
} from './graph/plan.ts';
export type { PreflightLanePolicy, RunPreflightPolicy } from './graph/preflight-policy.ts';
export type { GraphRequirements } from './graph/requirements.ts';
export { validateGraphDescription } from './graph/validate-description.ts';
export { validateResolvedPlan } from './graph/validate-plan.ts';
export { type GraphIssue, GraphValidationError } from './graph/validation-error.ts';
