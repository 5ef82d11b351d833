/** A dag of engine-backed nodes on one lane, over one storage, many processes. */
import {
  compileGraph,
  createGraphExecutor,
  type DagDefinition,
  dagGraphType,
  type EventEnvelope,
  type ExecutionTarget,
  engineNode,
  type GraphExecutor,
  type GraphExecutorOptions,
  type JsonObject,
  MockEngine,
  type MockResponder,
  type NodeBinding,
  persistRunDefinition,
  type RunStorage,
  resolveGraphPlan,
} from 'holdfast';
import { createMemoryRunStorage } from 'holdfast/storage/memory';
import { eventsOf, typesOf } from '../support/stored-events.ts';

export const RUN = 'r1';

/** A target of adapter `mock`; what a test says differs. */
export function target(model: string, more: Partial<ExecutionTarget> = {}): ExecutionTarget {
  return { adapter: 'mock', provider: 'acme', modelFamily: 'm', model, tools: [], ...more };
}

export interface LaneShape {
  /** The effective target, then the fallbacks. */
  readonly targets: readonly ExecutionTarget[];
  readonly responders: readonly MockResponder[];
  /** Nodes that run one after the other on the lane. */
  readonly nodes?: readonly string[];
  readonly bindings?: Readonly<Record<string, NodeBinding>>;
  readonly retries?: number;
  readonly storage?: RunStorage;
}

export interface LaneWorld {
  readonly storage: RunStorage;
  /** The engines, in the order of the targets. */
  readonly engines: readonly MockEngine[];
  open(options?: Partial<GraphExecutorOptions>): Promise<GraphExecutor>;
  events(): Promise<readonly EventEnvelope[]>;
  payloads(type: string): Promise<readonly JsonObject[]>;
  types(): Promise<readonly string[]>;
}

export function laneGraph(shape: LaneShape) {
  const { targets, nodes = ['a'], retries = 0 } = shape;
  const [requested = target('none'), ...knownSubstitutions] = targets;
  const lane = { id: 'lane', requested, knownSubstitutions };
  const definition: DagDefinition = {
    id: 'lanes',
    definitionVersion: 1,
    data: {
      globalConcurrency: 4,
      keyedConcurrency: {},
      stopOnError: false,
      retryCapPerNode: retries,
    },
    nodes: nodes.map((id) => ({ id, data: { kind: 'required' as const, key: null, lane } })),
    edges: nodes.slice(1).map((id, place) => {
      const source = nodes[place] ?? '';
      return { id: `${source}>${id}`, source, target: id, data: {} };
    }),
  };
  return compileGraph(dagGraphType, definition);
}

export async function laneWorld(shape: LaneShape): Promise<LaneWorld> {
  const { targets, responders, nodes = ['a'], bindings = {} } = shape;
  const storage = shape.storage ?? createMemoryRunStorage({ namespace: 'test' });
  const graph = laneGraph(shape);
  const [effective = target('none'), ...fallbacks] = targets;
  const identity = { source: 'test', version: '1', digest: graph.definition.digest };
  await persistRunDefinition(storage, {
    runId: RUN,
    graphDefinition: graph.definition,
    resolvedPlan: resolveGraphPlan(graph.describe(), {
      package: identity,
      admission: { package: identity, permissions: [] },
      executionLanes: [{ id: 'lane', effective, fallbacks }],
    }),
    resolvedInputs: {},
  });
  const engines = targets.map((each, place) => MockEngine.forTarget(each, responders[place]));
  const bound = Object.fromEntries(
    nodes.map((id) => [id, bindings[id] ?? engineNode({ prompt: () => `prompt of ${id}` })]),
  );
  const events = () => eventsOf(storage, RUN);
  return {
    storage,
    engines,
    open: (options) =>
      createGraphExecutor({
        runId: RUN,
        graph,
        storage,
        nodes: bound,
        engines: targets.map((each, place) => ({
          target: each,
          engine: engines[place] ?? new MockEngine(),
        })),
        ...options,
      }),
    events,
    payloads: async (type) =>
      (await events())
        .filter((event) => event.type === `graph:${type}`)
        .map(({ payload }) => payload as JsonObject),
    types: async () => typesOf(await events()),
  };
}
