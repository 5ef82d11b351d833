/** Random lanes, and what the engines behind them do at each of their calls. */

import { ENGINE_FAILURE_KINDS } from '../base/engine-failure.ts';
import type { ExecutionLaneDescription, ExecutionTarget } from '../graph/execution-target.ts';
import type { RunPreflightPolicy } from '../graph/preflight-policy.ts';
import type { SeededRandom } from './seeded-random.ts';
import {
  type AdmitAct,
  ENGINE_ACTS,
  type EngineAct,
  type EnginePlan,
  type LanePlan,
  type SeatPlan,
} from './sim-lane-plan.ts';

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
