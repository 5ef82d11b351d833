/**
 * A graph type outside the library: a writer and a critic take turns.
 *
 * The writer is a data-only node, bound to a function. The critic runs on a lane, bound to a
 * prompt: which engine answers is the plan's affair. Each dispatch carries a summary of its
 * position, so that every turn has a prompt of its own.
 */
import type {
  ExecutionTarget,
  GraphCommand,
  GraphDefinition,
  GraphDescriptionInput,
  GraphEvent,
  GraphNode,
  GraphType,
} from 'holdfast';

export type Role = 'writer' | 'critic';

export interface Turn {
  readonly role: Role;
  readonly round: number;
  readonly text: string;
}

/** What a turn is given. */
export interface TurnInput {
  readonly positionSummary: string;
  readonly round: number;
  /** What the other one said last; null in the first turn. */
  readonly last: string | null;
}

interface State {
  readonly turns: readonly Turn[];
  readonly failure: { readonly code: string; readonly message: string } | null;
}

type TurnEvent =
  | GraphEvent<'node-completed', { readonly nodeId: Role; readonly result: string }>
  | GraphEvent<'node-failed', { readonly nodeId: Role; readonly code: string; message: string }>;

interface Definition extends GraphDefinition {
  readonly data: { readonly rounds: number };
}

/** The engine that is asked first, and the one that may stand in for it. */
export const primary: ExecutionTarget = {
  adapter: 'mock',
  provider: 'first-house',
  modelFamily: 'critic',
  model: 'strict-1',
  tools: [],
};
export const fallback: ExecutionTarget = {
  ...primary,
  provider: 'second-house',
  model: 'mild-1',
};

const node = (id: Role): GraphNode => ({ id, data: {} });

export const definition: Definition = {
  id: 'turn-taking',
  definitionVersion: 1,
  data: { rounds: 3 },
  nodes: [node('writer'), node('critic')],
  edges: [
    { id: 'hand-in', source: 'writer', target: 'critic', data: {} },
    { id: 'hand-back', source: 'critic', target: 'writer', data: {} },
  ],
};

/** Whose turn it is. */
function nextTurn(turns: readonly Turn[]): { readonly role: Role; readonly round: number } {
  const round = Math.floor(turns.length / 2) + 1;
  return { role: turns.length % 2 === 0 ? 'writer' : 'critic', round };
}

function decide({ turns, failure }: State, rounds: number): readonly GraphCommand[] {
  if (failure !== null) return [{ kind: 'fail', ...failure }];
  const { role, round } = nextTurn(turns);
  const last = turns.at(-1)?.text ?? null;
  if (round > rounds) return [{ kind: 'complete', output: { rounds, verdict: last } }];
  const positionSummary = `${role}, round ${round} of ${rounds}`;
  const input = { positionSummary, round, last };
  return [{ kind: 'dispatch', nodeId: role, position: `turn/${round}/${role}`, input }];
}

function reduce(state: State, event: TurnEvent): State {
  switch (event.type) {
    case 'node-completed': {
      const { nodeId: role, result: text } = event.payload;
      return { ...state, turns: [...state.turns, { ...nextTurn(state.turns), role, text }] };
    }
    case 'node-failed': {
      const { code, message } = event.payload;
      return { ...state, failure: { code, message } };
    }
    default:
      return state;
  }
}

export const turnTaking: GraphType<Definition, State, TurnEvent, { readonly memory: 'unused' }> = {
  kind: 'turn-taking',
  version: 1,
  compile: ({ data: { rounds } }) => ({
    requirements: { memory: 'unused' },
    initialState: () => ({ turns: [], failure: null }),
    reduce,
    decide: (state) => decide(state, rounds),
    describe: () => describe(rounds),
    validateNodeResult: (_nodeId, result) =>
      typeof result === 'string'
        ? null
        : { code: 'NO_TEXT', path: '', message: 'a turn must be a text' },
  }),
};

function describe(rounds: number): GraphDescriptionInput {
  const known = (value: number) => ({ kind: 'known', value }) as const;
  const contracts = { inputContract: {}, outputContract: {} };
  return {
    ...contracts,
    phases: [{ id: 'turns', name: 'Taking turns', nodeIds: ['writer', 'critic'] }],
    nodes: [
      { id: 'writer', phaseId: 'turns', laneId: null, ...contracts },
      { id: 'critic', phaseId: 'turns', laneId: 'critic', ...contracts },
    ],
    policies: {
      retry: null,
      stop: null,
      concurrency: null,
      write: null,
      budget: null,
      action: null,
    },
    executionLanes: [{ id: 'critic', requested: primary, knownSubstitutions: [fallback] }],
    requestedPermissions: [],
    bounds: {
      dispatches: { min: known(2 * rounds), max: known(2 * rounds) },
      maxConcurrency: known(1),
      maxFanOut: known(1),
    },
  };
}
