/**
 * What happened to a node, folded into the plan. Seed 004, "Completing a node" and "Loops".
 *
 * Invariant: these functions change the plan they are given and nothing else.
 */
import {
  BODY_HANDLE,
  DONE_HANDLE,
  ERROR_HANDLE,
  edgeHandle,
  type FlowGraph,
  isBackEdge,
} from './flow-graph.ts';
import { loopRegion } from './loop-region.ts';
import { type PlanState, planNode } from './plan-state.ts';
import { stepKey } from './step-key.ts';

/**
 * Starts a node: `runs` + 1, status `running`. Returns its step key `<id>#<runs>`, which names
 * this start for good.
 *
 * @example beginNode(plan, 'charge') // 'charge#1'
 */
export function beginNode(state: PlanState, id: string): string {
  const node = planNode(state, id);
  node.runs += 1;
  node.status = 'running';
  if (node.iteration !== undefined) node.iteration += 1;
  return stepKey(id, node.runs);
}

/**
 * Marks a node succeeded on the outputs `branches`: out-edges of these become active, the others
 * inactive. A node without outputs completes on `[]`. Seed 004, "Completing a node".
 *
 * @example completeNode(graph, plan, 'big', ['true']);
 */
export function completeNode(
  graph: FlowGraph,
  state: PlanState,
  id: string,
  branches: readonly string[],
): void {
  const node = planNode(state, id);
  node.status = 'succeeded';
  node.branches = [...branches];
  for (const edge of graph.edges) {
    // The loop has run: the back-edges that brought it here are used up.
    if (edge.target === id && isBackEdge(edge)) state.edges[edge.id] = 'pending';
  }
  for (const edge of graph.edges) {
    if (edge.source !== id) continue;
    const active = branches.includes(edgeHandle(edge));
    state.edges[edge.id] = active ? 'active' : 'inactive';
    if (active && isBackEdge(edge)) planNode(state, edge.target).status = 'pending';
  }
}

/**
 * Completes a loop: `next` true resets its region and completes on `body`, else it completes on
 * `done`. While it iterates its `done` edges stay pending: the exit is not decided yet. Loops
 * inside the region count their iterations anew; `runs` go on. Seed 004, "Loops".
 *
 * @example completeLoop(graph, plan, 'again', false); // leaves by done
 */
export function completeLoop(
  graph: FlowGraph,
  state: PlanState,
  loopId: string,
  next: boolean,
): void {
  if (!next) {
    completeNode(graph, state, loopId, [DONE_HANDLE]);
    return;
  }
  const region = new Set(loopRegion(graph, loopId));
  for (const id of region) {
    const node = planNode(state, id);
    node.status = 'pending';
    if (node.iteration !== undefined) node.iteration = 0;
  }
  for (const edge of graph.edges) {
    if (region.has(edge.source)) state.edges[edge.id] = 'pending';
  }
  completeNode(graph, state, loopId, [BODY_HANDLE]);
  for (const edge of graph.edges) {
    if (edge.source === loopId && edgeHandle(edge) === DONE_HANDLE) {
      state.edges[edge.id] = 'pending';
    }
  }
}

/**
 * A node failed for good. With a connected `error` output it completes on that one and the flow
 * goes on (returns true); else it is `failed` and its out-edges stay pending (returns false).
 *
 * @example if (!failNode(graph, plan, 'charge')) planOutcome(graph, plan); // 'failed'
 */
export function failNode(graph: FlowGraph, state: PlanState, id: string): boolean {
  const handled = graph.edges.some(
    (edge) => edge.source === id && edgeHandle(edge) === ERROR_HANDLE,
  );
  if (handled) completeNode(graph, state, id, [ERROR_HANDLE]);
  else planNode(state, id).status = 'failed';
  return handled;
}

/**
 * A started node waits for something outside: an answer, a signal, a moment.
 *
 * @example markWaiting(plan, 'approve');
 */
export function markWaiting(state: PlanState, id: string): void {
  planNode(state, id).status = 'waiting';
}

/**
 * A waiting node goes on.
 *
 * @example markRunning(plan, 'approve');
 */
export function markRunning(state: PlanState, id: string): void {
  planNode(state, id).status = 'running';
}
