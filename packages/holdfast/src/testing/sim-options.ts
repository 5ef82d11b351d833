/** What one simulation is made of: everything follows from these options, and they from a seed. */

import { createSeededRandom, type SeededRandom } from './seeded-random.ts';
import type { FaultBudget } from './sim-faults.ts';

export type SimulationForm = 'dag' | 'script' | 'flow' | 'lanes';

export interface SimulationOptions extends FaultBudget {
  readonly seed: number;
  readonly form: SimulationForm;
  readonly nodes: number;
  readonly maxConcurrentAttempts: number;
  /** Whether batches hold a few events only, so that decisions and fan-outs are split. */
  readonly smallBatches: boolean;
  /** Snapshots are taken behind a tail of so many events. */
  readonly snapshotTailEvents: number;
  /** Delays beyond it end `run`; null: none does. */
  readonly maxIdleMs: number | null;
  /** How many processes drive the run at once. */
  readonly owners: 1 | 2;
  /** Whether owners hold the run's lease and fence their appends. */
  readonly leases: boolean;
  /** Whether people answer through another process than the owner. */
  readonly desk: boolean;
  readonly halts: number;
  readonly shutdowns: number;
  readonly cancelAtMs: number | null;
  /** Whether runs with engines have what was added later; the oldest seeds have not. */
  readonly extras?: boolean;
}

/** The options that a seed stands for. */
export function simulationOptions(seed: number): SimulationOptions {
  const random = createSeededRandom(seed).fork('options');
  const leases = random.chance(0.2);
  const extras = createSeededRandom(seed).fork('extras').chance(0.8);
  const options = { ...eventfulOptions(random, seed, leases), extras };
  if (!random.chance(CALM_CHANCE)) return options;
  const cancelAtMs = random.chance(0.5) ? random.integer(0, random.pick([150, 60_000])) : null;
  return { ...options, ...CALM, cancelAtMs, latencyMs: random.pick([0, 20, 50]) };
}

/** In these nothing goes wrong by itself: there everything has to happen in time. */
const CALM_CHANCE = 0.2;
const CALM = {
  owners: 1,
  desk: true,
  halts: 0,
  shutdowns: 0,
  ioErrors: 0,
  crashes: 0,
  freezes: 0,
} as const;

function eventfulOptions(random: SeededRandom, seed: number, leases: boolean): SimulationOptions {
  return {
    seed,
    form: random.pick(['dag', 'script', 'script', 'flow', 'lanes', 'lanes'] as const),
    nodes: random.pick([1, 2, 3, 3, 4, 5, 6, 9]),
    maxConcurrentAttempts: random.pick([1, 2, 3, 64, 64]),
    smallBatches: random.chance(0.25),
    snapshotTailEvents: random.pick([3, 8, 20, 1_000]),
    maxIdleMs: random.pick([null, null, 0, 500, 30_000]),
    owners: random.chance(leases ? 0.6 : 0.25) ? 2 : 1,
    leases,
    desk: random.chance(0.5),
    halts: upTo(random, 0.35, 3),
    shutdowns: upTo(random, 0.35, 3),
    cancelAtMs: random.chance(0.25) ? random.integer(0, random.pick([60, 3_000, 20_000])) : null,
    latencyMs: random.pick([0, 0, 5, 50, 1_000]),
    ioErrors: upTo(random, 0.5, 12),
    crashes: upTo(random, 0.7, 6),
    crashAt: null,
    // Only who stands still for longer than its lease meets the owner after it.
    freezes: upTo(random, leases ? 0.6 : 0.1, 2),
  };
}

function upTo(random: SeededRandom, probability: number, most: number): number {
  return random.chance(probability) ? random.integer(1, most) : 0;
}
