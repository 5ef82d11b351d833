/** A small world for executor tests: a dag of named nodes over one storage, many processes. */
import {
  compileGraph,
  createGraphExecutor,
  type DagDefinition,
  dagGraphType,
  type EventEnvelope,
  type GraphExecutor,
  type GraphExecutorOptions,
  type NodeBinding,
  type RunStorage,
  startRun,
} from 'holdfast';
import { createMemoryRunStorage } from 'holdfast/storage/memory';
import { eventsOf, typesOf } from '../support/stored-events.ts';

export const RUN = 'r1';

export interface DagShape {
  /** `a>b` is an edge. */
  readonly edges?: readonly string[];
  readonly retries?: number;
  readonly concurrency?: number;
}

/** A dag of these nodes, all required. */
export function dagOf(ids: readonly string[], shape: DagShape = {}) {
  const edges = (shape.edges ?? []).map((edge) => {
    const [source = '', target = ''] = edge.split('>');
    return { id: edge, source, target, data: {} };
  });
  const definition: DagDefinition = {
    id: 'dag',
    definitionVersion: 1,
    data: {
      globalConcurrency: shape.concurrency ?? 10,
      keyedConcurrency: {},
      stopOnError: false,
      retryCapPerNode: shape.retries ?? 0,
    },
    nodes: ids.map((id) => ({ id, data: { kind: 'required', key: null } })),
    edges,
  };
  return compileGraph(dagGraphType, definition);
}

export interface World {
  readonly storage: RunStorage;
  /** A fresh executor, as a new process would make it. */
  open(options?: Partial<GraphExecutorOptions>): Promise<GraphExecutor>;
  events(): Promise<readonly EventEnvelope[]>;
  /** Event types without `graph:`, in order. */
  types(): Promise<readonly string[]>;
}

/** A stored run of a dag with these bindings; its nodes are the bindings' names. */
export async function worldOf(
  nodes: Readonly<Record<string, NodeBinding>>,
  shape: DagShape = {},
  storage: RunStorage = createMemoryRunStorage({ namespace: 'test' }),
): Promise<World> {
  const graph = dagOf(Object.keys(nodes), shape);
  await startRun(storage, { runId: RUN, graph, input: null });
  const events = () => eventsOf(storage, RUN);
  return {
    storage,
    open: (options) => createGraphExecutor({ runId: RUN, graph, storage, nodes, ...options }),
    events,
    types: async () => typesOf(await events()),
  };
}

/** A promise that tests settle by hand. */
export function gate<T = void>() {
  let open: (value: T) => void = () => {};
  const opened = new Promise<T>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}
