/** The graph type of seed 003, for a process that reads no TypeScript. */
export const draftReviewType = {
  definition: {
    id: 'draft-review',
    definitionVersion: 1,
    data: {},
    nodes: [
      { id: 'draft', data: {} },
      { id: 'review', data: {} },
    ],
    edges: [{ id: 'draft-to-review', source: 'draft', target: 'review', data: {} }],
  },
  kind: 'draft-review',
  version: 1,
  compile(value) {
    const none = { retry: null, stop: null, concurrency: null, write: null };
    const known = (count) => ({ kind: 'known', value: count });
    return {
      requirements: { memory: 'unused' },
      initialState: () => ({ next: 'draft' }),
      reduce: (state, event) =>
        event.type === 'node-completed' && event.payload.nodeId === state.next
          ? { next: state.next === 'draft' ? 'review' : 'done' }
          : state,
      decide: ({ next }) =>
        next === 'done'
          ? [{ kind: 'complete', output: { approved: true } }]
          : [{ kind: 'dispatch', nodeId: next, input: {}, position: `work/${next}` }],
      describe: () => ({
        inputContract: {},
        outputContract: {},
        phases: [{ id: 'work', name: 'Work', nodeIds: value.nodes.map(({ id }) => id) }],
        nodes: value.nodes.map(({ id }) => ({
          id,
          phaseId: 'work',
          inputContract: {},
          outputContract: {},
          laneId: null,
        })),
        policies: { ...none, budget: null, action: null },
        executionLanes: [],
        requestedPermissions: [],
        bounds: {
          dispatches: { min: known(2), max: known(2) },
          maxConcurrency: known(1),
          maxFanOut: known(1),
        },
      }),
    };
  },
};
