/** `holdfast`: the whole library, as its doors show it. */

// Node bindings
export type { ActionDecision, NodeBinding, NodeBindings, StoredValue } from './attempt/binding.ts';
export type { GraphEngineBinding } from './attempt/engine-work.ts';
// Host bindings of a graph
export type { GraphBindings } from './attempt/graph-bindings.ts';
export type {
  NodeContext,
  NodeFunction,
  StepContext,
  StepOptions,
} from './attempt/node-context.ts';
export { NodeFailure } from './attempt/outcome.ts';
// Engines
export {
  ENGINE_FAILURE_KINDS,
  type EngineFailureKind,
  LANE_DEAD_FAILURES,
} from './base/engine-failure.ts';
export {
  type EngineSelectionRecord,
  engineSelection,
  type GraphEngineIdentity,
} from './base/engine-identity.ts';
// Errors: the closed table
export { type ErrorCode, type ErrorCodeEntry, errorCodes } from './base/error-codes.ts';
// What a store is
export type { OwnerIdentity } from './base/owner-identity.ts';
// Storing and running
export type { Clock, Timer } from './base/ports.ts';
export type { ReportedUsage, TokenTotals, UsageReceipt } from './base/usage.ts';
export type {
  AgentAttempt,
  AgentPart,
  AgentRequest,
  AgentResult,
  Engine,
  EngineEvent,
  EngineListener,
  WorkspaceMode,
} from './engine/engine.ts';
export {
  classifyEngineFailure,
  EngineError,
  type EngineErrorOptions,
} from './engine/engine-error.ts';
export {
  type AdmissionRequest,
  type MockAdmission,
  type MockCall,
  MockEngine,
  type MockEngineOptions,
  type MockReply,
  type MockResponder,
  type MockTarget,
} from './engine/mock-engine.ts';
export {
  createTokenBudget,
  type TokenBudget,
  type TokenBudgetMode,
  type TokenBudgetOptions,
  type TokenBudgetSnapshot,
  type TokenReservation,
  type TokenReserveOptions,
} from './engine/token-budget.ts';
export type { GraphExecutor, PreflightResume, Reconciliation } from './executor/executor.ts';
export { createGraphExecutor, type GraphExecutorOptions } from './executor/graph-executor.ts';
export type { EngineLine, LogLine } from './executor/options.ts';
export { maxFlowInputBytes } from './executor/result-limit.ts';
export {
  type LoadedRunDefinition,
  loadRunDefinition,
  type PersistRunOptions,
  persistRunDefinition,
  type RunDefinition,
} from './executor/run-definition.ts';
// Engine checks before a run
export {
  type InterruptOptions,
  interruptRunPreflight,
  readRunPreflight,
} from './executor/run-preflight.ts';
// A host that stays, and proofs about stored runs
export { localPlan, type StartRunOptions, startRun } from './executor/start-run.ts';
export { type VerifiedRun, type VerifyRunOptions, verifyRun } from './executor/verify-run.ts';
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
// The dag form
export { dagGraphType } from './forms/dag.ts';
export type { DagData, DagDefinition, DagNodeData, DagNodeKind } from './forms/dag-definition.ts';
export type { DagNodeState, DagNodeStatus, DagState } from './forms/dag-state.ts';
// The flow form
export { type FlowNodeResult, flowGraphType } from './forms/flow.ts';
export {
  type FlowDefinition,
  type FlowEdgeData,
  type FlowFile,
  type FlowNodeData,
  flowDefinition,
} from './forms/flow-definition.ts';
export type { FlowNodeInput, FlowNodeView } from './forms/flow-input.ts';
export type { FlowState } from './forms/flow-state.ts';
// The graph contract
export {
  type AnyCompiledGraph,
  type AnyGraphDefinition,
  type CompiledGraphDefinition,
  type CompiledGraphType,
  type CompleteCommand,
  canonicalJson,
  cloneFrozenJson,
  compileGraph,
  compileGraphDefinition,
  createGraphKernel,
  type DispatchCommand,
  defaultCursor,
  defineGraphDefinition,
  digestJson,
  type ErrorDetails,
  type ExecutionLaneDescription,
  type ExecutionTarget,
  type FailCommand,
  type FoldOperations,
  type GraphAdmission,
  type GraphBounds,
  type GraphCommand,
  type GraphCursor,
  type GraphDefinition,
  type GraphDescription,
  type GraphDescriptionInput,
  type GraphEdge,
  type GraphEdgeDescription,
  type GraphEvent,
  type GraphIdentity,
  type GraphIssue,
  type GraphKernel,
  type GraphNode,
  type GraphNodeDescription,
  type GraphPackageIdentity,
  type GraphPermission,
  type GraphPhaseDescription,
  type GraphPolicies,
  type GraphRequirements,
  type GraphType,
  type GraphTypeCompilation,
  GraphValidationError,
  type HashText,
  HoldfastError,
  HoldfastTypeError,
  isHoldfastError,
  isSha256Digest,
  type JsonArray,
  type JsonObject,
  type JsonPrimitive,
  type JsonValue,
  JsonValueError,
  type LaneResolution,
  MAX_JSON_DEPTH,
  MAX_POSITION_BYTES,
  type NodeResultIssue,
  type PauseCommand,
  type PlanBound,
  type PlanResolution,
  type PreflightLanePolicy,
  type ResolvedExecutionLane,
  type ResolvedPlan,
  type ResolvedPlanSnapshot,
  type RunPreflightPolicy,
  resolveGraphPlan,
  type Sha256Digest,
  validateDecision,
  validateGraphDescription,
  validateResolvedPlan,
} from './graph.ts';
export type { EventEnvelope, NewEvent, StreamRef } from './history/envelope.ts';
// Runs of this machine
export type { BoundRun } from './hosts/local/bound-run.ts';
export { type DrivenRun, type DriveRunOptions, driveRun } from './hosts/local/drive-run.ts';
export { type BindRun, type RunDueOptions, runDue } from './hosts/local/run-due.ts';
export { LOCAL_NAMESPACE, type RunFlowOptions, runFlow } from './hosts/local/run-flow.ts';
// Memories: the port and its two adapters
export { createFileMemory, type FileMemoryOptions } from './memory/file-memory.ts';
export { createInMemoryMemory } from './memory/in-memory-memory.ts';
export type {
  Memory,
  MemoryCommand,
  MemoryError,
  MemoryErrorCode,
  MemoryResult,
} from './memory/memory.ts';
export {
  defaultMemoryLimits,
  type MemoryLimits,
  type MemoryOptions,
} from './memory/memory-options.ts';
export type {
  MemoryDeleteReceipt,
  MemoryDirectoryView,
  MemoryEntry,
  MemoryFileView,
  MemoryRenameReceipt,
  MemoryWriteReceipt,
} from './memory/memory-values.ts';
export { type DataNodeOptions, dataNode } from './nodes/data-node.ts';
export { type EngineNodeOptions, engineNode } from './nodes/engine-node.ts';
// Flows: bindings, and flows written in code
export {
  approval,
  type CodeNode,
  type CodeNodes,
  choose,
  condition,
  continueAsNew,
  type DefinedFlow,
  defineFlow,
  delay,
  end,
  type FlowOutput,
  type FlowSource,
  loop,
  map,
  signal,
  subflow,
  type TaskInput,
  task,
} from './nodes/flow/define-flow.ts';
export type { FlowFunctions } from './nodes/flow/flow-functions.ts';
export { type FlowNodesOptions, flowNodes } from './nodes/flow/flow-nodes.ts';
export { type GraphNodeOptions, graphNode } from './nodes/graph-node.ts';
export type { AttemptBudgetPolicy, GraphNodeBinding, NodeDataContext } from './nodes/long-form.ts';
export type { NodeRules } from './nodes/node-rules.ts';
export type { ResultContract } from './nodes/result-contract.ts';
export { type WaitNodeOptions, waitNode } from './nodes/wait-node.ts';
export { currentOwner, isProvenDead } from './process/owner.ts';
export type { PreflightPhase, RunPreflight } from './run/preflight/preflight-facts.ts';
export type { PreflightPause } from './run/preflight/preflight-step.ts';
export { GraphExecutionError } from './run/run-error.ts';
export type {
  PauseView,
  RunComplete,
  RunFailed,
  RunPaused,
  RunResult,
  RunWaiting,
} from './run/run-result.ts';
export type {
  ArtifactContentMode,
  ArtifactReference,
  ArtifactScope,
  ArtifactStore,
  NewArtifact,
} from './store/artifact-store.ts';
export type {
  AppendOptions,
  AppendReceipt,
  EventListener,
  EventStore,
  ReadOptions,
} from './store/event-store.ts';
export type { AcquireOptions, LeaseGrant, LeaseHeld, LeaseStore } from './store/lease-store.ts';
export {
  defaultStoragePolicy,
  type RunStoragePolicy,
  safePayloadBytes,
} from './store/policy.ts';
export { Redactor } from './store/redactor.ts';
export type {
  RunFilter,
  RunIndex,
  RunIndexRow,
  RunIndexUpdate,
  RunList,
  RunPage,
  RunStatus,
} from './store/run-index.ts';
export type { SecretStream } from './store/secret-stream.ts';
export type { Snapshot, SnapshotStore } from './store/snapshot-store.ts';
export type { RunStorage, RunStorageRecord, StorageProvider } from './store/storage.ts';
export { StorageError, type StorageErrorCode } from './store/storage-error.ts';
export { createSystemClock, type SystemClockOptions } from './store/system-clock.ts';
// Workspaces of attempts
export { createGitInspector, type GitInspectorOptions } from './workspace/git-inspector.ts';
export {
  underWorkspacePolicy,
  type WorkspaceGuard,
  type WorkspaceLimits,
} from './workspace/guarded-effect.ts';
export {
  HEAD_PATH,
  type WorkspaceChange,
  type WorkspaceChanges,
  type WorkspaceEntry,
  type WorkspaceInspector,
  type WorkspaceSnapshot,
} from './workspace/workspace-inspection.ts';
export {
  checkWorkspacePolicy,
  foreignPaths,
  type InspectedWorkspacePolicy,
  type NodeWorkspacePolicy,
  noWorkspace,
} from './workspace/workspace-policy.ts';
