/** A graph whose state is all it was told, and whose decisions a test writes down. */
import {
  compileGraph,
  createGraphExecutor,
  type EventEnvelope,
  type ExecutionLaneDescription,
  type GraphCommand,
  type GraphDefinition,
  type GraphEvent,
  type GraphExecutor,
  type GraphExecutorOptions,
  type GraphRequirements,
  type GraphType,
  type JsonObject,
  type JsonValue,
  type NodeResultIssue,
  type RunStorage,
  startRun,
} from 'holdfast';
import { createMemoryRunStorage } from 'holdfast/storage/memory';
import { plainDescription } from '../support/plain-description.ts';
import { eventsOf, typesOf } from '../support/stored-events.ts';

export const RUN = 'r1';

/** An event as the graph was told of it. */
export interface Told {
  readonly type: string;
  readonly payload: JsonObject;
}

export interface Script {
  /** Node ids, each with its lane. */
  readonly nodes: Readonly<Record<string, ExecutionLaneDescription | null>>;
  readonly decide: (told: readonly Told[]) => readonly GraphCommand[];
  readonly validate?: (nodeId: string, result: JsonValue) => NodeResultIssue | null;
  readonly memory?: 'required';
  readonly definitionVersion?: number;
  /** Throws where a graph type cannot fold. */
  readonly reduce?: (event: GraphEvent) => void;
}

export function scripted(script: Script) {
  const ids = Object.keys(script.nodes);
  const type: GraphType<GraphDefinition, readonly JsonValue[], GraphEvent, GraphRequirements> = {
    kind: 'scripted',
    version: 1,
    compile: () => ({
      requirements: { memory: script.memory ?? 'unused' },
      initialState: () => [],
      reduce: (told, event) => {
        script.reduce?.(event);
        return [...told, { type: event.type, payload: event.payload }];
      },
      decide: (told) => script.decide(told as unknown as readonly Told[]),
      ...(script.validate === undefined ? {} : { validateNodeResult: script.validate }),
      describe: () => plainDescription(script.nodes),
    }),
  };
  const { definitionVersion = 1 } = script;
  const nodes = ids.map((id) => ({ id, data: {} }));
  return compileGraph(type, { id: 'scripted', definitionVersion, data: {}, nodes, edges: [] });
}

export interface ScriptWorld {
  readonly storage: RunStorage;
  readonly graph: ReturnType<typeof scripted>;
  open(options?: Partial<GraphExecutorOptions>): Promise<GraphExecutor>;
  events(): Promise<readonly EventEnvelope[]>;
  types(): Promise<readonly string[]>;
  payload(type: string): Promise<JsonObject | undefined>;
}

export async function scriptWorld(
  script: Script,
  host: Partial<GraphExecutorOptions> & Pick<GraphExecutorOptions, 'nodes'>,
): Promise<ScriptWorld> {
  const storage = host.storage ?? createMemoryRunStorage({ namespace: 'test' });
  const graph = scripted(script);
  await startRun(storage, { runId: RUN, graph, input: { topic: 'seeds' } });
  const events = () => eventsOf(storage, RUN);
  return {
    storage,
    graph,
    events,
    open: (options) => createGraphExecutor({ runId: RUN, graph, ...host, ...options, storage }),
    types: async () => typesOf(await events()),
    payload: async (type) =>
      (await events()).find((event) => event.type === `graph:${type}`)?.payload as
        | JsonObject
        | undefined,
  };
}

export const dispatch = (
  nodeId: string,
  position: string,
  input: JsonValue = {},
): GraphCommand => ({
  kind: 'dispatch',
  nodeId,
  position,
  input,
});

export const complete = (output: JsonValue): readonly GraphCommand[] => [
  { kind: 'complete', output },
];

/** Whether the position has an outcome. */
export const settled = (told: readonly Told[], position: string) =>
  told.some(
    ({ type, payload }) => /completed|failed/.test(type) && payload['position'] === position,
  );

/** Dispatches these positions one after the other, then completes with all results. */
export function inOrder(...steps: readonly (readonly [nodeId: string, position: string])[]) {
  return (told: readonly Told[]): readonly GraphCommand[] => {
    for (const [nodeId, position] of steps) {
      if (settled(told, position)) continue;
      const isOpen = told.some(
        ({ type, payload }) => type === 'node-dispatched' && payload['position'] === position,
      );
      return isOpen ? [] : [dispatch(nodeId, position, { at: position })];
    }
    return complete(
      told.flatMap(({ type, payload }) =>
        type === 'node-completed' ? [payload['result'] ?? null] : [],
      ),
    );
  };
}
