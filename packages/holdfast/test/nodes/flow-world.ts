/** Runs a flow over a memory store: the bindings and the form together, as a host uses them. */
import {
  compileGraph,
  createGraphExecutor,
  type FlowFile,
  type FlowFunctions,
  type FlowNodesOptions,
  flowDefinition,
  flowGraphType,
  flowNodes,
  type JsonValue,
  type RunStorage,
  startRun,
} from 'holdfast';
import { createMemoryRunStorage } from 'holdfast/storage/memory';

export interface FlowWorldOptions extends FlowNodesOptions {
  readonly input?: JsonValue;
  readonly storage?: RunStorage;
}

/** A stored run of this flow, and a way to open executors of it. */
export async function flowWorld(
  flow: FlowFile,
  functions: FlowFunctions = {},
  options: FlowWorldOptions = {},
) {
  const { input = null, storage = createMemoryRunStorage({ namespace: 'test' }) } = options;
  const graph = compileGraph(flowGraphType, flowDefinition(flow));
  const nodes = flowNodes(flow, functions, options);
  await startRun(storage, { runId: 'r1', graph, input });
  return {
    storage,
    open: () => createGraphExecutor({ runId: 'r1', graph, storage, nodes }),
  };
}

/** A flow from `[id, type, config]` nodes and `a.out>b.next` edges; the trigger is `start`. */
export function flowOf(
  nodes: readonly (readonly [string, string, Record<string, JsonValue>?])[],
  edges: readonly string[],
): FlowFile {
  return {
    id: 'flow',
    version: 1,
    nodes: [
      { id: 'start', type: 'trigger', config: {} },
      ...nodes.map(([id, type, config = {}]) => ({ id, type, config })),
    ],
    edges: edges.map((text, index) => {
      const [from = '', to = ''] = text.split('>');
      const [source = '', sourceHandle] = from.split('.');
      const [target = '', targetHandle] = to.split('.');
      return {
        id: `e${index}`,
        source,
        target,
        ...(sourceHandle === undefined ? {} : { sourceHandle }),
        ...(targetHandle === undefined ? {} : { targetHandle }),
      };
    }),
  };
}
