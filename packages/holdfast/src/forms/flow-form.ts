/** The fixed facts of one flow, by node index: what dispatches and retries are made of. */
import type { JsonObject } from '../base/json.ts';
import { flowExpressionScope } from '../expression/scope.ts';
import { branchesOf } from '../flow/catalogue.ts';
import { type CompiledTopology, compileTopology } from '../flow/compiled-topology.ts';
import type { FlowGraph } from '../flow/flow-graph.ts';
import { nodeDefaults, type RetryConfig, type TypedNode } from '../flow/node-config.ts';
import { referencedNodes } from '../flow/node-references.ts';

/** How a failed node is tried again. */
export type FlowRetry = Required<RetryConfig>;

/** A forward input of a node: which output of which node, and its edge. */
export interface FlowFormInput {
  readonly nodeId: string;
  readonly handle: string;
  readonly source: number;
  readonly edge: number;
}

export interface FlowFormNode {
  readonly id: string;
  readonly type: TypedNode['type'];
  readonly config: JsonObject;
  readonly branches: readonly string[];
  readonly retry: FlowRetry | null;
  /** Milliseconds that its first dispatch is due later: those of a delay. */
  readonly delayMs: number;
  readonly hasUndo: boolean;
  /** Its forward inputs, in the order of the edges. */
  readonly inputs: readonly FlowFormInput[];
  /** Node indexes: the sources of its forward inputs, then what its expressions read. */
  readonly reads: readonly number[];
}

export interface FlowForm {
  readonly graph: FlowGraph;
  readonly topology: CompiledTopology;
  readonly nodes: readonly FlowFormNode[];
  readonly trigger: number;
}

/** The form of a graph that has no errors. */
export function flowFormOf(graph: FlowGraph): FlowForm {
  const topology = compileTopology(graph);
  const scope = flowExpressionScope(topology.indexOf.keys(), { inLoop: true });
  const nodes = graph.nodes.map((node, index): FlowFormNode => {
    const typed = node as unknown as TypedNode;
    const inputs = inputsOf(topology, index);
    const read = referencedNodes(node, scope).map((id) => topology.indexOf.get(id) ?? -1);
    return {
      id: node.id,
      type: typed.type,
      config: node.config,
      branches: branchesOf(node),
      retry: retryOf(typed),
      delayMs: typed.type === 'delay' ? typed.config.delayMs : 0,
      hasUndo: typed.type === 'task' && typed.config.undo !== undefined,
      inputs,
      reads: [...new Set([...inputs.map(({ source }) => source), ...read])],
    };
  });
  return { graph, topology, nodes, trigger: nodes.findIndex(({ type }) => type === 'trigger') };
}

function retryOf(node: TypedNode): FlowRetry | null {
  if (node.type !== 'task' || node.config.retry === undefined) return null;
  return { ...nodeDefaults.retry, ...node.config.retry };
}

function inputsOf(topology: CompiledTopology, node: number): readonly FlowFormInput[] {
  const { inputs, sources, handles, graph } = topology;
  const edges = inputs.items.subarray(inputs.starts[node], inputs.starts[node + 1]);
  return Array.from(edges, (edge) => {
    const source = sources[edge] as number;
    return { nodeId: graph.nodes[source]?.id ?? '', handle: handles[edge] ?? '', source, edge };
  });
}
