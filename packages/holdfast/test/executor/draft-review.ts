/** The graph type of seed 003, unchanged: it moves on whatever names the node it is at. */
import { compileGraph, type GraphDefinition, type GraphEvent, type GraphType } from 'holdfast';

const definition: GraphDefinition = {
  id: 'draft-review',
  definitionVersion: 1,
  data: {},
  nodes: [
    { id: 'draft', data: {} },
    { id: 'review', data: {} },
  ],
  edges: [{ id: 'draft-to-review', source: 'draft', target: 'review', data: {} }],
};

type State = { readonly next: 'draft' | 'review' | 'done' };
type Event = GraphEvent<'node-completed', { readonly nodeId: 'draft' | 'review' }>;

const graphType: GraphType<GraphDefinition, State, Event, { readonly memory: 'unused' }> = {
  kind: 'draft-review',
  version: 1,
  compile(value) {
    return {
      requirements: { memory: 'unused' },
      initialState: () => ({ next: 'draft' }),
      reduce: (state, event) =>
        event.payload.nodeId === state.next
          ? { next: state.next === 'draft' ? 'review' : 'done' }
          : state,
      decide: (state) =>
        state.next === 'done'
          ? [{ kind: 'complete', output: { approved: true } }]
          : [{ kind: 'dispatch', nodeId: state.next, input: {}, position: `work/${state.next}` }],
      describe: () => ({
        inputContract: {},
        outputContract: {},
        phases: [{ id: 'work', name: 'Work', nodeIds: value.nodes.map((node) => node.id) }],
        nodes: value.nodes.map((node) => ({
          id: node.id,
          phaseId: 'work',
          inputContract: {},
          outputContract: {},
          laneId: null,
        })),
        policies: {
          retry: null,
          stop: null,
          concurrency: null,
          write: null,
          budget: null,
          action: null,
        },
        executionLanes: [],
        requestedPermissions: [],
        bounds: {
          dispatches: { min: { kind: 'known', value: 2 }, max: { kind: 'known', value: 2 } },
          maxConcurrency: { kind: 'known', value: 1 },
          maxFanOut: { kind: 'known', value: 1 },
        },
      }),
    };
  },
};

export const draftReview = compileGraph(graphType, definition);

/** The same graph, for tests of what comes beside outcomes: only a completion moves it. */
export const carefulDraftReview = compileGraph(
  {
    ...graphType,
    compile(value, kernel) {
      const seed = graphType.compile(value, kernel);
      const reduce: typeof seed.reduce = (state, event) =>
        event.type === 'node-completed' ? seed.reduce(state, event) : state;
      return { ...seed, reduce };
    },
  },
  definition,
);
