/** What can be wrong with the nodes of a flow, each by itself. Seed 004, "Validation". */
import { boundedIdentifierFault } from '../base/identifier.ts';
import { configSources, isNodeType, nodeTypes, outputsOf, validateConfig } from './catalogue.ts';
import { type CompiledTopology, NONE } from './compiled-topology.ts';
import { shown } from './config-fields.ts';
import type { CheckExpression } from './expression-port.ts';
import type { FlowNode } from './flow-graph.ts';
import { type GraphIssue, nodeIssue } from './graph-issue.ts';

const TRIGGER_TYPE = 'trigger';

/** Ids, types, configurations, expressions, and exactly one trigger. */
export function nodeErrors(
  topology: CompiledTopology,
  checkExpression: CheckExpression | undefined,
): readonly GraphIssue[] {
  const { nodes } = topology.graph;
  return [
    ...nodes.flatMap((node, index) => [
      ...idErrors(topology, node, index),
      ...configErrors(node, index),
      ...inputErrors(topology, node, index),
    ]),
    ...triggerErrors(nodes),
    ...(checkExpression === undefined ? [] : expressionErrors(topology, checkExpression)),
  ];
}

/** Nodes with outputs that lead nowhere: the run ends there. */
export function nodeWarnings(topology: CompiledTopology): readonly GraphIssue[] {
  const { starts } = topology.outEdges;
  return topology.graph.nodes.flatMap((node, index) => {
    if (starts[index] !== starts[index + 1] || outputsOf(node).length === 0) return [];
    const message = `nothing follows ${shown(node.id)}: the run ends there`;
    return [nodeIssue({ id: node.id, index }, 'NO_OUTGOING_EDGE', message)];
  });
}

function idErrors(
  topology: CompiledTopology,
  { id }: FlowNode,
  index: number,
): readonly GraphIssue[] {
  const fault = boundedIdentifierFault(id);
  if (fault !== null) return [nodeIssue({ id, index, path: '/id' }, 'INVALID_ID', fault)];
  if (topology.indexOf.get(id) === index) return [];
  const message = `the node id ${shown(id)} stands more than once`;
  return [nodeIssue({ id, index, path: '/id' }, 'DUPLICATE_NODE_ID', message)];
}

function configErrors(node: FlowNode, index: number): readonly GraphIssue[] {
  const { id, type } = node;
  if (!isNodeType(type)) {
    const message = `there is no node type ${shown(type)}; the types are ${nodeTypes.join(', ')}`;
    return [nodeIssue({ id, index, path: '/type' }, 'UNKNOWN_NODE_TYPE', message)];
  }
  return validateConfig(type, node.config).map(({ path, message }) =>
    nodeIssue(
      { id, index, path: `/config${path}` },
      'INVALID_NODE_CONFIG',
      `the ${type} ${shown(id)}: ${message}`,
    ),
  );
}

function inputErrors(
  topology: CompiledTopology,
  { id, type }: FlowNode,
  index: number,
): readonly GraphIssue[] {
  const { starts } = topology.inputs;
  if (type === TRIGGER_TYPE || starts[index] !== starts[index + 1]) return [];
  if (topology.indexOf.get(id) !== index) return [];
  const message = `no forward edge leads to ${shown(id)}: it could never start`;
  return [nodeIssue({ id, index }, 'NO_FORWARD_INPUT', message)];
}

function triggerErrors(nodes: readonly FlowNode[]): readonly GraphIssue[] {
  const triggers = nodes.flatMap(({ id, type }, index) =>
    type === TRIGGER_TYPE ? [{ id, index }] : [],
  );
  if (triggers.length === 1) return [];
  if (triggers.length === 0) {
    const message = 'a flow needs exactly one trigger, this one has none';
    return [{ code: 'TRIGGER_COUNT', path: '/nodes', message }];
  }
  return triggers.slice(1).map((trigger) => {
    const message = `a flow needs exactly one trigger; ${shown(trigger.id)} is one too many`;
    return nodeIssue(trigger, 'TRIGGER_COUNT', message);
  });
}

function expressionErrors(
  topology: CompiledTopology,
  checkExpression: CheckExpression,
): readonly GraphIssue[] {
  const nodeIds = new Set(topology.indexOf.keys());
  return topology.graph.nodes.flatMap((node, index) => {
    const inLoop = topology.isLoop[index] === 1 || topology.innermost[index] !== NONE;
    return configSources(node).flatMap(({ kind, source, path }) =>
      checkExpression(source, kind, { nodeIds, inLoop }).map(({ message, column }) => ({
        ...nodeIssue(
          { id: node.id, index, path: `/config${path}` },
          'INVALID_EXPRESSION',
          `the ${kind} of ${shown(node.id)}, column ${column}: ${message}`,
        ),
        column,
      })),
    );
  });
}
