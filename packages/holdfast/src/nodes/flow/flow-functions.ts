/** The functions that a flow's nodes name, looked up once and missed by name. */
import type { NodeContext, NodeFunction } from '../../attempt/node-context.ts';
import { HoldfastError } from '../../base/errors.ts';
import type { FlowNode } from '../../flow/flow-graph.ts';

/** The functions that tasks and maps of a flow name. */
export type FlowFunctions = Readonly<Record<string, NodeFunction<never>>>;

/** A function ready to be called with whatever the flow gives it. */
export type BoundFunction = (input: unknown, context: NodeContext) => unknown;

/** The function of this name. Throws `FLOW_FUNCTION_MISSING` naming the node and what there is. */
export function flowFunction(
  functions: FlowFunctions,
  name: string,
  node: Pick<FlowNode, 'id'>,
): BoundFunction {
  const found = Object.hasOwn(functions, name) ? functions[name] : undefined;
  if (typeof found === 'function') return found as BoundFunction;
  const known = Object.keys(functions).slice(0, 20).join(', ');
  throw new HoldfastError(
    'FLOW_FUNCTION_MISSING',
    `Node ${node.id} names the function ${JSON.stringify(name)}, which is not among ` +
      `${known === '' ? 'the functions given (none)' : `those given: ${known}`}.`,
    { nodeId: node.id, function: name },
  );
}
