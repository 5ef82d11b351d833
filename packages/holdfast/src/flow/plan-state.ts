/**
 * The plan state: where every node and every edge of one run of a flow stands. Seed 004, "State".
 *
 * Invariants: the functions of the planner change the state they are given, as the seed says; the
 * records have no prototype, so that any id (`__proto__` too) is an ordinary key.
 */
import { present } from '../base/assert.ts';
import { type FlowGraph, LOOP_TYPE } from './flow-graph.ts';

/** `inactive`: its source chose another output, or was skipped. */
export type EdgeState = 'pending' | 'active' | 'inactive';

/** Where a node of a plan stands. Seed 004, "State". */
export type NodeStatus =
  | 'pending'
  | 'running'
  | 'waiting'
  | 'succeeded'
  | 'failed'
  | 'skipped'
  | 'rolled_back';

/** What the plan knows of one node. */
export interface PlanNode {
  status: NodeStatus;
  /** How many times the node started; part of its step key. Never reset. */
  runs: number;
  /** The outputs it chose last time. */
  branches?: string[];
  /**
   * On loops only: how many times it started since an enclosing loop last reset it. A guard counts
   * this, not `runs`, so that nested loops iterate fully.
   */
  iteration?: number;
}

/** The state of one run; plain JSON. */
export interface PlanState {
  nodes: Record<string, PlanNode>;
  edges: Record<string, EdgeState>;
}

/**
 * Every node pending with `runs: 0`, every edge pending. Seed 004, "State".
 *
 * @example initPlan(graph).nodes['trigger'] // { status: 'pending', runs: 0 }
 */
export function initPlan(graph: FlowGraph): PlanState {
  const nodes: Record<string, PlanNode> = Object.create(null);
  const edges: Record<string, EdgeState> = Object.create(null);
  for (const node of graph.nodes) {
    nodes[node.id] = { status: 'pending', runs: 0 };
    if (node.type === LOOP_TYPE) planNodeOf(nodes, node.id).iteration = 0;
  }
  for (const edge of graph.edges) edges[edge.id] = 'pending';
  return { nodes, edges };
}

/** A copy that shares nothing with `state`, however that was made (JSON, a frozen value). */
export function clonePlan(state: PlanState): PlanState {
  const nodes: Record<string, PlanNode> = Object.create(null);
  const edges: Record<string, EdgeState> = Object.create(null);
  for (const [id, node] of Object.entries(state.nodes)) {
    nodes[id] =
      node.branches === undefined ? { ...node } : { ...node, branches: [...node.branches] };
  }
  for (const [id, edge] of Object.entries(state.edges)) edges[id] = edge;
  return { nodes, edges };
}

/** The plan's entry of a node. Throws `ASSERTION` for a node that the plan does not hold. */
export function planNode(state: PlanState, id: string): PlanNode {
  return planNodeOf(state.nodes, id);
}

function planNodeOf(nodes: Record<string, PlanNode>, id: string): PlanNode {
  return present(Object.hasOwn(nodes, id) ? nodes[id] : undefined, `node ${JSON.stringify(id)}`);
}
