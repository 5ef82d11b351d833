/** Half of the seeds of runs with engines; the other half runs beside it. */
import { describe, expect, test } from 'vitest';
import { assertSeeds, isNodeMatrix } from './assert-seeds.ts';
import { EXPLORED_WITH_ENGINES } from './explored.ts';

describe.skipIf(isNodeMatrix)('the simulated executor with engines', () => {
  test('keeps every invariant over 1,000 seeds, which go everywhere', async () => {
    const counts = await assertSeeds(1_001, 1_000, { form: 'lanes' });
    const missed = EXPLORED_WITH_ENGINES.filter((what) => !counts.has(what));
    expect(missed).toEqual([]);
  }, 300_000);
});
