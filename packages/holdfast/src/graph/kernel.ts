/**
 * Look-ups over one definition: all that a graph type gets beside the definition itself.
 *
 * Invariants: pure; lists are frozen and in edge declaration order; neighbours stand once.
 */
import type { AnyGraphDefinition } from './definition.ts';
import { shown } from './shape-check.ts';
import { GraphValidationError } from './validation-error.ts';

/**
 * Graph data and neighbour look-ups; no services of any kind.
 *
 * `node` and `edge` give `undefined` for an unknown id; the others throw `GraphValidationError`
 * (`UNKNOWN_NODE`).
 */
export interface GraphKernel<Definition extends AnyGraphDefinition = AnyGraphDefinition> {
  readonly definition: Definition;
  node(id: string): Definition['nodes'][number] | undefined;
  edge(id: string): Definition['edges'][number] | undefined;
  /** The distinct sources of the edges that end here. */
  predecessors(id: string): readonly string[];
  /** The distinct targets of the edges that begin here. */
  successors(id: string): readonly string[];
  inboundEdges(id: string): readonly Definition['edges'][number][];
  outboundEdges(id: string): readonly Definition['edges'][number][];
}

interface Neighbours<Edge> {
  readonly inbound: Edge[];
  readonly outbound: Edge[];
}

/**
 * The kernel of a validated definition. Neighbour lists are built at the first look-up.
 *
 * @example createGraphKernel(definition).successors('draft') // ['review']
 */
export function createGraphKernel<Definition extends AnyGraphDefinition>(
  definition: Definition,
): GraphKernel<Definition> {
  type Edge = Definition['edges'][number];
  const nodes = new Map(definition.nodes.map((node) => [node.id, node]));
  const edges = lazy(() => new Map(definition.edges.map((edge) => [edge.id, edge])));
  const neighbours = lazy(() => neighboursOf<Edge>(definition));
  const at = (id: string): Neighbours<Edge> => {
    const found = neighbours().get(id);
    if (found !== undefined) return found;
    const message = `there is no node ${shown(id)}`;
    const issue = { code: 'UNKNOWN_NODE', path: '/nodeId', message };
    throw new GraphValidationError('Unknown node.', [issue]);
  };
  return Object.freeze({
    definition,
    node: (id: string) => nodes.get(id),
    edge: (id: string) => edges().get(id),
    predecessors: (id: string) => distinct(at(id).inbound.map((edge) => edge.source)),
    successors: (id: string) => distinct(at(id).outbound.map((edge) => edge.target)),
    inboundEdges: (id: string) => at(id).inbound,
    outboundEdges: (id: string) => at(id).outbound,
  });
}

function neighboursOf<Edge extends { readonly source: string; readonly target: string }>(
  definition: AnyGraphDefinition,
): ReadonlyMap<string, Neighbours<Edge>> {
  const all = new Map<string, Neighbours<Edge>>();
  for (const { id } of definition.nodes) all.set(id, { inbound: [], outbound: [] });
  for (const edge of definition.edges as readonly unknown[] as readonly Edge[]) {
    all.get(edge.source)?.outbound.push(edge);
    all.get(edge.target)?.inbound.push(edge);
  }
  for (const { inbound, outbound } of all.values()) {
    Object.freeze(inbound);
    Object.freeze(outbound);
  }
  return all;
}

function distinct(ids: readonly string[]): readonly string[] {
  return Object.freeze([...new Set(ids)]);
}

function lazy<T extends object>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
