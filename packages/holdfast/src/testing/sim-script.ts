/**
 * A graph type of the simulation's own, plain enough to be right by reading: it does all that the
 * dag does not, namely delays, back-off, rounds, and undoing on cancel.
 *
 * Positions are `script/<node>/<round>/<attempt>`, undone by `undo/<position>/<attempt>`.
 */
import { isJsonObject, type JsonObject, type JsonValue } from '../base/json.ts';
import type { DispatchCommand, GraphCommand } from '../graph/commands.ts';
import type { GraphDefinition } from '../graph/definition.ts';
import type { GraphDescriptionInput } from '../graph/description.ts';
import type { ExecutionLaneDescription } from '../graph/execution-target.ts';
import type { GraphEvent, GraphType } from '../graph/graph-type.ts';

export type ScriptNodeData = {
  /** The first dispatch of a round is due so much later. */
  readonly delayMs: number;
  readonly retries: number;
  readonly retryDelayMs: number;
  /** How often the node runs, one round after the other. */
  readonly rounds: number;
  /** Whether a cancelled run undoes it. */
  readonly undo: boolean;
  /** Whether its failure is passed over. */
  readonly optional: boolean;
  /** Where an engine-backed node runs. */
  readonly lane?: ExecutionLaneDescription;
};

export type ScriptData = {
  /** Whether a failure ends the run while other nodes are open. */
  readonly failFast: boolean;
  /** Whether `decide` says `pause` when only paused nodes are left, or nothing at all. */
  readonly saysPause: boolean;
};

export type ScriptDefinition = GraphDefinition<ScriptNodeData, JsonValue, ScriptData>;

type NodeState = {
  readonly status: 'idle' | 'open' | 'paused' | 'done' | 'failed';
  readonly round: number;
  /** Dispatches in this round. */
  readonly attempt: number;
  readonly failures: number;
  readonly result: JsonValue;
};

type Undo = {
  readonly position: string;
  readonly nodeId: string;
  readonly tries: number;
  readonly status: 'left' | 'open' | 'done';
};

export type ScriptState = {
  readonly nodes: Readonly<Record<string, NodeState>>;
  readonly undo: readonly Undo[];
};

const FIRST: NodeState = { status: 'idle', round: 1, attempt: 0, failures: 0, result: null };

export const scriptGraphType: GraphType<
  ScriptDefinition,
  ScriptState,
  GraphEvent,
  { readonly memory: 'unused' }
> = Object.freeze({
  kind: 'simulation-script',
  version: 1,
  compile(definition: ScriptDefinition) {
    return {
      requirements: { memory: 'unused' as const },
      initialState: (): ScriptState => ({
        nodes: Object.fromEntries(definition.nodes.map(({ id }) => [id, FIRST])),
        undo: [],
      }),
      reduce: (state: ScriptState, event: GraphEvent) => reduce(definition, state, event),
      decide: (state: ScriptState) => decide(definition, state),
      compensate,
      describe: () => describe(definition),
    };
  },
});

function positionOf(nodeId: string, { round }: NodeState, attempt: number): string {
  return `script/${nodeId}/${round}/${attempt}`;
}

function decide(definition: ScriptDefinition, state: ScriptState): readonly GraphCommand[] {
  const { nodes, data } = definition;
  const statusOf = (id: string) => state.nodes[id]?.status ?? 'idle';
  const failed = nodes.filter((node) => !node.data.optional && statusOf(node.id) === 'failed');
  const openLeft = nodes.some(({ id }) => statusOf(id) === 'open' || statusOf(id) === 'paused');
  if (failed.length > 0 && (data.failFast || !openLeft)) {
    return [{ kind: 'fail', code: 'SCRIPT_FAILED', message: failed.map(({ id }) => id).join() }];
  }
  const ready = failed.length > 0 ? [] : nodes.filter(({ id }) => isReady(definition, state, id));
  if (ready.length > 0) return ready.map(({ id }) => dispatchOf(definition, state, id));
  if (!openLeft) return [{ kind: 'complete', output: { nodes: resultsOf(state) } }];
  const flows = nodes.some(({ id }) => statusOf(id) === 'open');
  return flows || !data.saysPause ? [] : [{ kind: 'pause', reason: 'Only paused nodes are left.' }];
}

function isReady(definition: ScriptDefinition, state: ScriptState, id: string): boolean {
  if (state.nodes[id]?.status !== 'idle') return false;
  return definition.edges
    .filter(({ target }) => target === id)
    .every(({ source }) => ['done', 'failed'].includes(state.nodes[source]?.status ?? ''));
}

function dispatchOf(definition: ScriptDefinition, state: ScriptState, id: string): DispatchCommand {
  const node = state.nodes[id] ?? FIRST;
  const data = dataOf(definition, id);
  const attempt = node.attempt + 1;
  const delayMs = attempt === 1 ? data.delayMs : data.retryDelayMs;
  const sources = definition.edges.filter(({ target }) => target === id);
  const from = sources.map(({ source }) => [source, state.nodes[source]?.result ?? null] as const);
  return {
    kind: 'dispatch',
    nodeId: id,
    input: { node: id, attempt, from: Object.fromEntries(from) },
    position: positionOf(id, node, attempt),
    ...(delayMs > 0 ? { delayMs } : {}),
    ...(attempt > 1 ? { retryOf: positionOf(id, node, 1) } : {}),
  };
}

function compensate(state: ScriptState): readonly GraphCommand[] {
  if (state.undo.some(({ status }) => status === 'open')) return [];
  const next = state.undo.findLast(({ status }) => status === 'left');
  if (next === undefined) return [];
  const { nodeId, position, tries } = next;
  const undo = `undo/${position}/${tries + 1}`;
  return [{ kind: 'dispatch', nodeId, input: { undo: position }, position: undo }];
}

function reduce(definition: ScriptDefinition, state: ScriptState, event: GraphEvent): ScriptState {
  const payload = isJsonObject(event.payload) ? event.payload : {};
  const { nodeId, position } = payload;
  if (typeof nodeId !== 'string' || typeof position !== 'string') return state;
  if (position.startsWith('undo/')) return { ...state, undo: undone(state.undo, event, payload) };
  const before = state.nodes[nodeId] ?? FIRST;
  const data = dataOf(definition, nodeId);
  const after = nextNode(before, { event, payload, data, nodeId });
  if (after === before) return state;
  const completed = event.type === 'node-completed' && data.undo;
  const undo = completed
    ? [...state.undo, { position, nodeId, tries: 0, status: 'left' as const }]
    : state.undo;
  return { nodes: { ...state.nodes, [nodeId]: after }, undo };
}

interface Change {
  readonly event: GraphEvent;
  readonly payload: JsonObject;
  readonly data: ScriptNodeData;
  readonly nodeId: string;
}

function nextNode(node: NodeState, { event, payload, data, nodeId }: Change): NodeState {
  const isNext = payload['position'] === positionOf(nodeId, node, node.attempt + 1);
  if (event.type === 'node-dispatched' && node.status === 'idle' && isNext) {
    return { ...node, status: 'open', attempt: node.attempt + 1 };
  }
  if (payload['position'] !== positionOf(nodeId, node, node.attempt)) return node;
  switch (event.type) {
    case 'node-completed': {
      const result = payload['result'] ?? null;
      if (node.round >= data.rounds) return { ...node, status: 'done', result };
      return { ...FIRST, round: node.round + 1, result };
    }
    case 'node-failed':
      return failedNode(node, payload, data);
    case 'node-paused':
      return { ...node, status: 'paused' };
    case 'node-resumed':
      return { ...node, status: 'open' };
    default:
      return node;
  }
}

function failedNode(node: NodeState, payload: JsonObject, data: ScriptNodeData): NodeState {
  const retryable = payload['retryable'] === true;
  if (retryable && payload['code'] === 'ABORTED') return { ...node, status: 'idle' };
  const failures = node.failures + 1;
  return { ...node, failures, status: retryable && failures <= data.retries ? 'idle' : 'failed' };
}

function undone(undo: readonly Undo[], event: GraphEvent, payload: JsonObject): readonly Undo[] {
  return undo.map((entry) => {
    const tries = event.type === 'node-dispatched' ? entry.tries + 1 : entry.tries;
    if (payload['position'] !== `undo/${entry.position}/${tries}`) return entry;
    switch (event.type) {
      case 'node-dispatched':
        return { ...entry, tries, status: 'open' };
      case 'node-completed':
        return { ...entry, status: 'done' };
      case 'node-failed': {
        const again = payload['code'] === 'ABORTED' && payload['retryable'] === true;
        return { ...entry, status: again ? 'left' : 'done' };
      }
      default:
        return entry;
    }
  });
}

function resultsOf(state: ScriptState): JsonObject {
  return Object.fromEntries(Object.entries(state.nodes).map(([id, { result }]) => [id, result]));
}

function dataOf(definition: ScriptDefinition, id: string): ScriptNodeData {
  const found = definition.nodes.find((node) => node.id === id);
  if (found === undefined) throw new RangeError(`There is no node ${id}.`);
  return found.data;
}

function describe(definition: ScriptDefinition): GraphDescriptionInput {
  const nodeIds = definition.nodes.map(({ id }) => id);
  const lanes = new Map(
    definition.nodes.flatMap(({ data: { lane } }) => (lane === undefined ? [] : [[lane.id, lane]])),
  );
  const unknown = { kind: 'unknown', reason: 'Retries and rounds.' } as const;
  return {
    inputContract: {},
    outputContract: {},
    phases: [{ id: 'script', name: 'Script', nodeIds }],
    nodes: definition.nodes.map(({ id, data: { lane } }) => ({
      id,
      phaseId: 'script',
      inputContract: {},
      outputContract: {},
      laneId: lane?.id ?? null,
    })),
    policies: {
      retry: null,
      stop: null,
      concurrency: null,
      write: null,
      budget: null,
      action: null,
    },
    executionLanes: [...lanes.values()],
    requestedPermissions: [],
    bounds: {
      dispatches: { min: { kind: 'known', value: 0 }, max: unknown },
      maxConcurrency: unknown,
      maxFanOut: unknown,
    },
  };
}
