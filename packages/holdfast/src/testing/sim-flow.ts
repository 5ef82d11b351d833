/** Random flows for the simulation: the planner's random graphs with random configurations. */
import type { JsonObject } from '../base/json.ts';
import type { FlowNode } from '../flow/flow-graph.ts';
import type { FlowFile } from '../forms/flow-definition.ts';
import { randomFlow } from './random-flow.ts';
import type { SeededRandom } from './seeded-random.ts';

/** The function that every task and map of a simulated flow names. */
export const FLOW_FUNCTION = 'work';

export interface FlowRequest {
  readonly id: string;
  readonly nodes: number;
  /** Whether tasks may become subflows. */
  readonly subflows: boolean;
}

/** A random valid flow; a subflow names the flow `<id>-<node>`. */
export function simulatedFlow(random: SeededRandom, request: FlowRequest): FlowFile {
  const seed = random.integer(0, 1_000_000);
  // A trigger and at least one node behind it.
  const { nodes, edges } = randomFlow({ seed, nodes: request.nodes + 1, maxLoopDepth: 2 });
  return { id: request.id, nodes: nodes.map((node) => configured(random, node, request)), edges };
}

function configured(random: SeededRandom, node: FlowNode, request: FlowRequest): FlowNode {
  if (node.type === 'task' && request.subflows && random.chance(0.15)) {
    return { ...node, type: 'subflow', config: { flow: `${request.id}-${node.id}`, input: null } };
  }
  return { ...node, config: { ...node.config, ...changes(random, node.type) } };
}

function changes(random: SeededRandom, type: string): JsonObject {
  switch (type) {
    case 'task':
      return taskChanges(random);
    case 'control.condition':
      return { expression: random.pick(['true', 'false']) };
    case 'control.loop':
      return { maxIterations: random.integer(0, 3) };
    case 'control.map':
      return {
        items: random.pick(['[]', '[1]', '[1, 2, 3]']),
        retrySafe: random.chance(0.3),
        onError: random.pick(['fail', 'collect']),
        maxConcurrency: random.integer(1, 3),
      };
    case 'approval':
      return { ...deadline(random), onDeadline: random.pick(['rejected', 'fail']) };
    case 'signal':
      return { ...deadline(random), name: random.pick(['red', 'blue']) };
    case 'delay':
      return { delayMs: random.pick([0, 10, 5_000]) };
    default:
      return {};
  }
}

function taskChanges(random: SeededRandom): JsonObject {
  const delayMs = random.pick([0, 20, 60_000]);
  return {
    retrySafe: random.chance(0.4),
    ...(random.chance(0.5) ? { retry: { max: random.integer(1, 3), delayMs } } : {}),
    ...(random.chance(0.15) ? { timeoutMs: random.pick([5, 1_000]) } : {}),
    ...(random.chance(0.4) ? { undo: { function: FLOW_FUNCTION } } : {}),
  };
}

function deadline(random: SeededRandom): JsonObject {
  return random.chance(0.5) ? { deadlineMs: random.pick([1, 1_000, 120_000]) } : {};
}
