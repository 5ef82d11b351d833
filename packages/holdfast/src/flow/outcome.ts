/**
 * How a run of a flow ends: what seed 004 leaves open.
 *
 * `failed` wins over everything but running nodes; a settled plan is `rejected` when a person or a
 * signal said no and nothing leads on from there, or when a loop was left in the middle; it is
 * `succeeded` only when no node is left unresolved.
 */
import { BODY_HANDLE, edgeHandle, type FlowGraph, type FlowNode, LOOP_TYPE } from './flow-graph.ts';
import { clonePlan, type PlanNode, type PlanState, planNode } from './plan-state.ts';
import { readyNodes } from './ready.ts';

/** Where a run of a flow stands, by its plan. */
export type PlanOutcome = 'running' | 'succeeded' | 'failed' | 'rejected';

/** Why a settled plan is rejected. */
export interface PlanRejection {
  readonly nodeId: string;
  /** `refused`: it chose a no that leads nowhere; `stuck`: a loop's body never came back. */
  readonly kind: 'refused' | 'stuck' | 'unresolved';
  /** The output it chose, where it chose one. */
  readonly branch?: string;
}

/** What `rejectionOf` needs to know of a node. */
export interface SettledNode {
  readonly type: string;
  readonly status: PlanNode['status'];
  readonly branches?: readonly string[];
}

const REFUSALS: ReadonlyMap<string, string> = new Map([
  ['approval', 'rejected'],
  ['signal', 'timeout'],
]);

/** Why this node of a settled plan rejects the run, or null. Shared with the cursor. */
export function rejectionOf(
  node: SettledNode,
  isConnected: (branch: string) => boolean,
): Omit<PlanRejection, 'nodeId'> | null {
  if (node.status === 'pending') return { kind: 'unresolved' };
  if (node.status !== 'succeeded') return null;
  const branch = node.branches?.[0];
  if (branch === undefined) return null;
  if (node.type === LOOP_TYPE && branch === BODY_HANDLE) return { kind: 'stuck', branch };
  const refused = REFUSALS.get(node.type) === branch && !isConnected(branch);
  return refused ? { kind: 'refused', branch } : null;
}

/**
 * Where a run stands. `failed` once a node failed and nothing is running (waiting nodes are
 * abandoned); `succeeded` and `rejected` when settled. Leaves `state` as it is.
 *
 * @example planOutcome(graph, initPlan(graph)) // 'running'
 */
export function planOutcome(graph: FlowGraph, state: PlanState): PlanOutcome {
  const has = (status: PlanNode['status']) =>
    graph.nodes.some((node) => planNode(state, node.id).status === status);
  if (has('running')) return 'running';
  if (has('failed')) return 'failed';
  if (has('waiting')) return 'running';
  const after = clonePlan(state);
  if (readyNodes(graph, after).ready.length > 0) return 'running';
  return planRejections(graph, after).length > 0 ? 'rejected' : 'succeeded';
}

/**
 * Why a settled plan is rejected, in graph order; causes before what they left unresolved.
 *
 * @example planRejections(graph, plan) // [{ nodeId: 'ok', kind: 'refused', branch: 'rejected' }]
 */
export function planRejections(graph: FlowGraph, settled: PlanState): readonly PlanRejection[] {
  const connected = new Map<string, Set<string>>();
  for (const edge of graph.edges) {
    const handles = connected.get(edge.source) ?? new Set();
    connected.set(edge.source, handles.add(edgeHandle(edge)));
  }
  const found = graph.nodes.flatMap((node: FlowNode) => {
    const plan = planNode(settled, node.id);
    const isConnected = (branch: string) => connected.get(node.id)?.has(branch) === true;
    const rejection = rejectionOf({ ...plan, type: node.type }, isConnected);
    return rejection === null ? [] : [{ nodeId: node.id, ...rejection }];
  });
  return byCause(found);
}

const CAUSES: readonly PlanRejection['kind'][] = ['refused', 'stuck', 'unresolved'];

/** Refusals first: they are why loops stick, and those are why nodes stay unresolved. */
export function byCause(rejections: readonly PlanRejection[]): readonly PlanRejection[] {
  return CAUSES.flatMap((kind) => rejections.filter((rejection) => rejection.kind === kind));
}
