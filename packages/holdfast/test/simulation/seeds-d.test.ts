/** A sixth of the seeds of every test run, all of them with engines; the rest runs beside it. */
import { describe, expect, test } from 'vitest';
import { assertSeeds, isNodeMatrix } from './assert-seeds.ts';
import { EXPLORED_WITH_ENGINES } from './explored.ts';

describe.skipIf(isNodeMatrix)('the simulated executor with engines', () => {
  test('keeps every invariant over 667 seeds, which go everywhere', async () => {
    const counts = await assertSeeds(3_334, 667, { form: 'lanes' });
    const missed = EXPLORED_WITH_ENGINES.filter((what) => !counts.has(what));
    expect(missed).toEqual([]);
  }, 300_000);
});
