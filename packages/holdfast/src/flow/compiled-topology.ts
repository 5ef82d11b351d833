/**
 * A flow's shape as numbers, made once per graph: nodes and edges by index, neighbours in
 * compressed rows, the loop each node is in. All runs of a graph share it.
 *
 * Invariants: it is tolerant (edges that name no node are left out, of nodes with one id the first
 * counts), so that validation can use it too; `innermost` is exact for graphs without errors.
 */
import { BODY_HANDLE, edgeHandle, type FlowGraph, isBackEdge, LOOP_TYPE } from './flow-graph.ts';

/** Rows of edge indexes: those of node `n` stand from `starts[n]` to before `starts[n + 1]`. */
export interface EdgeRows {
  readonly starts: Int32Array;
  readonly items: Int32Array;
}

/** No node, no loop. */
export const NONE = -1;

/** A flow's shape by node and edge index: what the incremental planner works on. */
export interface CompiledTopology {
  readonly graph: FlowGraph;
  readonly nodeCount: number;
  readonly edgeCount: number;
  readonly indexOf: ReadonlyMap<string, number>;
  /** By edge: node indexes, or `NONE`. */
  readonly sources: Int32Array;
  readonly targets: Int32Array;
  /** By edge: the output it leaves from. */
  readonly handles: readonly string[];
  /** By edge: 1 for a back-edge. */
  readonly isBack: Uint8Array;
  /** By node: 1 for a loop. */
  readonly isLoop: Uint8Array;
  /** All edges that leave a node. */
  readonly outEdges: EdgeRows;
  /** The forward inputs of a node. */
  readonly inputs: EdgeRows;
  /** The back-edges into a node. */
  readonly backEdges: EdgeRows;
  /** Node indexes, sources before targets; shorter than `nodeCount` when forward edges cycle. */
  readonly order: Int32Array;
  /** By node: the innermost loop whose body it is in, or `NONE`. */
  readonly innermost: Int32Array;
  /** By node: how many loops it is inside. */
  readonly depth: Int32Array;
}

/**
 * Compiles the shape of a flow in time linear in its nodes and edges.
 *
 * @example const plan = new PlanCursor(compileTopology(graph));
 */
export function compileTopology(graph: FlowGraph): CompiledTopology {
  const nodeCount = graph.nodes.length;
  const indexOf = new Map<string, number>();
  const isLoop = new Uint8Array(nodeCount);
  for (let node = 0; node < nodeCount; node += 1) {
    const { id, type } = graph.nodes[node] as FlowGraph['nodes'][number];
    if (!indexOf.has(id)) indexOf.set(id, node);
    if (type === LOOP_TYPE) isLoop[node] = 1;
  }
  const edges = edgeColumns(graph, indexOf);
  const rows = {
    outEdges: rowsBy(nodeCount, edges.sources, edges.targets, () => true),
    inputs: rowsBy(nodeCount, edges.targets, edges.sources, (edge) => edges.isBack[edge] === 0),
    backEdges: rowsBy(nodeCount, edges.targets, edges.sources, (edge) => edges.isBack[edge] === 1),
  };
  const edgeCount = graph.edges.length;
  const shape = { graph, nodeCount, edgeCount, indexOf, isLoop, ...edges, ...rows };
  const order = topologicalOrder(shape);
  return { ...shape, order, ...nesting(shape, order) };
}

/** The loop whose body an edge is in: its source's own when it leaves a `body` output. */
export function loopOfEdge(
  topology: Pick<CompiledTopology, 'sources' | 'handles' | 'isLoop' | 'innermost'>,
  edge: number,
): number {
  const source = topology.sources[edge] as number;
  const isBody = topology.isLoop[source] === 1 && topology.handles[edge] === BODY_HANDLE;
  return isBody ? source : (topology.innermost[source] as number);
}

type EdgeColumns = Pick<CompiledTopology, 'sources' | 'targets' | 'handles' | 'isBack'>;
type Shape = Omit<CompiledTopology, 'order' | 'innermost' | 'depth'>;

function edgeColumns(graph: FlowGraph, indexOf: ReadonlyMap<string, number>): EdgeColumns {
  const count = graph.edges.length;
  const sources = new Int32Array(count);
  const targets = new Int32Array(count);
  const isBack = new Uint8Array(count);
  const handles: string[] = [];
  for (let at = 0; at < count; at += 1) {
    const edge = graph.edges[at] as FlowGraph['edges'][number];
    sources[at] = indexOf.get(edge.source) ?? NONE;
    targets[at] = indexOf.get(edge.target) ?? NONE;
    if (isBackEdge(edge)) isBack[at] = 1;
    handles.push(edgeHandle(edge));
  }
  return { sources, targets, handles, isBack };
}

/** The wanted edges with both ends, grouped by the node in `ends`, in graph order. */
function rowsBy(
  nodeCount: number,
  ends: Int32Array,
  others: Int32Array,
  wanted: (edge: number) => boolean,
): EdgeRows {
  const starts = new Int32Array(nodeCount + 1);
  const belongs = (edge: number) => ends[edge] !== NONE && others[edge] !== NONE && wanted(edge);
  for (let edge = 0; edge < ends.length; edge += 1) {
    if (belongs(edge)) add(starts, (ends[edge] as number) + 1, 1);
  }
  for (let node = 0; node < nodeCount; node += 1) add(starts, node + 1, starts[node] as number);
  const items = new Int32Array(starts[nodeCount] as number);
  const free = starts.slice();
  for (let edge = 0; edge < ends.length; edge += 1) {
    if (!belongs(edge)) continue;
    const node = ends[edge] as number;
    items[free[node] as number] = edge;
    add(free, node, 1);
  }
  return { starts, items };
}

function topologicalOrder(shape: Shape): Int32Array {
  const { nodeCount, inputs, outEdges, targets, isBack } = shape;
  const missing = new Int32Array(nodeCount);
  const order = new Int32Array(nodeCount);
  let length = 0;
  for (let node = 0; node < nodeCount; node += 1) {
    missing[node] = (inputs.starts[node + 1] as number) - (inputs.starts[node] as number);
    if (missing[node] === 0) order[length++] = node;
  }
  for (let at = 0; at < length; at += 1) {
    const node = order[at] as number;
    const end = outEdges.starts[node + 1] as number;
    for (let row = outEdges.starts[node] as number; row < end; row += 1) {
      const edge = outEdges.items[row] as number;
      if (isBack[edge] === 1) continue;
      const target = targets[edge] as number;
      if (add(missing, target, -1) === 0) order[length++] = target;
    }
  }
  return order.subarray(0, length);
}

/** A node is in the deepest of the loops that its forward inputs are in. */
function nesting(shape: Shape, order: Int32Array): Pick<CompiledTopology, 'innermost' | 'depth'> {
  const innermost = new Int32Array(shape.nodeCount).fill(NONE);
  const depth = new Int32Array(shape.nodeCount);
  const topology = { ...shape, innermost };
  for (const node of order) {
    const end = shape.inputs.starts[node + 1] as number;
    for (let row = shape.inputs.starts[node] as number; row < end; row += 1) {
      const loop = loopOfEdge(topology, shape.inputs.items[row] as number);
      if (loop === NONE || (depth[loop] as number) < (depth[node] as number)) continue;
      innermost[node] = loop;
      depth[node] = (depth[loop] as number) + 1;
    }
  }
  return { innermost, depth };
}

/** Adds to an entry of a typed array and gives what it is then. */
export function add(array: Int32Array, at: number, change: number): number {
  const value = (array[at] as number) + change;
  array[at] = value;
  return value;
}
