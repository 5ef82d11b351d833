/** The simulation itself: it can be repeated, it dies everywhere, and it forgets no seed. */
import {
  runSimulation,
  type SimulationOptions,
  simulateSeed,
  simulationOptions,
} from 'holdfast/testing';
import { describe, expect, test } from 'vitest';
import { assertSound, isNodeMatrix } from './assert-seeds.ts';
import seeds from './seeds.json' with { type: 'json' };

describe.skipIf(isNodeMatrix)('the simulation', () => {
  test.each([3, 77, 141])('seed %i gives the same lines each time', async (seed) => {
    const first = await simulateSeed(seed);
    expect((await simulateSeed(seed)).trace).toEqual(first.trace);
    expect(first.trace.length).toBeGreaterThan(10);
  });

  test('another seed gives other lines', async () => {
    expect((await simulateSeed(1)).trace).not.toEqual((await simulateSeed(2)).trace);
  });

  test('B32: a process that dies at any store call or beside any node code loses nothing', async () => {
    for (const options of quietOptions()) {
      const { crashPlaces } = await runSimulation(options);
      expect(crashPlaces).toBeGreaterThan(20);
      for (let at = 1; at <= crashPlaces; at += 1) {
        for (const when of ['before', 'after'] as const) {
          assertSound(await runSimulation({ ...options, crashAt: { at, when } }));
        }
      }
    }
  }, 300_000);

  test.each(seeds)('$found', async ({ options }) => {
    assertSound(await runSimulation(options as SimulationOptions));
  });
});

/** A few runs of each form in which nothing goes wrong by itself. */
function quietOptions(): readonly SimulationOptions[] {
  const seeds = [5, 11];
  return (['dag', 'script', 'flow'] as const).flatMap((form) =>
    seeds.map(
      (seed): SimulationOptions => ({
        ...simulationOptions(seed),
        form,
        nodes: 4,
        snapshotTailEvents: 5,
        latencyMs: 0,
        owners: 1,
        leases: false,
        ioErrors: 0,
        crashes: 0,
        freezes: 0,
        halts: 0,
        shutdowns: 0,
        cancelAtMs: null,
      }),
    ),
  );
}
