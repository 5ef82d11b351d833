/**
 * Which nodes can run now, and which never will. Seed 004, "Readiness" and "Skip propagation".
 *
 * Invariants: both lists are in graph order; only skips change the state. A loop that a back-edge
 * re-enters is ready only when nothing in its region is running, waiting or ready: otherwise the
 * reset of the region would put two occurrences of one node in flight.
 */
import { type FlowEdge, type FlowGraph, isBackEdge } from './flow-graph.ts';
import { type JoinVerdict, joinVerdict } from './join-rule.ts';
import { loopRegion } from './loop-region.ts';
import { clonePlan, type PlanState, planNode } from './plan-state.ts';

/** What `readyNodes` found; both in the order of `graph.nodes`. */
export interface ReadyNodes {
  readonly ready: string[];
  readonly skipped: string[];
}

/**
 * Skips what only untaken branches lead to, then lists the nodes that can run. Changes `state` for
 * the skips. Seed 004, "Readiness".
 *
 * @example const { ready } = readyNodes(graph, plan);
 */
export function readyNodes(graph: FlowGraph, state: PlanState): ReadyNodes {
  const reentered = reenteredLoops(graph, state);
  const inputs = edgesBy(graph, 'target', (edge) => !isBackEdge(edge));
  const skippedSet = skipUntaken(graph, state, inputs);
  const readySet = new Set<string>();
  for (const { id } of graph.nodes) {
    if (!reentered.has(id) && verdict(state, id, inputs.get(id) ?? []) === 'ready')
      readySet.add(id);
  }
  const quiet = [...reentered].filter((loop) =>
    loopRegion(graph, loop).every(
      (id) => isQuiet(state, id) && !readySet.has(id) && !reentered.has(id),
    ),
  );
  for (const loop of quiet) readySet.add(loop);
  const inOrder = (set: ReadonlySet<string>) =>
    graph.nodes.map((node) => node.id).filter((id) => set.has(id));
  return { ready: inOrder(readySet), skipped: inOrder(skippedSet) };
}

/**
 * True when nothing runs or waits and nothing could be started. Leaves `state` as it is. Seed 004,
 * "Settled".
 *
 * @example while (!isSettled(graph, plan)) runReadyNodes();
 */
export function isSettled(graph: FlowGraph, state: PlanState): boolean {
  if (graph.nodes.some((node) => !isQuiet(state, node.id))) return false;
  return readyNodes(graph, clonePlan(state)).ready.length === 0;
}

function isQuiet(state: PlanState, id: string): boolean {
  const { status } = planNode(state, id);
  return status !== 'running' && status !== 'waiting';
}

/** Pending loops with an active back-edge. */
function reenteredLoops(graph: FlowGraph, state: PlanState): ReadonlySet<string> {
  const loops = new Set<string>();
  for (const edge of graph.edges) {
    if (!isBackEdge(edge) || state.edges[edge.id] !== 'active') continue;
    if (planNode(state, edge.target).status === 'pending') loops.add(edge.target);
  }
  return loops;
}

function skipUntaken(
  graph: FlowGraph,
  state: PlanState,
  inputs: ReadonlyMap<string, readonly FlowEdge[]>,
): ReadonlySet<string> {
  const outputs = edgesBy(graph, 'source', () => true);
  const skipped = new Set<string>();
  const queue = graph.nodes.map((node) => node.id);
  // A skip can only settle the nodes right after it, so looking at those again reaches the
  // fixpoint that repeating the whole pass would.
  for (let at = 0; at < queue.length; at += 1) {
    const id = queue[at] as string;
    if (verdict(state, id, inputs.get(id) ?? []) !== 'skip') continue;
    planNode(state, id).status = 'skipped';
    skipped.add(id);
    for (const edge of outputs.get(id) ?? []) {
      state.edges[edge.id] = 'inactive';
      queue.push(edge.target);
    }
  }
  return skipped;
}

function verdict(state: PlanState, id: string, inputs: readonly FlowEdge[]): JoinVerdict {
  const node = planNode(state, id);
  if (node.status !== 'pending') return 'wait';
  const count = (wanted: string) => inputs.filter((edge) => state.edges[edge.id] === wanted).length;
  const counts = { total: inputs.length, pending: count('pending'), active: count('active') };
  return joinVerdict(counts, node.runs);
}

function edgesBy(
  graph: FlowGraph,
  end: 'source' | 'target',
  wanted: (edge: FlowEdge) => boolean,
): ReadonlyMap<string, readonly FlowEdge[]> {
  const byNode = new Map<string, FlowEdge[]>();
  for (const edge of graph.edges) {
    if (!wanted(edge)) continue;
    const known = byNode.get(edge[end]);
    if (known === undefined) byNode.set(edge[end], [edge]);
    else known.push(edge);
  }
  return byNode;
}
