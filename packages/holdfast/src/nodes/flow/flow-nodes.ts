/** `flowNodes`: the bindings of a flow's nodes, from its definition and the host's functions. */

import {
  type ChildRun,
  type NodeBinding,
  type NodeBindings,
  nodeBinding,
} from '../../attempt/binding.ts';
import { HoldfastError } from '../../base/errors.ts';
import type { JsonValue } from '../../base/json.ts';
import { requireObject } from '../../base/option.ts';
import { flowExpressionScope } from '../../expression/scope.ts';
import { compileTemplateValue } from '../../expression/template-value.ts';
import type { SubflowConfig, TypedNode } from '../../flow/node-config.ts';
import { flowGraphType } from '../../forms/flow.ts';
import { type FlowFile, flowDefinition } from '../../forms/flow-definition.ts';
import { compileGraph } from '../../graph/compile.ts';
import { conditionNode, loopNode, switchNode } from './control-nodes.ts';
import type { DefinedFlow } from './define-flow.ts';
import type { FlowFunctions } from './flow-functions.ts';
import { expressionValues } from './flow-scope.ts';
import { mapNode } from './map-node.ts';
import type { NodeSetting } from './node-setting.ts';
import { taskNode } from './task-node.ts';
import { approvalNode, signalNode } from './waiting-nodes.ts';

/** What the nodes of a flow need beside its functions. */
/** Flows by the name that a subflow node gives. */
export type SubflowSources = Readonly<Record<string, FlowFile | DefinedFlow>>;

export interface FlowNodesOptions {
  /**
   * The flows that subflow nodes name. One written in code brings its own functions; a file uses
   * those of the flow that names it.
   */
  readonly flows?: SubflowSources;
}

/**
 * A binding for each node of a flow. Throws `FLOW_FUNCTION_MISSING`, and expression codes that
 * name the node, its field and the column.
 *
 * @example
 * const nodes = flowNodes(flow, { greet: ({ name }) => `Hello ${name}` });
 */
export function flowNodes(
  flow: FlowFile,
  functions: FlowFunctions,
  options: FlowNodesOptions = {},
): NodeBindings {
  requireObject('flow', flow);
  requireObject('functions', functions);
  const scope = flowExpressionScope(flow.nodes.map(({ id }) => id));
  const subflow = subflows(functions, options.flows ?? {});
  const bindings = new Map<string, NodeBinding>();
  for (const node of flow.nodes) {
    bindings.set(node.id, bindingOf({ node, scope, functions, subflow }));
  }
  return Object.fromEntries(bindings);
}

function bindingOf(setting: NodeSetting): NodeBinding {
  const { type, config } = setting.node as unknown as TypedNode;
  switch (type) {
    case 'trigger':
      return pure((_input, context) => ({ output: context.runInput }));
    case 'task':
      return taskNode(config, setting);
    case 'control.condition':
      return conditionNode(config, setting);
    case 'control.switch':
      return switchNode(config, setting);
    case 'control.loop':
      return loopNode(config, setting);
    case 'control.map':
      return mapNode(config, setting);
    case 'approval':
      return approvalNode(config, setting);
    case 'signal':
      return signalNode(config, setting);
    case 'subflow':
      return subflowNode(config, setting);
    case 'continue-as-new':
      return continueNode(config.input, setting);
    case 'delay':
    case 'end':
      return pure(() => ({}));
  }
}

/** Built-in work without effects: running it again after a crash changes nothing. */
function pure(run: NodeBinding['run']): NodeBinding {
  return nodeBinding({ retrySafe: true, run });
}

function continueNode(input: JsonValue, { node, scope }: NodeSetting): NodeBinding {
  const at = { nodeId: node.id, field: '/config/input' };
  const compiled = compileTemplateValue(input, scope, { at });
  return pure((given, context) => ({
    output: compiled.evaluate(expressionValues(given, context.runId)),
  }));
}

function subflowNode(config: SubflowConfig, { node, scope, subflow }: NodeSetting): NodeBinding {
  const at = { nodeId: node.id, field: '/config/input' };
  const compiled = compileTemplateValue(config.input, scope, { at });
  return nodeBinding({
    retrySafe: true,
    run: () => null,
    child: (given, context) =>
      subflow(config.flow, compiled.evaluate(expressionValues(given, context.runId))),
    childResult: (output) => ({ output }),
  });
}

/** Compiles the flows that subflows name when they are first run: a flow may name itself. */
function subflows(functions: FlowFunctions, flows: SubflowSources) {
  const compiled = new Map<string, Pick<ChildRun, 'graph' | 'nodes'>>();
  return (name: string, input: JsonValue): ChildRun => {
    let known = compiled.get(name);
    if (known === undefined) {
      const source = flowNamed(flows, name);
      const { flow, functions: own } = 'flow' in source ? source : { flow: source, functions };
      known = {
        graph: compileGraph(flowGraphType, flowDefinition(flow)),
        nodes: flowNodes(flow, own, { flows }),
      };
      compiled.set(name, known);
    }
    return { ...known, input };
  };
}

function flowNamed(flows: SubflowSources, name: string): FlowFile | DefinedFlow {
  const flow = Object.hasOwn(flows, name) ? flows[name] : undefined;
  if (flow !== undefined) return flow;
  throw new HoldfastError(
    'FLOW_UNKNOWN',
    `A subflow names the flow ${JSON.stringify(name)}, which is not among those given: ` +
      `${Object.keys(flows).join(', ') || 'none'}.`,
    { flow: name },
  );
}
