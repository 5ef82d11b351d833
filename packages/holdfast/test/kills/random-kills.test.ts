/**
 * A flow of about sixty occurrences is killed at random points until it completes. Whatever was
 * hit, the record has no gap and no second dispatch, and nothing happened more often than it was
 * allowed to.
 */
import type { EventEnvelope } from 'holdfast';
import { describe, expect, test } from 'vitest';
import { expectSound, type KilledRun, killedRun, positionOf } from './processes.ts';

/** `HOLDFAST_KILL_SEED=7` runs another sequence of kills. */
const seeds = process.env['HOLDFAST_KILL_SEED']?.split(',').map(Number) ?? [1];
/** The farthest point, counted from a process's start, at which it is killed. */
const FARTHEST_POINT = 160;

describe.concurrent('killed at random until it completes', () => {
  test.each(seeds)('seed %i', async (seed) => {
    const run = killedRun('long');
    const kills = await killUntilComplete(run, numbersOf(seed));
    expect(kills.length, `kills: ${kills.join(', ')}`).toBeGreaterThan(4);
    const events = await run.events();
    expectSound(events);
    expectNoEffectTooMany(run.effects(), events);
    expectEveryRetryAllowed(events);
    const [again] = await run.work({ acts: ['host'] });
    expect(again).toMatchObject({ kind: 'complete' });
    expect(await run.events()).toEqual(events);
  });
});

async function killUntilComplete(run: KilledRun, next: () => number): Promise<readonly string[]> {
  const kills: string[] = [];
  await run.work({ acts: ['start'] });
  for (;;) {
    const kill = `any#${1 + Math.floor(next() * FARTHEST_POINT)}`;
    if (!(await run.tried({ acts: ['to-the-end'], kill }))) return kills;
    kills.push(kill);
  }
}

/** The same numbers in [0, 1) for the same seed. */
function numbersOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) | 0;
    return ((state ^ (state >>> 13)) >>> 0) / 2 ** 32;
  };
}

/** Effects are named by their position, or by their position and sub-step. */
function expectNoEffectTooMany(
  effects: Readonly<Record<string, number>>,
  events: readonly EventEnvelope[],
): void {
  const allowed = allowedEffects(events);
  for (const [name, count] of Object.entries(effects)) {
    expect(count, name).toBeLessThanOrEqual(allowed(name));
  }
  const positions = Object.keys(effects).map((name) => name.split(' ')[0] ?? '');
  // Chain, fan-out and join; the map; six rounds of two; three attempts; the stepped one.
  expect(new Set(positions).size).toBe(10 + 12 + 1 + 1 + 12 + 3 + 1);
}

/** Once, and once more for each time that the record lets it happen again. */
function allowedEffects(events: readonly EventEnvelope[]): (name: string) => number {
  const allowed = new Map<string, number>();
  const openSteps = new Map<string, string>();
  const again = (name: string) => allowed.set(name, (allowed.get(name) ?? 1) + 1);
  for (const { type, payload } of events) {
    const position = positionOf(payload);
    const { step = '' } = payload as { step?: string };
    const name = `${position} ${effectOfStep(step)}`;
    if (type === 'graph:node-step-started') openSteps.set(name, position);
    if (type === 'graph:node-step-recorded') openSteps.delete(name);
    if (type !== 'graph:node-resumed') continue;
    again(position);
    for (const [open, at] of openSteps) if (at === position) again(open);
  }
  return (name) => allowed.get(name) ?? 1;
}

function effectOfStep(step: string): string {
  const item = /^item\/(\d+)$/.exec(step);
  return item === null ? `step ${step}` : `item ${Number(item[1]) + 1}`;
}

/** An attempt that is not retry-safe, or has an uncertain step, is resumed by a person only. */
function expectEveryRetryAllowed(events: readonly EventEnvelope[]): void {
  const safe = new Map<string, boolean>();
  const allowed = new Set<string>();
  for (const { type, payload } of events) {
    const position = positionOf(payload);
    if (type === 'graph:node-attempt-started') {
      safe.set(position, (payload as { retrySafe: boolean }).retrySafe);
    }
    if (type === 'graph:attempt-reconciled') allowed.add(position);
    if (type !== 'graph:node-resumed' || safe.get(position)) continue;
    expect(allowed.delete(position), `${position} was resumed unasked`).toBe(true);
  }
}
