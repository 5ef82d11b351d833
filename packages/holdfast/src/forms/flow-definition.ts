/** What a flow is as a file and as a graph definition, and every way it can be wrong. */
import { isJsonObject, type JsonObject } from '../base/json.ts';
import { checkFlowExpression } from '../expression/issues.ts';
import type { FlowEdge, FlowGraph, FlowNode } from '../flow/flow-graph.ts';
import type { GraphIssue as FlowIssue } from '../flow/graph-issue.ts';
import { validateGraph } from '../flow/validate-graph.ts';
import type { GraphDefinition } from '../graph/definition.ts';
import { type GraphIssue, GraphValidationError } from '../graph/validation-error.ts';

/** A flow as people write it and as the editor saves it. */
export interface FlowFile {
  readonly id: string;
  /** A positive integer; 1 when left out. */
  readonly version?: number;
  readonly nodes: readonly FlowNode[];
  readonly edges: readonly FlowEdge[];
}

export type FlowNodeData = {
  readonly type: string;
  readonly config: JsonObject;
};

export type FlowEdgeData = {
  readonly sourceHandle?: string | null;
  readonly targetHandle?: string | null;
};

/** A flow as a graph definition. */
export type FlowDefinition = GraphDefinition<FlowNodeData, FlowEdgeData>;

/**
 * The definition of a flow, ready for `compileGraph(flowGraphType, …)`. It checks nothing by
 * itself: compiling does, all at once.
 *
 * @example compileGraph(flowGraphType, flowDefinition(JSON.parse(text)))
 */
export function flowDefinition(flow: FlowFile): FlowDefinition {
  return {
    id: flow.id,
    definitionVersion: flow.version ?? 1,
    data: {},
    // Where a node stands on the canvas is no part of what runs: moving one changes no digest.
    nodes: entriesOf(flow.nodes, ({ id, position: _place, ...data }: FlowNode) => ({ id, data })),
    edges: entriesOf(flow.edges, ({ id, source, target, ...data }: FlowEdge) => ({
      id,
      source,
      target,
      data,
    })),
  };
}

/** What is no list of objects goes on as it is, to be refused with its place. */
function entriesOf<From extends object, To>(
  list: readonly From[],
  convert: (entry: From) => To,
): readonly To[] {
  if (!Array.isArray(list)) return list as unknown as readonly To[];
  return list.map((entry: From) =>
    isJsonObject(entry) ? convert(entry) : (entry as unknown as To),
  );
}

/** The planner's graph of a definition. */
export function flowGraphOf(definition: FlowDefinition): FlowGraph {
  return {
    nodes: definition.nodes.map(({ id, data }) => ({ ...dataOf(data), id })),
    edges: definition.edges.map(({ id, source, target, data }) => ({
      ...dataOf(data),
      id,
      source,
      target,
    })),
  };
}

function dataOf<Data>(data: Data): Data {
  return isJsonObject(data) ? data : ({} as Data);
}

/** Throws `GraphValidationError` with every error of the flow; paths are into the definition. */
export function checkFlowGraph(graph: FlowGraph): void {
  const { errors } = validateGraph(graph, { checkExpression: checkFlowExpression });
  if (errors.length === 0) return;
  throw new GraphValidationError('Invalid flow.', errors.map(definitionIssue));
}

const DATA_PATH = /^(\/(?:nodes|edges)\/\d+)(\/(?:type|config|sourceHandle|targetHandle)\b)/;

function definitionIssue({ code, path, message }: FlowIssue): GraphIssue {
  return { code, path: path.replace(DATA_PATH, '$1/data$2'), message };
}
