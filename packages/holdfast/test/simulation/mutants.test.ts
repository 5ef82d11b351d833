/** The simulation finds what is wrong: each mutant within 2,000 seeds, most within a few dozen. */
import { runSimulation, simulationOptions } from 'holdfast/testing';
import { describe, expect, test } from 'vitest';
import { isNodeMatrix } from './assert-seeds.ts';
import { mutants } from './mutants.ts';
import type { Mutant } from './planting.ts';

const MOST_SEEDS = 2_000;

describe.skipIf(isNodeMatrix)('the simulation finds', () => {
  test.each(mutants)(
    '$name',
    async (mutant) => {
      const seed = await firstSeedThatFinds(mutant);
      expect(seed).toBeLessThanOrEqual(MOST_SEEDS);
    },
    300_000,
  );
});

async function firstSeedThatFinds({ seams, plant, form, options }: Mutant): Promise<number> {
  const mend = plant?.();
  try {
    for (let seed = 1; seed <= MOST_SEEDS; seed += 1) {
      const changes = { ...options, ...(form === undefined ? {} : { form }) };
      const { violations } = await runSimulation({ ...simulationOptions(seed), ...changes }, seams);
      if (violations.length > 0) {
        if (process.env['SHOW_MUTANTS']) console.log(seed, violations[0]?.slice(0, 150));
        return seed;
      }
    }
    return Number.POSITIVE_INFINITY;
  } finally {
    mend?.();
  }
}
