/** A node whose work is a run of its own, of any graph. */
import { type ChildGraph, type NodeBinding, nodeBinding } from '../attempt/binding.ts';
import type { GraphEngineBinding } from '../attempt/engine-work.ts';
import type { NodeContext } from '../attempt/node-context.ts';
import { assert } from '../base/assert.ts';
import type { JsonValue } from '../base/json.ts';
import { refuseOption, requireFields, requireFunction } from '../base/option.ts';
import type { AnyCompiledGraph } from '../graph/graph-type.ts';
import type { ResolvedPlanSnapshot } from '../graph/plan.ts';
import { boundNodes } from './bound-nodes.ts';
import type { GraphNodeBinding } from './long-form.ts';

/** Which graph stands for the node, and with what it runs. */
export interface GraphNodeOptions<Input = JsonValue> {
  readonly graph: AnyCompiledGraph;
  readonly nodes: Readonly<Record<string, NodeBinding | GraphNodeBinding>>;
  /** The engines of its lanes; by default those of the run above that its plan may use. */
  readonly engines?: readonly GraphEngineBinding[];
  /** The plan it is stored with; by default `localPlan(graph)`. */
  readonly resolvedPlan?: ResolvedPlanSnapshot;
  /** What the child run is started with; by default the input of the dispatch. */
  readonly input?: (input: Input, context: NodeContext) => JsonValue;
  /** `artifact` stores a result over the event limit once and records a reference to it. */
  readonly largeResult?: 'artifact';
  /** What the node's result is; by default the child's output. */
  readonly result?: (output: JsonValue) => unknown;
}

const FIELDS: readonly (keyof GraphNodeOptions<never>)[] = [
  'graph',
  'nodes',
  'engines',
  'resolvedPlan',
  'input',
  'largeResult',
  'result',
];

/**
 * Binds a graph to a node: the attempt is a run of its own, stored beside its parent, whose record
 * names it. It goes on when its parent is resumed, is cancelled with it, and its pauses are listed
 * and answered through it. What it fails with, the node fails with. Each run counts its own
 * dispatches; a token budget that bindings of both share counts for both. Seed 000.
 *
 * Throws `INVALID_OPTION`, `MISSING_NODE_BINDING`.
 *
 * @example const nodes = { review: graphNode({ graph: review, nodes: { read: dataNode(read) } }) }
 */
export function graphNode<Input = JsonValue>(options: GraphNodeOptions<Input>): NodeBinding {
  requireFields('options', options, FIELDS);
  const { graph, engines, resolvedPlan, input, largeResult, result } = options;
  if (typeof graph?.open !== 'function') refuseOption('graph', 'a compiled graph', graph);
  if (engines !== undefined && !Array.isArray(engines)) refuseOption('engines', 'a list', engines);
  requireFunction('input', input);
  requireFunction('result', result);
  if (largeResult !== undefined && largeResult !== 'artifact') {
    refuseOption('largeResult', "'artifact' or left out", largeResult);
  }
  const childGraph: ChildGraph = {
    graph,
    nodes: boundNodes(graph, options.nodes),
    ...(engines === undefined ? {} : { engines }),
    ...(resolvedPlan === undefined ? {} : { resolvedPlan }),
  };
  return nodeBinding({
    // The child has a record of its own: going on with it repeats nothing.
    retrySafe: true,
    run: () => assert(false, 'a graph node has no function'),
    child: (given, context) => ({
      ...childGraph,
      input: input === undefined ? given : inputBy(input(given as Input, context)),
    }),
    childGraph,
    largeResult: largeResult ?? 'refuse',
    childResult: (output) => (result === undefined ? output : result(output)),
  });
}

/** A function that gives nothing is named: what starts the child could blame only its run. */
function inputBy(returned: JsonValue | undefined): JsonValue {
  if (returned === undefined) refuseOption('what graphNode.input returns', 'JSON', returned);
  return returned;
}
