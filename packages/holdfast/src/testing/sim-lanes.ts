/** Random lanes, and what the engines behind them do at each of their calls. */
import { ENGINE_FAILURE_KINDS, type EngineFailureKind } from '../base/engine-failure.ts';
import type { ExecutionLaneDescription, ExecutionTarget } from '../graph/execution-target.ts';
import type { RunPreflightPolicy } from '../graph/preflight-policy.ts';
import type { SeededRandom } from './seeded-random.ts';
import type { EngineExtras, EXTRA_ACTS } from './sim-extras.ts';

/** Everything that an engine may do when it is called, beside failing in a way that has a name. */
export const ENGINE_ACTS = [
  'answers',
  'answers without usage',
  'answers at length',
  'answers with a value',
  'answers twice',
  'answers late',
  'answers nonsense',
  'answers as another',
  'answers with bad usage',
  'outlives its process',
  'gives the reason',
  'never answers',
  'tells its usage only',
  'tells usage, then fails',
  'fails without usage',
  'tells nonsense',
  'throws no error',
  'throws an untyped error',
  'throws at once',
  'leaks a secret',
  'leaks at length',
  'leaks in pieces',
  'leaks in its error',
  'leaks its name',
] as const;

/** What an engine does when it is called: it fails in some way, answers, or misbehaves. */
export type EngineAct =
  | EngineFailureKind
  | (typeof ENGINE_ACTS)[number]
  | (typeof EXTRA_ACTS)[number];

/** What an engine says when it is asked whether it would take a request. */
export type AdmitAct = 'admits' | 'admits another' | 'never says' | EngineFailureKind;

export interface SeatPlan {
  readonly target: ExecutionTarget;
  /** One answer after the other, the last one repeated; null = it cannot be asked. */
  readonly admissions: readonly AdmitAct[] | null;
  /** Its acts, one call after the other; the last one is repeated. */
  readonly acts: readonly EngineAct[];
  readonly workMs: number;
  /** Whether it is bound as one that keeps to a limit of tokens; it never does. */
  readonly enforcesLimit?: boolean;
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
  readonly policy: 'none' | 'wait' | 'deny';
  readonly keepsLargeResults: boolean;
  /** How long its prompt builder takes; 0 = it is not even asynchronous. */
  readonly promptMs: number;
  /** Whether its prompt builder throws. */
  readonly hasNoPrompt: boolean;
  readonly extras?: EngineExtras;
}

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
  const trouble = random.pick([0.3, 0.7, 0.95]);
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
      ...Array.from({ length: random.integer(1, 6) }, () => planAct(random, trouble)),
      'answers',
    ],
    workMs: random.pick([0, 1, 40, 900]),
  };
}

const WRONG_ADMISSIONS = [
  'admits another',
  'never says',
  'transient',
  'auth',
  'missing-cli',
  'unknown',
] as const;

function planAdmissions(random: SeededRandom, trouble: number): readonly AdmitAct[] {
  const some = Array.from({ length: random.integer(1, 3) }, () =>
    random.chance(trouble / 3) ? random.pick(WRONG_ADMISSIONS) : 'admits',
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
  return random.chance(0.4) ? random.pick(ENGINE_FAILURE_KINDS) : random.pick(ENGINE_ACTS);
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
    promptMs: random.pick([0, 0, 1, 700]),
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
