/**
 * Chance for tests: every choice follows from the seed, so whatever went wrong goes wrong again.
 *
 * Invariant: a fork depends on its seed and its name only, never on what was drawn before it, so
 * one part of a test may draw more without changing what another one gets.
 */
import type { Random } from '../base/ports.ts';
import { seededNumbers } from './seeded-numbers.ts';

/** Chance that follows from a seed. */
export interface SeededRandom extends Random {
  /** A whole number from `least` to `most`, both included. */
  integer(least: number, most: number): number;
  /** True with this probability. */
  chance(probability: number): boolean;
  /** One of these. Throws a `RangeError` when there is none. */
  pick<Item>(items: readonly Item[]): Item;
  /** An independent source of chance with this name. */
  fork(name: string): SeededRandom;
}

/**
 * A source of chance that a seed decides.
 *
 * @example const random = createSeededRandom(7); random.pick(['a', 'b', 'c'])
 */
export function createSeededRandom(seed: number): SeededRandom {
  const next = seededNumbers(seed);
  const integer = (least: number, most: number): number =>
    least + Math.floor(next() * (most - least + 1));
  return {
    next,
    integer,
    chance: (probability) => next() < probability,
    pick: (items) => {
      if (items.length === 0) throw new RangeError('There is nothing to pick from.');
      return items[integer(0, items.length - 1)] as (typeof items)[number];
    },
    fork: (name) => createSeededRandom(seedOf(seed, name)),
  };
}

/** FNV-1a over the seed and the name. */
function seedOf(seed: number, name: string): number {
  let hash = 0x811c9dc5 ^ (seed | 0);
  for (let place = 0; place < name.length; place += 1) {
    hash = Math.imul(hash ^ name.charCodeAt(place), 0x01000193);
  }
  return hash | 0;
}
