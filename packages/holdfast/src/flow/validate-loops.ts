/**
 * What can be wrong with the loops of a flow.
 *
 * The seed asks that `next` comes from inside the body. The other rules here keep a body closed,
 * which is what makes the plan independent of the order of completions: bodies nest, every body
 * node can come back, and only the loop itself leads into its body.
 */
import { add, type CompiledTopology, loopOfEdge, NONE } from './compiled-topology.ts';
import { shown } from './config-fields.ts';
import { BODY_HANDLE } from './flow-graph.ts';
import { edgeIssue, type GraphIssue, nodeIssue } from './graph-issue.ts';

/** Errors of loops and their bodies. Bodies are known only when forward edges form no cycle. */
export function loopErrors(topology: CompiledTopology): readonly GraphIssue[] {
  if (topology.order.length < topology.nodeCount) return [];
  const edges: GraphIssue[] = [];
  for (let edge = 0; edge < topology.edgeCount; edge += 1) {
    if (topology.sources[edge] === NONE || topology.targets[edge] === NONE) continue;
    const found =
      topology.isBack[edge] === 1 ? nextError(topology, edge) : entryError(topology, edge);
    if (found !== null) edges.push(found);
  }
  return [...edges, ...bodyErrors(topology), ...returnErrors(topology)];
}

/** Is `loop` one of the loops around `inner` (or `inner` itself)? */
function encloses(topology: CompiledTopology, loop: number, inner: number): boolean {
  let at = inner;
  while (at !== NONE && at !== loop) at = topology.innermost[at] as number;
  return at === loop;
}

function nameOf(topology: CompiledTopology, node: number): string {
  return shown(topology.graph.nodes[node]?.id);
}

function edgeOf(topology: CompiledTopology, index: number) {
  return { id: topology.graph.edges[index]?.id ?? '', index };
}

function nextError(topology: CompiledTopology, edge: number): GraphIssue | null {
  const loop = topology.targets[edge] as number;
  const source = topology.sources[edge] as number;
  if (topology.isLoop[loop] === 0) return null;
  const around = source === loop ? NONE : loopOfEdge(topology, edge);
  if (around === loop) return null;
  const [from, to] = [nameOf(topology, source), nameOf(topology, loop)];
  if (around !== NONE && encloses(topology, loop, around)) {
    const inner = nameOf(topology, around);
    const message =
      `${from} is in the body of ${inner}, inside ${to}: ` +
      `leave ${inner} by its done output first`;
    return edgeIssue(edgeOf(topology, edge), 'NEXT_FROM_INNER_LOOP', message);
  }
  const message = `${from} is not in the body of ${to}, so it must not lead to its next`;
  return edgeIssue(edgeOf(topology, edge), 'NEXT_FROM_OUTSIDE', message);
}

/**
 * A forward edge must not enter a body but from its loop: a body node with an input that is active
 * without the loop would run without it.
 */
function entryError(topology: CompiledTopology, edge: number): GraphIssue | null {
  const target = topology.targets[edge] as number;
  const source = topology.sources[edge] as number;
  const from = loopOfEdge(topology, edge);
  const into = topology.innermost[target] as number;
  if (from === into) return null;
  const [a, b] = [nameOf(topology, source), nameOf(topology, target)];
  const loop = nameOf(topology, into);
  if (from !== NONE && !encloses(topology, from, into)) {
    const other = nameOf(topology, from);
    const message = `${b} would be in the bodies of ${other} and ${loop}, neither inside the other`;
    return edgeIssue(edgeOf(topology, edge), 'LOOPS_OVERLAP', message);
  }
  const message =
    `${a} leads into the body of ${loop} at ${b}; lead it to ${loop} itself: ` +
    `a body reads what it needs through nodes[${a}]`;
  return edgeIssue(edgeOf(topology, edge), 'EDGE_INTO_BODY', message);
}

function bodyErrors(topology: CompiledTopology): readonly GraphIssue[] {
  const bodies = new Int32Array(topology.nodeCount);
  for (let edge = 0; edge < topology.edgeCount; edge += 1) {
    const source = topology.sources[edge] as number;
    if (source === NONE || topology.targets[edge] === NONE || topology.isBack[edge] === 1) continue;
    if (topology.handles[edge] === BODY_HANDLE) add(bodies, source, 1);
  }
  return topology.graph.nodes.flatMap(({ id }, index) => {
    if (topology.isLoop[index] === 0 || (bodies[index] as number) > 0) return [];
    const message = `nothing is on the body output of ${shown(id)}: it would never come back`;
    return [nodeIssue({ id, index }, 'LOOP_WITHOUT_BODY', message)];
  });
}

/** Every body node must be able to reach its own loop's `next`, through nodes of the same body. */
function returnErrors(topology: CompiledTopology): readonly GraphIssue[] {
  const { innermost, targets, sources, inputs, isBack, nodeCount } = topology;
  const returns = new Uint8Array(nodeCount);
  const found: number[] = [];
  const mark = (node: number): void => {
    if (returns[node] === 1) return;
    returns[node] = 1;
    found.push(node);
  };
  for (let edge = 0; edge < topology.edgeCount; edge += 1) {
    const source = sources[edge] as number;
    if (isBack[edge] === 0 || source === NONE || targets[edge] === NONE) continue;
    const around = loopOfEdge(topology, edge);
    if (around === innermost[source] && around === targets[edge]) mark(source);
  }
  for (let node = found.pop(); node !== undefined; node = found.pop()) {
    const end = inputs.starts[node + 1] as number;
    for (let row = inputs.starts[node] as number; row < end; row += 1) {
      const edge = inputs.items[row] as number;
      const source = sources[edge] as number;
      const same = loopOfEdge(topology, edge) === innermost[source];
      if (same && innermost[source] === innermost[node]) mark(source);
    }
  }
  return topology.graph.nodes.flatMap(({ id }, index) => {
    const loop = innermost[index] as number;
    if (loop === NONE || returns[index] === 1) return [];
    const body = `the body of ${nameOf(topology, loop)}`;
    const message = `${shown(id)} is in ${body} but cannot reach its next`;
    return [nodeIssue({ id, index }, 'NEXT_UNREACHABLE', message)];
  });
}
