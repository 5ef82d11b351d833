/**
 * What a graph needs of its host: bindings, engines, memory. Graphs that stand for nodes are looked
 * at too, so that what they lack is missed before anything runs.
 */
import type { ChildGraph, NodeBinding } from '../attempt/binding.ts';
import type { GraphEngineBinding } from '../attempt/engine-work.ts';
import { isHoldfastError } from '../base/errors.ts';
import type { AnyCompiledGraph } from '../graph/graph-type.ts';
import type { Memory } from '../memory/memory.ts';
import { boundNodes } from '../nodes/bound-nodes.ts';
import type { GraphNodeBinding } from '../nodes/long-form.ts';
import { LaneBook } from '../run/lane-book.ts';
import { GraphExecutionError } from '../run/run-error.ts';
import { EngineSeats } from './engine-bindings.ts';
import { localPlan } from './start-run.ts';

/** The bindings of the graph's nodes, engine-backed exactly where the plan has a lane. */
export function fittingNodes(
  graph: AnyCompiledGraph,
  nodes: Readonly<Record<string, NodeBinding | GraphNodeBinding>>,
  lanes: LaneBook,
): ReadonlyMap<string, NodeBinding> {
  const bound = boundNodes(graph, nodes);
  return new Map(
    Object.entries(bound).map(([id, binding]) => [id, fittingLane(id, binding, lanes)]),
  );
}

/** A child run is given those engines of its parent that its own lanes may use. */
export function inherited(
  engines: EngineSeats,
  { graph, resolvedPlan }: ChildGraph,
): readonly GraphEngineBinding[] {
  if (graph.describe().executionLanes.length === 0) return [];
  return engines.bindingsFor((resolvedPlan ?? localPlan(graph)).plan);
}

/** A graph, and what it and all graphs within it are given by their host. */
export interface GivenParts {
  readonly graph: AnyCompiledGraph;
  readonly nodes: Readonly<Record<string, NodeBinding | GraphNodeBinding>>;
  readonly engines?: readonly GraphEngineBinding[];
  readonly bindings?: { readonly memory?: Memory };
}

/**
 * Throws `MISSING_NODE_BINDING`, `MISSING_ENGINE_BINDING` and `MISSING_MEMORY`, naming the node,
 * for what a graph that stands for one lacks.
 */
export function requireChildParts(given: GivenParts): void {
  const engines = new EngineSeats(given.engines ?? []);
  for (const { id: nodeId } of given.graph.definition.value.nodes) {
    const binding = given.nodes[nodeId];
    const child = binding !== undefined && 'childGraph' in binding ? binding.childGraph : null;
    if (child === null) continue;
    const own = child.engines ?? inherited(engines, child);
    try {
      requireParts(child, { ...given, graph: child.graph, nodes: child.nodes, engines: own });
    } catch (error) {
      if (!isHoldfastError(error)) throw error;
      const text = `The graph of node ${nodeId}: ${error.message}`;
      throw new GraphExecutionError(error.code, text, { ...error.details, nodeId }, error);
    }
  }
}

function requireParts({ graph, resolvedPlan }: ChildGraph, given: GivenParts): void {
  const hasLanes = graph.describe().executionLanes.length > 0;
  const lanes = hasLanes ? new LaneBook((resolvedPlan ?? localPlan(graph)).plan) : LaneBook.none;
  new EngineSeats(given.engines ?? []).requireExactly(lanes);
  fittingNodes(graph, given.nodes, lanes);
  requiredMemory(graph, given.bindings?.memory);
  requireChildParts(given);
}

/** A node with a lane is engine-backed, and no other is. */
function fittingLane(nodeId: string, binding: NodeBinding, lanes: LaneBook): NodeBinding {
  const lane = lanes.laneOf(nodeId);
  if ((lane !== null) === (binding.engine !== null)) return binding;
  throw new GraphExecutionError(
    'MISSING_NODE_BINDING',
    lane === null
      ? `Node ${nodeId} has no lane in the plan: bind it to a function, not to an engine.`
      : `Node ${nodeId} runs on lane ${lane.id}: bind it with engineNode.`,
    { nodeId },
  );
}

/** The host's memory, if the graph requires one. Throws `MISSING_MEMORY`. */
export function requiredMemory(graph: AnyCompiledGraph, memory: Memory | undefined): Memory | null {
  if (graph.requirements.memory !== 'required') return null;
  const isLive =
    typeof memory?.scope === 'string' &&
    memory.scope.trim() !== '' &&
    typeof memory.execute === 'function';
  if (isLive) return memory;
  throw new GraphExecutionError(
    'MISSING_MEMORY',
    `Graph ${graph.definition.value.id} requires memory: give bindings.memory a live Memory.`,
  );
}
