/**
 * What goes wrong, decided by a seed: how late each store call is, which fail before or after
 * having written, and where a process dies. Every kind has a budget, so faults end.
 */
import type { SeededRandom } from './seeded-random.ts';

export type FaultPlace = 'before' | 'after';

/** Where exactly a process dies, for sweeps: at the n-th place of its kind, counted from 1. */
export interface CrashPoint {
  readonly at: number;
  readonly when: FaultPlace;
}

export interface FaultBudget {
  /** Store calls take up to so long, in milliseconds. */
  readonly latencyMs: number;
  /** How many store calls fail. */
  readonly ioErrors: number;
  /** How many processes die. */
  readonly crashes: number;
  /** The only crash, at a chosen place, instead of random ones. */
  readonly crashAt: CrashPoint | null;
  /** How often a process stands still for a while. */
  readonly freezes: number;
}

/** What becomes of one store call. */
export interface CallFault {
  readonly delayBeforeMs: number;
  readonly delayAfterMs: number;
  readonly error: FaultPlace | null;
  readonly crash: FaultPlace | null;
  readonly freezeMs: number;
}

const ERROR_CHANCE = 0.06;
const CRASH_CHANCE = 0.02;
/** Beside node code: dying there is what makes attempts and steps uncertain. */
const POINT_CRASH_CHANCE = 0.25;
const FREEZE_CHANCE = 0.02;
const MAX_FREEZE_MS = 40_000;

export class SimFaults {
  readonly #random: SeededRandom;
  readonly #budget: FaultBudget;
  #ioErrors: number;
  #crashes: number;
  #freezes: number;
  #places = 0;

  constructor(random: SeededRandom, budget: FaultBudget) {
    this.#random = random;
    this.#budget = budget;
    this.#ioErrors = budget.ioErrors;
    this.#crashes = budget.crashes;
    this.#freezes = budget.freezes;
  }

  /** How many places at which a process may die have been passed. */
  get places(): number {
    return this.#places;
  }

  /** The fate of the next store call. Onlookers die seldom: owners have more to lose. */
  call(isOnlooker: boolean): CallFault {
    this.#places += 1;
    return {
      delayBeforeMs: this.latency(),
      delayAfterMs: this.latency(),
      error: this.#error(),
      crash: this.#crash(isOnlooker ? CRASH_CHANCE / 8 : CRASH_CHANCE),
      freezeMs: this.#freeze(),
    };
  }

  /** Whether the process dies at this point of node code. */
  point(): boolean {
    this.#places += 1;
    return this.#crash(POINT_CRASH_CHANCE) !== null;
  }

  /** How long a message takes. Most are immediate, so that races stay close. */
  latency(): number {
    const { latencyMs } = this.#budget;
    if (latencyMs === 0 || this.#random.chance(0.5)) return 0;
    return this.#random.integer(0, latencyMs);
  }

  #error(): FaultPlace | null {
    if (this.#ioErrors === 0 || !this.#random.chance(ERROR_CHANCE)) return null;
    this.#ioErrors -= 1;
    return this.#place();
  }

  #crash(chance: number): FaultPlace | null {
    const { crashAt } = this.#budget;
    if (crashAt !== null) return this.#places === crashAt.at ? crashAt.when : null;
    if (this.#crashes === 0 || !this.#random.chance(chance)) return null;
    this.#crashes -= 1;
    return this.#place();
  }

  #freeze(): number {
    if (this.#freezes === 0 || !this.#random.chance(FREEZE_CHANCE)) return 0;
    this.#freezes -= 1;
    return this.#random.integer(1, MAX_FREEZE_MS);
  }

  #place(): FaultPlace {
    return this.#random.chance(0.5) ? 'before' : 'after';
  }
}
