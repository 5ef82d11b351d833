/**
 * The `dag` form: nodes that run once their predecessors are settled, decided again after each
 * settled attempt, under a global limit and limits by key.
 */
import { cloneFrozenJson } from '../base/json.ts';
import type { GraphDescriptionInput } from '../graph/description.ts';
import type { ExecutionLaneDescription } from '../graph/execution-target.ts';
import type { GraphEvent, GraphType } from '../graph/graph-type.ts';
import { DagCursor } from './dag-cursor.ts';
import { decideDag } from './dag-decide.ts';
import { checkDagDefinition, type DagDefinition } from './dag-definition.ts';
import { type DagPlan, type NodeStateAt, planDag } from './dag-plan.ts';
import { type DagState, FIRST_NODE_STATE, nextNodeState, nodeIdOf } from './dag-state.ts';

/**
 * The graph type `dag`, version 1.
 *
 * A node runs once all its predecessors have passed, were skipped (a result with `skipped: true`)
 * or failed as optional. Its input is `{ positionSummary, results? }`, its positions are
 * `dag/<node>/<attempt>`. The output is `{ nodes: { <id>: result } }`; a failed required node or
 * finalizer fails the dag with `DAG_NODE_FAILED`. A failure recorded as not retryable is not tried
 * again; an attempt that a halt interrupted is, at no cost to the retry cap.
 *
 * `compile` throws `GraphValidationError` with all issues: `INVALID_NODE_KIND`,
 * `CONFLICTING_LANE`, `INVALID_LIMIT`, `MISSING_KEY_LIMIT`, `INVALID_STOP_ON_ERROR`,
 * `FINALIZER_HAS_EDGES`, `DAG_CYCLE`, and those of malformed parts.
 *
 * @example
 * const definition = {
 *   id: 'build', definitionVersion: 1,
 *   data: { globalConcurrency: 4, keyedConcurrency: {}, stopOnError: true, retryCapPerNode: 0 },
 *   nodes: [{ id: 'compile', data: { kind: 'required', key: null } }],
 *   edges: [],
 * } as const satisfies DagDefinition;
 * const graph = compileGraph(dagGraphType, definition);
 */
export const dagGraphType: GraphType<
  DagDefinition,
  DagState,
  GraphEvent,
  { readonly memory: 'unused' }
> = Object.freeze({
  kind: 'dag',
  version: 1,
  compile(definition: DagDefinition) {
    checkDagDefinition(definition);
    const plan = planDag(definition);
    return {
      requirements: { memory: 'unused' as const },
      initialState: (): DagState => ({
        nodes: Object.fromEntries(plan.nodes.map(({ id }) => [id, FIRST_NODE_STATE])),
      }),
      reduce: (state: DagState, event: GraphEvent): DagState => reduceDag(plan, state, event),
      decide: (state: DagState) => decideDag(plan, stateAtOf(plan, state)),
      describe: () => describeDag(definition),
      open: (saved?: unknown) =>
        new DagCursor(plan, saved === undefined ? undefined : cloneFrozenJson<DagState>(saved)),
    };
  },
});

function reduceDag(plan: DagPlan, state: DagState, event: GraphEvent): DagState {
  const nodeId = nodeIdOf(event);
  const node = nodeId === undefined ? undefined : plan.nodes[plan.indexOf.get(nodeId) ?? -1];
  if (node === undefined) return state;
  const before = state.nodes[node.id] ?? FIRST_NODE_STATE;
  const after = nextNodeState(node.id, before, event, node);
  return after === before ? state : { nodes: { ...state.nodes, [node.id]: after } };
}

function stateAtOf(plan: DagPlan, state: DagState): NodeStateAt {
  return (index) => state.nodes[plan.nodes[index]?.id ?? ''] ?? FIRST_NODE_STATE;
}

function describeDag({ nodes, data }: DagDefinition): GraphDescriptionInput {
  const lanes = new Map<string, ExecutionLaneDescription>();
  for (const { lane } of nodes.map((node) => node.data)) {
    if (lane !== undefined && !lanes.has(lane.id)) lanes.set(lane.id, lane);
  }
  const required = nodes.filter((node) => node.data.kind === 'required').length;
  const concurrency = { kind: 'known', value: data.globalConcurrency } as const;
  return {
    inputContract: {},
    outputContract: {},
    phases: [{ id: 'graph', name: 'Graph', nodeIds: nodes.map(({ id }) => id) }],
    nodes: nodes.map(({ id, data: { lane } }) => ({
      id,
      phaseId: 'graph',
      inputContract: {},
      outputContract: {},
      laneId: lane?.id ?? null,
    })),
    policies: {
      retry: { capPerNode: data.retryCapPerNode },
      stop: { stopOnError: data.stopOnError },
      concurrency: { global: data.globalConcurrency, keyed: data.keyedConcurrency },
      write: null,
      budget: null,
      action: null,
    },
    executionLanes: [...lanes.values()],
    requestedPermissions: [],
    bounds: {
      dispatches: {
        min: { kind: 'known', value: nodes.length },
        // Attempts repeated after a halt are the host's doing and not counted here.
        max: { kind: 'known', value: nodes.length + required * data.retryCapPerNode },
      },
      maxConcurrency: concurrency,
      maxFanOut: concurrency,
    },
  };
}
