/** The bindings of a graph's nodes, each as its short form. */
import type { NodeBinding, NodeBindings } from '../attempt/binding.ts';
import { errorText, HoldfastError } from '../base/errors.ts';
import { truncateText } from '../base/text.ts';
import type { AnyCompiledGraph } from '../graph/graph-type.ts';
import { type GraphNodeBinding, isLongForm, shortForm } from './long-form.ts';

const MAX_SHOWN_LENGTH = 200;

/**
 * One binding for each node of `graph`; others are left out. Throws `MISSING_NODE_BINDING` naming
 * the nodes that have none, and `INVALID_OPTION` naming the node whose long form is wrong.
 */
export function boundNodes(
  graph: AnyCompiledGraph,
  nodes: Readonly<Record<string, NodeBinding | GraphNodeBinding>>,
): NodeBindings {
  const bound = new Map<string, NodeBinding>();
  const missing: string[] = [];
  for (const { id } of graph.definition.value.nodes) {
    const given = Object.hasOwn(nodes ?? {}, id) ? nodes[id] : undefined;
    if (given === undefined) missing.push(id);
    else bound.set(id, bindingOf(id, given));
  }
  if (missing.length > 0) refuseMissing(graph, missing);
  return Object.fromEntries(bound);
}

function bindingOf(nodeId: string, given: NodeBinding | GraphNodeBinding): NodeBinding {
  const isObject = typeof given === 'object' && given !== null;
  if (isObject && isLongForm(given)) return shortForm(nodeId, given);
  if (isObject && typeof given.run === 'function' && 'engine' in given) return given;
  throw new HoldfastError(
    'MISSING_NODE_BINDING',
    `Node ${nodeId} is bound to ${shown(given)}: bind it with dataNode, engineNode, graphNode or ` +
      'waitNode.',
    { nodes: [nodeId] },
  );
}

function shown(given: unknown): string {
  if (typeof given === 'function') return 'a bare function';
  return truncateText(errorText(given), MAX_SHOWN_LENGTH);
}

function refuseMissing(graph: AnyCompiledGraph, missing: readonly string[]): never {
  const some = missing.slice(0, 5).join(', ');
  throw new HoldfastError(
    'MISSING_NODE_BINDING',
    `${missing.length === 1 ? 'Node' : 'Nodes'} ${some} of graph ` +
      `${graph.definition.value.id} ${missing.length === 1 ? 'has' : 'have'} no binding.`,
    { nodes: missing },
  );
}
