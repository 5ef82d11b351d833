/**
 * Is this a flow that can run? Seed 004, "Validation".
 *
 * Invariants: everything found is told at once; a flow without errors plans the same way in any
 * order of completions (its loops nest, their bodies are closed, repetition goes through `next`).
 */
import { isJsonObject, type JsonValue } from '../base/json.ts';
import { compileTopology } from './compiled-topology.ts';
import { shown } from './config-fields.ts';
import type { CheckExpression } from './expression-port.ts';
import type { FlowGraph } from './flow-graph.ts';
import type { GraphIssue, GraphIssues } from './graph-issue.ts';
import { edgeErrors, edgeWarnings } from './validate-edges.ts';
import { loopErrors } from './validate-loops.ts';
import { nodeErrors, nodeWarnings } from './validate-nodes.ts';

/** How deep a flow is looked into. */
export interface ValidateGraphOptions {
  /** Without it expressions and templates are not looked into. */
  readonly checkExpression?: CheckExpression;
}

/**
 * All errors and warnings of a flow. Never throws, whatever it is given. Seed 004, "Validation".
 *
 * @example const { errors, warnings } = validateGraph(graph);
 */
export function validateGraph(graph: FlowGraph, options: ValidateGraphOptions = {}): GraphIssues {
  const malformed = shapeErrors(graph as unknown as JsonValue);
  if (malformed.length > 0) return { errors: malformed, warnings: [] };
  const topology = compileTopology(graph);
  return {
    errors: [
      ...nodeErrors(topology, options.checkExpression),
      ...edgeErrors(topology),
      ...loopErrors(topology),
    ],
    warnings: [...edgeWarnings(graph), ...nodeWarnings(topology)],
  };
}

const NODE_FIELDS = { id: 'string', type: 'string', config: 'object' } as const;
const EDGE_FIELDS = { id: 'string', source: 'string', target: 'string' } as const;
const HANDLES = ['sourceHandle', 'targetHandle'] as const;

function shapeErrors(graph: JsonValue): readonly GraphIssue[] {
  if (!isJsonObject(graph)) return [malformed('', 'an object with nodes and edges', graph)];
  return [
    ...listErrors(graph['nodes'], '/nodes', (node, path) => fieldErrors(node, path, NODE_FIELDS)),
    ...listErrors(graph['edges'], '/edges', (edge, path) => [
      ...fieldErrors(edge, path, EDGE_FIELDS),
      ...handleErrors(edge, path),
    ]),
  ];
}

function listErrors(
  list: JsonValue | undefined,
  path: string,
  check: (entry: JsonValue, path: string) => readonly GraphIssue[],
): readonly GraphIssue[] {
  if (!Array.isArray(list)) return [malformed(path, 'a list', list)];
  return list.flatMap((entry: JsonValue, index) => check(entry, `${path}/${index}`));
}

function fieldErrors(
  entry: JsonValue,
  path: string,
  fields: Readonly<Record<string, 'string' | 'object'>>,
): readonly GraphIssue[] {
  if (!isJsonObject(entry)) return [malformed(path, 'an object', entry)];
  return Object.entries(fields).flatMap(([name, type]) => {
    const value = Object.hasOwn(entry, name) ? entry[name] : undefined;
    const fits = type === 'string' ? typeof value === 'string' : isJsonObject(value);
    return fits
      ? []
      : [malformed(`${path}/${name}`, type === 'string' ? 'a text' : 'an object', value)];
  });
}

function handleErrors(entry: JsonValue, path: string): readonly GraphIssue[] {
  if (!isJsonObject(entry)) return [];
  return HANDLES.flatMap((name) => {
    const value = entry[name] ?? null;
    return value === null || typeof value === 'string'
      ? []
      : [malformed(`${path}/${name}`, 'a text', value)];
  });
}

function malformed(path: string, expected: string, found: unknown): GraphIssue {
  const message = `expected ${expected}, found ${shown(found)}`;
  return { code: 'INVALID_FLOW_SHAPE', path, message };
}
