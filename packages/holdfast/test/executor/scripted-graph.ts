/** A graph that says what a test tells it to, one thing after the other, each once. */
import {
  compileGraph,
  createGraphExecutor,
  type GraphCommand,
  type GraphExecutor,
  type NodeBinding,
  type RunStorage,
  startRun,
} from 'holdfast';
import { plainDescription } from '../support/plain-description.ts';

/** One dispatch, at position `1` for the first thing said and so on; or an end, or a pause. */
export type Said =
  | { readonly nodeId: string; readonly position?: string; readonly retryOf?: string }
  | Exclude<GraphCommand, { readonly kind: 'dispatch' }>;

interface State {
  readonly said: number;
  readonly isOpen: boolean;
}

/** The graph of these nodes; after all is said it completes with how many nodes have settled. */
export function scriptedGraph(
  nodeIds: readonly string[],
  said: readonly Said[],
  /** The first positions that one last decision retries. */
  { thenAtOnce = [] }: { readonly thenAtOnce?: readonly string[] } = {},
) {
  const [first = ''] = nodeIds;
  const atOnce = thenAtOnce.map((retryOf, place): GraphCommand => {
    const position = `retry ${place}`;
    return { kind: 'dispatch', nodeId: first, input: null, position, retryOf };
  });
  return compileGraph(
    {
      kind: 'scripted',
      version: 1,
      compile: () => ({
        requirements: { memory: 'unused' as const },
        initialState: (): State => ({ said: 0, isOpen: false }),
        reduce: (state: State, { type }: { readonly type: string }): State => {
          if (type === 'node-dispatched') return { said: state.said + 1, isOpen: true };
          return type === 'node-completed' || type === 'node-failed'
            ? { ...state, isOpen: false }
            : state;
        },
        decide: (state: State): readonly GraphCommand[] => {
          if (state.isOpen) return [];
          const next = said[state.said];
          if (next === undefined && atOnce.length > 0) return atOnce;
          if (next === undefined) return [{ kind: 'complete', output: state.said }];
          if ('kind' in next) return [next];
          const position = String(state.said + 1);
          return [{ kind: 'dispatch', input: null, position, ...next }];
        },
        describe: () => plainDescription(Object.fromEntries(nodeIds.map((id) => [id, null]))),
      }),
    },
    {
      id: 'scripted',
      definitionVersion: 1,
      data: {},
      nodes: nodeIds.map((id) => ({ id, data: {} })),
      edges: [],
    },
  );
}

/** A stored run `r1` of a scripted graph; what is returned opens it as a new process would. */
export async function scriptedRun(
  storage: RunStorage,
  {
    nodes,
    said,
    graph = scriptedGraph(Object.keys(nodes), said),
  }: {
    readonly nodes: Readonly<Record<string, NodeBinding>>;
    readonly said: readonly Said[];
    readonly graph?: ReturnType<typeof scriptedGraph>;
  },
): Promise<() => Promise<GraphExecutor>> {
  await startRun(storage, { runId: 'r1', graph, input: null });
  return () => createGraphExecutor({ runId: 'r1', graph, storage, nodes });
}
