/** What can be wrong with the edges of a flow, and a cycle of them. Seed 004, "Validation". */
import { boundedIdentifierFault } from '../base/identifier.ts';
import { truncateText } from '../base/text.ts';
import { isNodeType, outputsOf } from './catalogue.ts';
import { type CompiledTopology, NONE } from './compiled-topology.ts';
import { shown } from './config-fields.ts';
import { edgeHandle, type FlowEdge, type FlowGraph, LOOP_TYPE } from './flow-graph.ts';
import { edgeIssue, type GraphIssue, nodeIssue } from './graph-issue.ts';

/** Ids, ends, outputs, `next`, the trigger, and that forward edges form no cycle. */
export function edgeErrors(topology: CompiledTopology): readonly GraphIssue[] {
  const seen = new Set<string>();
  const single = topology.graph.edges.flatMap((edge, index) => [
    ...idErrors(edge, index, seen),
    ...endErrors(topology, edge, index),
  ]);
  return [...single, ...cycleErrors(topology)];
}

/** The same connection drawn twice. */
export function edgeWarnings(graph: FlowGraph): readonly GraphIssue[] {
  const first = new Map<string, string>();
  return graph.edges.flatMap((edge, index) => {
    const key = JSON.stringify([
      edge.source,
      edgeHandle(edge),
      edge.target,
      edge.targetHandle ?? null,
    ]);
    const earlier = first.get(key);
    if (earlier === undefined) {
      first.set(key, edge.id);
      return [];
    }
    const message = `the edge ${shown(edge.id)} connects the same as ${shown(earlier)}`;
    return [edgeIssue({ id: edge.id, index }, 'DUPLICATE_EDGE', message)];
  });
}

function idErrors({ id }: FlowEdge, index: number, seen: Set<string>): readonly GraphIssue[] {
  const fault = boundedIdentifierFault(id);
  if (fault !== null) return [edgeIssue({ id, index, path: '/id' }, 'INVALID_ID', fault)];
  if (!seen.has(id)) {
    seen.add(id);
    return [];
  }
  const message = `the edge id ${shown(id)} stands more than once`;
  return [edgeIssue({ id, index, path: '/id' }, 'DUPLICATE_EDGE_ID', message)];
}

function endErrors(
  topology: CompiledTopology,
  edge: FlowEdge,
  index: number,
): readonly GraphIssue[] {
  const { nodes } = topology.graph;
  const note = (path: string, code: GraphIssue['code'], message: string): GraphIssue =>
    edgeIssue({ id: edge.id, index, path }, code, `the edge ${shown(edge.id)} ${message}`);
  const issues: GraphIssue[] = [];
  for (const end of ['source', 'target'] as const) {
    if (topology.indexOf.has(edge[end])) continue;
    issues.push(note(`/${end}`, 'UNKNOWN_EDGE_NODE', `names no node: ${shown(edge[end])}`));
  }
  const source = nodes[topology.sources[index] ?? NONE];
  const target = nodes[topology.targets[index] ?? NONE];
  if (source !== undefined && isNodeType(source.type)) {
    const handle = edgeHandle(edge);
    const outputs = outputsOf(source);
    if (!outputs.includes(handle)) {
      const known = outputs.length === 0 ? 'it has none' : `its outputs are ${outputs.join(', ')}`;
      const from = `${shown(source.id)} from an output it does not have`;
      const message = `leaves ${from}, ${shown(handle)}; ${known}`;
      issues.push(note('/sourceHandle', 'UNKNOWN_OUTPUT', message));
    }
  }
  if (target === undefined) return issues;
  if (topology.isBack[index] === 1 && target.type !== LOOP_TYPE) {
    const message = `leads to "next" of ${shown(target.id)}, which is no loop`;
    issues.push(note('/targetHandle', 'NEXT_INTO_NON_LOOP', message));
  }
  if (target.type === 'trigger') {
    issues.push(note('/target', 'EDGE_INTO_TRIGGER', 'leads into the trigger'));
  }
  return issues;
}

function cycleErrors(topology: CompiledTopology): readonly GraphIssue[] {
  if (topology.order.length === topology.nodeCount) return [];
  const cycle = findCycle(topology);
  const { nodes } = topology.graph;
  const ids = cycle.map((node) => nodes[node]?.id ?? '');
  const path = truncateText([...ids, ids[0]].map((id) => JSON.stringify(id)).join(' → '), 400);
  const message = `forward edges form a cycle (repeat through a loop's next instead): ${path}`;
  return [nodeIssue({ id: ids[0] ?? '', index: cycle[0] ?? 0 }, 'FORWARD_CYCLE', message)];
}

/** Every node that the order leaves out has an input from another such node: go back along them. */
function findCycle(topology: CompiledTopology): readonly number[] {
  const { inputs, sources, order, nodeCount } = topology;
  const left = new Uint8Array(nodeCount).fill(1);
  for (const node of order) left[node] = 0;
  const seenAt = new Map<number, number>();
  const walk: number[] = [];
  let node = left.indexOf(1);
  while (!seenAt.has(node)) {
    seenAt.set(node, walk.length);
    walk.push(node);
    const row = inputs.items.subarray(inputs.starts[node], inputs.starts[node + 1]);
    const edge = row.find((candidate) => left[sources[candidate] as number] === 1);
    node = sources[edge as number] as number;
  }
  return walk.slice(seenAt.get(node)).reverse();
}
