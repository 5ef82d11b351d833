/** A third of the seeds of every test run, some with engines; the rest runs beside it. */
import { describe, expect, test } from 'vitest';
import { assertSeeds, isNodeMatrix } from './assert-seeds.ts';
import { EXPLORED } from './explored.ts';

describe.skipIf(isNodeMatrix)('the simulated executor', () => {
  test('keeps every invariant over 1,333 seeds, which go everywhere', async () => {
    const counts = await assertSeeds(1_334, 1_333);
    const missed = EXPLORED.filter((what) => !counts.has(what));
    expect(missed).toEqual([]);
  }, 300_000);
});
