/**
 * A flow as the planner sees it: typed nodes, and edges that leave an output (a handle).
 *
 * Invariant: an edge whose target handle is `next` is a back-edge into a loop; every other edge is
 * a forward input of its target.
 */
import type { JsonObject } from '../base/json.ts';

/** Where a node stands on the canvas; it never changes what runs. */
export interface CanvasPlace {
  readonly x: number;
  readonly y: number;
}

/** A node of a flow. `type` is a name of the catalogue; `config` its settings. */
export interface FlowNode {
  readonly id: string;
  readonly type: string;
  readonly config: JsonObject;
  readonly position?: CanvasPlace;
}

/** An edge of a flow, from an output of `source` to an input of `target`. */
export interface FlowEdge {
  readonly id: string;
  readonly source: string;
  readonly target: string;
  /** The output it leaves from; `out` when it is missing or null. */
  readonly sourceHandle?: string | null;
  /** `next` makes it a back-edge into a loop. */
  readonly targetHandle?: string | null;
}

/** A flow graph: what seed 004 calls the graph. */
export interface FlowGraph {
  readonly nodes: readonly FlowNode[];
  readonly edges: readonly FlowEdge[];
}

export const OUT_HANDLE = 'out';
const NEXT_HANDLE = 'next';
export const ERROR_HANDLE = 'error';
export const BODY_HANDLE = 'body';
export const DONE_HANDLE = 'done';
export const LOOP_TYPE = 'control.loop';

/**
 * The output an edge leaves from: its `sourceHandle`, or `out`. Seed 004, "State".
 *
 * @example edgeHandle({ id: 'e', source: 'a', target: 'b' }) // 'out'
 */
export function edgeHandle(edge: FlowEdge): string {
  return edge.sourceHandle ?? OUT_HANDLE;
}

/**
 * True for an edge into a loop's `next`. Seed 004, "State".
 *
 * @example isBackEdge({ id: 'e', source: 'a', target: 'l', targetHandle: 'next' }) // true
 */
export function isBackEdge(edge: FlowEdge): boolean {
  return edge.targetHandle === NEXT_HANDLE;
}

/**
 * A text that changes only when node ids or edges change: not when a node moves, is configured
 * otherwise, or is listed elsewhere. The editor lays out again when it changes. Seed 004,
 * "Validation".
 *
 * @example if (topologyKey(after) !== topologyKey(before)) layOut(after);
 */
export function topologyKey(graph: FlowGraph): string {
  const edges = graph.edges.map((edge) => [
    edge.id,
    edge.source,
    edgeHandle(edge),
    edge.target,
    edge.targetHandle ?? '',
  ]);
  return JSON.stringify([
    graph.nodes.map((node) => node.id).sort(),
    edges.map((edge) => JSON.stringify(edge)).sort(),
  ]);
}
