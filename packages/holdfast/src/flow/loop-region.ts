/** Which nodes a loop repeats. Seed 004, "Loops". */
import { BODY_HANDLE, edgeHandle, type FlowGraph, isBackEdge } from './flow-graph.ts';

/**
 * Every node reachable from the loop's `body` output without passing back through the loop or
 * along a back-edge, in graph order. Seed 004, "Loops".
 *
 * @example loopRegion(graph, 'retry') // ['charge', 'check']
 */
export function loopRegion(graph: FlowGraph, loopId: string): string[] {
  const next = new Map<string, string[]>();
  const found: string[] = [];
  for (const edge of graph.edges) {
    if (isBackEdge(edge)) continue;
    if (edge.source === loopId) {
      if (edgeHandle(edge) === BODY_HANDLE) found.push(edge.target);
      continue;
    }
    const targets = next.get(edge.source);
    if (targets === undefined) next.set(edge.source, [edge.target]);
    else targets.push(edge.target);
  }
  const region = new Set<string>();
  for (let id = found.pop(); id !== undefined; id = found.pop()) {
    if (id === loopId || region.has(id)) continue;
    region.add(id);
    for (const target of next.get(id) ?? []) found.push(target);
  }
  return graph.nodes.map((node) => node.id).filter((id) => region.has(id));
}
