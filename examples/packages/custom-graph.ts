/**
 * A graph type of your own, from the definition to a resolved plan. Copy this file to start one.
 *
 * The type here is `newsroom`: a story is written, then an editor looks at it, and the story goes
 * back to the writer until the editor accepts it or the rounds are used up. It shows what a graph
 * type is made of:
 *
 *   1. the definition   what the graph is, as JSON
 *   2. the state        what has happened so far, as JSON
 *   3. the graph type   compile() gives the pure operations over that state
 *   4. the fixture      what the conformance kit holds the type against
 *   5. the plan         what a host admits before anything runs
 *
 * Run it with `npm run example:graph`. It uses public exports only.
 */
import {
  compileGraph,
  type GraphCommand,
  type GraphDefinition,
  type GraphDescriptionInput,
  type GraphEvent,
  type GraphIssue,
  type GraphType,
  GraphValidationError,
  type PlanResolution,
  resolveGraphPlan,
} from 'holdfast';
import { type GraphTypeConformanceFixture, runGraphTypeConformance } from 'holdfast/testing';

// 1. The definition ---------------------------------------------------------------------------
// `data` is yours: on the graph, on each node and on each edge. Its types are checked here, at
// compile time; what comes from outside is checked by `compile` below, at run time.

type NewsroomDefinition = GraphDefinition<
  { readonly role: 'writer' | 'editor' },
  Record<string, never>,
  { readonly rounds: number }
>;

const definition: NewsroomDefinition = {
  id: 'front-page',
  definitionVersion: 1,
  data: { rounds: 2 },
  nodes: [
    { id: 'draft', data: { role: 'writer' } },
    { id: 'review', data: { role: 'editor' } },
  ],
  edges: [{ id: 'draft-to-review', source: 'draft', target: 'review', data: {} }],
};

// 2. The state --------------------------------------------------------------------------------
// Plain JSON, and everything that a decision needs: it is the fold of the recorded events and
// nothing else. No dates, no class instances, no `undefined`.

type NewsroomState = {
  /** The round in hand, from 1. */
  readonly round: number;
  readonly next: 'draft' | 'review' | 'done';
  readonly accepted: boolean;
};

/** The events that this type reads. A host records more kinds; they are passed over. */
type NewsroomEvent = GraphEvent<
  'node-completed',
  { readonly nodeId: string; readonly result: { readonly accepted?: boolean } }
>;

// 3. The graph type ---------------------------------------------------------------------------

const newsroom: GraphType<
  NewsroomDefinition,
  NewsroomState,
  NewsroomEvent,
  { readonly memory: 'unused' }
> = {
  kind: 'newsroom',
  // Raise this whenever the same events would give another state or another decision.
  version: 1,
  compile(value) {
    refuseInvalid(value);
    const [draft, review] = [nodeOf(value, 'writer'), nodeOf(value, 'editor')];
    return {
      requirements: { memory: 'unused' },
      initialState: () => ({ round: 1, next: 'draft', accepted: false }),

      // What happened. Give back a new state, or the same one for what does not concern you.
      reduce: (state, event) => {
        if (event.type !== 'node-completed' || state.next === 'done') return state;
        const { nodeId, result } = event.payload;
        if (state.next === 'draft') return nodeId === draft ? { ...state, next: 'review' } : state;
        if (nodeId !== review) return state;
        if (result.accepted === true) return { ...state, next: 'done', accepted: true };
        return state.round < value.data.rounds
          ? { round: state.round + 1, next: 'draft', accepted: false }
          : { ...state, next: 'done' };
      },

      // What next? Positions name occurrences: the same node in another round is another one.
      decide: ({ round, next, accepted }): readonly GraphCommand[] => {
        if (next !== 'done') {
          const nodeId = next === 'draft' ? draft : review;
          return [{ kind: 'dispatch', nodeId, input: { round }, position: `${round}/${nodeId}` }];
        }
        return accepted
          ? [{ kind: 'complete', output: { rounds: round } }]
          : [{ kind: 'fail', code: 'NOT_ACCEPTED', message: `Not accepted in ${round} rounds.` }];
      },

      // What a host may know before anything runs.
      describe: () => describeNewsroom(value),
    };
  },
};

/** Refuse what you cannot run: all issues at once, each with its place. */
function refuseInvalid(value: NewsroomDefinition): void {
  const issues: GraphIssue[] = [];
  if (!Number.isSafeInteger(value.data?.rounds) || value.data.rounds < 1) {
    const message = 'the number of rounds must be an integer from 1';
    issues.push({ code: 'INVALID_ROUNDS', path: '/data/rounds', message });
  }
  for (const role of ['writer', 'editor'] as const) {
    const count = value.nodes.filter((node) => node.data?.role === role).length;
    if (count === 1) continue;
    issues.push({
      code: 'INVALID_ROLE',
      path: '/nodes',
      message: `needs one ${role}, has ${count}`,
    });
  }
  if (issues.length > 0) throw new GraphValidationError('Invalid newsroom definition.', issues);
}

function nodeOf(value: NewsroomDefinition, role: 'writer' | 'editor'): string {
  return value.nodes.find((node) => node.data.role === role)?.id ?? '';
}

function describeNewsroom(value: NewsroomDefinition): GraphDescriptionInput {
  return {
    inputContract: {},
    outputContract: { rounds: 'number' },
    phases: [{ id: 'desk', name: 'Desk', nodeIds: value.nodes.map((node) => node.id) }],
    // In the order of the definition; `laneId` names an execution lane, for model nodes.
    nodes: value.nodes.map((node) => ({
      id: node.id,
      phaseId: 'desk',
      inputContract: { round: 'number' },
      outputContract: {},
      laneId: null,
    })),
    policies: {
      retry: null,
      stop: { rounds: value.data.rounds },
      concurrency: null,
      write: null,
      budget: null,
      action: null,
    },
    executionLanes: [],
    requestedPermissions: [],
    // Known only where it can be calculated; otherwise { kind: 'unknown', reason: '…' }.
    bounds: {
      dispatches: {
        min: { kind: 'known', value: 2 },
        max: { kind: 'known', value: 2 * value.data.rounds },
      },
      maxConcurrency: { kind: 'known', value: 1 },
      maxFanOut: { kind: 'known', value: 1 },
    },
  };
}

// 4. The fixture ------------------------------------------------------------------------------
// One trace, and what you expect before it and after each of its events. The kit folds it with
// separate instances, forwards and backwards, and checks your bounds and your refusals.

function completed(nodeId: string, result: { readonly accepted?: boolean }): NewsroomEvent {
  return { type: 'node-completed', version: 1, payload: { nodeId, result } };
}

const events: readonly NewsroomEvent[] = [
  completed('draft', {}),
  completed('review', { accepted: false }),
  completed('draft', {}),
  completed('review', { accepted: true }),
];

const identity = {
  source: 'npm:@example/newsroom',
  version: '1.0.0',
  digest: `sha256:${'2'.repeat(64)}`,
} as const;

const resolution: PlanResolution = {
  package: identity,
  admission: { package: identity, permissions: [] },
  executionLanes: [],
};

const fixture = {
  graphType: newsroom,
  definition,
  events,
  invalidDefinitions: [
    { ...definition, data: { rounds: 0 } },
    { ...definition, nodes: definition.nodes.slice(0, 1), edges: [] },
  ],
  planResolution: resolution,
  expected: {
    states: [
      { round: 1, next: 'draft', accepted: false },
      { round: 1, next: 'review', accepted: false },
      { round: 2, next: 'draft', accepted: false },
      { round: 2, next: 'review', accepted: false },
      { round: 2, next: 'done', accepted: true },
    ],
    commands: [
      [{ kind: 'dispatch', nodeId: 'draft', input: { round: 1 }, position: '1/draft' }],
      [{ kind: 'dispatch', nodeId: 'review', input: { round: 1 }, position: '1/review' }],
      [{ kind: 'dispatch', nodeId: 'draft', input: { round: 2 }, position: '2/draft' }],
      [{ kind: 'dispatch', nodeId: 'review', input: { round: 2 }, position: '2/review' }],
      [{ kind: 'complete', output: { rounds: 2 } }],
    ],
    bounds: describeNewsroom(definition).bounds,
  },
} satisfies GraphTypeConformanceFixture<
  NewsroomDefinition,
  NewsroomState,
  NewsroomEvent,
  { readonly memory: 'unused' }
>;

const conformance = runGraphTypeConformance(fixture);
if (!conformance.ok) throw new Error(JSON.stringify(conformance.failures, null, 2));

// 5. The plan ---------------------------------------------------------------------------------
// The host decides what the graph's package may do. The plan is frozen and has a digest.

const compiled = compileGraph(newsroom, definition);
const state = events.reduce(compiled.reduce, compiled.initialState());
const plan = resolveGraphPlan(compiled.describe(), resolution);

console.log(
  JSON.stringify(
    {
      conformance: conformance.ok,
      cases: conformance.cases,
      definitionDigest: compiled.definition.digest,
      state,
      decision: compiled.decide(state),
      planDigest: plan.digest,
      dispatches: plan.plan.bounds.dispatches,
    },
    null,
    2,
  ),
);
