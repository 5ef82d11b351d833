/** Random lanes, and what the engines behind them do at each of their calls. */
import { ENGINE_FAILURE_KINDS, type EngineFailureKind } from '../base/engine-failure.ts';
import type { ExecutionLaneDescription, ExecutionTarget } from '../graph/execution-target.ts';
import type { RunPreflightPolicy } from '../graph/preflight-policy.ts';
import type { SeededRandom } from './seeded-random.ts';

/** What an engine does when it is called: it fails in some way, answers, or misbehaves. */
export type EngineAct =
  | EngineFailureKind
  | 'answers'
  | 'answers without usage'
  | 'answers at length'
  | 'answers twice'
  | 'answers late'
  | 'answers nonsense'
  | 'answers as another'
  | 'never answers'
  | 'throws no error'
  | 'throws an untyped error'
  | 'leaks a secret';

/** What an engine says when it is asked whether it would take a request. */
export type AdmitAct = 'admits' | 'never says' | EngineFailureKind;

export interface SeatPlan {
  readonly target: ExecutionTarget;
  /** One answer after the other, the last one repeated; null = it cannot be asked. */
  readonly admissions: readonly AdmitAct[] | null;
  /** Its acts, one call after the other; the last one is repeated. */
  readonly acts: readonly EngineAct[];
  readonly workMs: number;
}

/** A lane: its effective target first, then the fallbacks. */
export interface LanePlan {
  readonly id: string;
  readonly seats: readonly SeatPlan[];
}

/** Work that the engine of a lane does. */
export interface EnginePlan {
  readonly kind: 'engine';
  readonly laneId: string;
  readonly retrySafe: boolean;
  readonly timeoutMs: number;
  readonly graceMs: number;
  readonly policy: 'none' | 'none' | 'wait' | 'deny';
  readonly keepsLargeResults: boolean;
  /** Whether its prompt builder throws. */
  readonly hasNoPrompt: boolean;
}

const MISBEHAVIOUR: readonly EngineAct[] = [
  'answers without usage',
  'answers at length',
  'answers twice',
  'answers late',
  'answers nonsense',
  'answers as another',
  'never answers',
  'throws no error',
  'throws an untyped error',
  'leaks a secret',
];

/** One to three lanes of one to three targets; their adapters and providers overlap. */
export function planLanes(random: SeededRandom): readonly LanePlan[] {
  return Array.from({ length: random.integer(1, 3) }, (_none, lane) => ({
    id: `lane${lane}`,
    seats: Array.from({ length: random.pick([1, 2, 2, 3]) }, (_seat, place) =>
      planSeat(random, `m${lane}.${place}`),
    ),
  }));
}

function planSeat(random: SeededRandom, model: string): SeatPlan {
  const trouble = random.pick([0.1, 0.5, 0.9]);
  return {
    target: {
      adapter: random.pick(['one', 'two']),
      provider: random.pick(['red', 'blue']),
      modelFamily: 'simulated',
      model: random.chance(0.2) ? 'shared' : model,
      tools: random.chance(0.2) ? ['read'] : [],
    },
    admissions: random.chance(0.2) ? null : planAdmissions(random, trouble),
    // In the end all is well, or engine checks would fail and be tried again for ever.
    acts: [
      ...Array.from({ length: random.integer(1, 4) }, () => planAct(random, trouble)),
      'answers',
    ],
    workMs: random.pick([0, 1, 40, 900]),
  };
}

function planAdmissions(random: SeededRandom, trouble: number): readonly AdmitAct[] {
  const some = Array.from({ length: random.integer(1, 3) }, () =>
    random.chance(trouble / 3)
      ? random.pick(['never says', 'transient', 'auth', 'missing-cli', 'unknown'] as const)
      : 'admits',
  );
  return [...some, 'admits'];
}

/** How the lanes are checked before the run, or not at all. */
export function planPreflight(
  random: SeededRandom,
  lanes: readonly LanePlan[],
): RunPreflightPolicy | null {
  if (!random.chance(0.4)) return null;
  return {
    // Long enough for whoever answers at all: the rest never would.
    timeoutMs: random.pick([2_000, 20_000]),
    lanes: lanes.map(({ id }) => ({
      laneId: id,
      live: random.pick(['required', 'skip'] as const),
      unsupportedStatic: random.pick(['block', 'allow', 'allow'] as const),
    })),
  };
}

function planAct(random: SeededRandom, trouble: number): EngineAct {
  if (!random.chance(trouble)) return 'answers';
  return random.chance(0.6) ? random.pick(ENGINE_FAILURE_KINDS) : random.pick(MISBEHAVIOUR);
}

/** A node that is backed by one of the lanes. */
export function planEngine(random: SeededRandom, lanes: readonly LanePlan[]): EnginePlan {
  return {
    kind: 'engine',
    laneId: random.pick(lanes.map(({ id }) => id)),
    retrySafe: random.chance(0.5),
    timeoutMs: random.pick([500, 5_000, 60_000]),
    graceMs: random.pick([0, 20, 5_000]),
    policy: random.pick(['none', 'none', 'none', 'none', 'wait', 'deny'] as const),
    keepsLargeResults: random.chance(0.5),
    hasNoPrompt: random.chance(0.05),
  };
}

/** The lane as a graph describes it: no target stands in it twice. */
export function describeLane({ id, seats }: LanePlan): ExecutionLaneDescription {
  const [requested, ...others] = distinctTargets(seats);
  if (requested === undefined) throw new Error(`Lane ${id} has no target.`);
  return { id, requested, knownSubstitutions: others };
}

function distinctTargets(seats: readonly SeatPlan[]): readonly ExecutionTarget[] {
  return [...new Map(seats.map(({ target }) => [targetKey(target), target])).values()];
}

/** One text for each distinct target. */
export function targetKey({
  adapter,
  provider,
  modelFamily,
  model,
  tools,
}: ExecutionTarget): string {
  return JSON.stringify([adapter, provider, modelFamily, model, tools]);
}
