/** The simulation itself: it can be repeated, it dies everywhere, and it forgets no seed. */
import {
  runSimulation,
  type SimulationForm,
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

  test.each([
    ['dag', 5],
    ['script', 5],
    ['flow', 5],
    ['lanes', 40],
    ['lanes', 21],
  ] as const)(
    'B32: a process that dies at any store call or beside any node code loses nothing (%s %i)',
    async (form, seed) => {
      const options = quietOptions(form, seed);
      const { crashPlaces } = await runSimulation(options);
      expect(crashPlaces).toBeGreaterThan(40);
      for (let at = 1; at <= crashPlaces; at += 1) {
        for (const when of ['before', 'after'] as const) {
          assertSound(await runSimulation({ ...options, crashAt: { at, when } }));
        }
      }
    },
    300_000,
  );

  test.each(seeds)('$found', async ({ options }) => {
    assertSound(await runSimulation(options as SimulationOptions));
  });
});

/** A run of this form in which nothing goes wrong by itself. */
function quietOptions(form: SimulationForm, seed: number): SimulationOptions {
  return {
    ...simulationOptions(seed),
    form,
    nodes: 5,
    maxConcurrentAttempts: 3,
    snapshotTailEvents: 5,
    maxIdleMs: null,
    latencyMs: 0,
    owners: 1,
    leases: false,
    ioErrors: 0,
    crashes: 0,
    freezes: 0,
    halts: 0,
    shutdowns: 0,
    cancelAtMs: null,
  };
}
