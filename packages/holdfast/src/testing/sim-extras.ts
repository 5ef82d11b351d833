/**
 * What takes part in some runs with engines beside their plan: budgets of tokens, contracts and
 * limits of results, a quota that grows, a secret that becomes known late, a rival that gives up.
 *
 * Invariant: all of it is drawn from forks, so that a seed without extras stays what it was.
 */

import type { TokenBudgetMode } from '../engine/token-budget.ts';
import type { SeededRandom } from './seeded-random.ts';
import {
  type EngineAct,
  type EngineExtras,
  EXTRA_ACTS,
  type LanePlan,
  type SeatPlan,
} from './sim-lane-plan.ts';
import type { SimulationOptions } from './sim-options.ts';

/** What all engine nodes that share it may use together. */
export interface BudgetPlan {
  readonly mode: TokenBudgetMode;
  readonly limit: number;
}

/** A run has room for `bytes` of artifacts once it has begun; from `untilMs` on as much as ever. */
export interface QuotaPlan {
  readonly bytes: number;
  readonly untilMs: number;
}

/** The extras of a whole simulation. */
export interface WorldExtras {
  readonly budget: BudgetPlan | null;
  readonly quota: QuotaPlan | null;
  /** The number of the first process that knows a secret which the ones before it have written. */
  readonly lateSecretFrom: number | null;
  /** How long a second owner without a lease lives: two that check engines may go on for ever. */
  readonly rivalUntilMs: number | null;
}

const NO_EXTRAS: WorldExtras = {
  budget: null,
  quota: null,
  lateSecretFrom: null,
  rivalUntilMs: null,
};

/** What is large meets quotas. */
const MORE_ACTS: readonly EngineAct[] = [...EXTRA_ACTS, 'answers at length', 'answers at length'];

/** The extras of a simulation. */
export function planExtras(random: SeededRandom, options: SimulationOptions): WorldExtras {
  const { extras, form, owners, leases } = options;
  if (extras !== true || form !== 'lanes') return NO_EXTRAS;
  const budget: BudgetPlan = {
    mode: random.pick(['observed', 'observed', 'hard'] as const),
    limit: random.pick([6, 20, 60, 400]),
  };
  const quota: QuotaPlan = {
    bytes: random.pick([100, 2_000, 9_000]),
    untilMs: random.pick([500, 4_000, 20_000]),
  };
  const isShared = owners === 2 && !leases;
  return {
    budget: random.chance(0.5) ? budget : null,
    quota: random.chance(0.3) ? quota : null,
    lateSecretFrom: random.chance(0.4) && owners === 1 ? random.integer(2, 4) : null,
    rivalUntilMs: random.chance(0.7) && isShared ? random.pick([2_000, 20_000]) : null,
  };
}

/** The extras of one engine-backed node. */
export function planEngineExtras(random: SeededRandom, budget: BudgetPlan | null): EngineExtras {
  const usesBudget = budget !== null && random.chance(0.8);
  const isHard = usesBudget && budget.mode === 'hard';
  const tokens = random.pick([1, 8, 8, 20]);
  const mode = random.pick(['observed', 'observed', 'hard'] as const);
  return {
    callTokens: isHard || random.chance(0.3) ? { mode, tokens } : null,
    usesBudget,
    childLimit: usesBudget && random.chance(0.3) ? random.pick([8, 30]) : null,
    outputBytes: random.chance(0.3) ? random.pick([12, 300]) : null,
    contract: random.pick(['none', 'none', 'none', 'value', 'wraps', 'promises'] as const),
    parse: random.pick(['none', 'none', 'none', 'none', 'shouts', 'throws'] as const),
  };
}

/** The lane with a few acts more. */
export function withExtraActs(random: SeededRandom, lane: LanePlan): LanePlan {
  return { ...lane, seats: lane.seats.map((seat) => moreActs(random, seat)) };
}

function moreActs(random: SeededRandom, seat: SeatPlan): SeatPlan {
  const acts: EngineAct[] = [...seat.acts];
  const count = random.pick([0, 0, 1, 2]);
  for (let added = 0; added < count; added += 1) {
    // The last one stays: in the end all is well.
    acts.splice(random.integer(0, acts.length - 1), 0, random.pick(MORE_ACTS));
  }
  return { ...seat, acts, enforcesLimit: random.chance(0.7) };
}
