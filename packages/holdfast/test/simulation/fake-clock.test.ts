import fc from 'fast-check';
import { createFakeClock, createSeededRandom } from 'holdfast/testing';
import { describe, expect, test } from 'vitest';

describe('the fake clock', () => {
  test('runs callbacks by their moments, then in the order of asking', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat({ max: 20 }), { maxLength: 30 }), async (delays) => {
        const clock = createFakeClock({ startMs: 1_000 });
        const ran: { readonly place: number; readonly at: number }[] = [];
        delays.forEach((delay, place) => {
          clock.after(delay, () => ran.push({ place, at: clock.now() }));
        });
        await clock.runUntilIdle();
        const expected = delays
          .map((delay, place) => ({ place, at: 1_000 + delay }))
          .sort((left, right) => left.at - right.at || left.place - right.place);
        expect(ran).toEqual(expected);
      }),
      { numRuns: 50 },
    );
  });

  test('advance runs what becomes due on the way, also what that asks for', async () => {
    const clock = createFakeClock({ startMs: 0 });
    const ticks: number[] = [];
    const tick = () => {
      ticks.push(clock.now());
      clock.after(10, tick);
    };
    clock.after(10, tick);
    await clock.advance(35);
    expect(ticks).toEqual([10, 20, 30]);
    expect(clock.now()).toBe(35);
    expect(clock.pending).toBe(1);
  });

  test('lets promises settle between two callbacks of one moment', async () => {
    const clock = createFakeClock();
    const order: string[] = [];
    clock.soon(() => {
      void Promise.resolve()
        .then(() => Promise.resolve())
        .then(() => order.push('promise'));
    });
    clock.soon(() => order.push('second'));
    await clock.runUntilIdle();
    expect(order).toEqual(['promise', 'second']);
  });

  test('a cancelled timer never runs; cancelling twice is harmless', async () => {
    const clock = createFakeClock();
    let ran = false;
    const timer = clock.after(5, () => {
      ran = true;
    });
    timer.cancel();
    timer.cancel();
    await clock.advance(10);
    expect(ran).toBe(false);
    expect(await clock.step()).toBe(false);
  });

  test('a clock that never becomes idle is an error, not a hang', async () => {
    const clock = createFakeClock();
    const again = () => clock.soon(again);
    clock.soon(again);
    await expect(clock.runUntilIdle({ maxSteps: 100 })).rejects.toThrow('not idle after 100');
  });
});

describe('seeded random', () => {
  test('the same seed gives the same choices, another seed others', () => {
    const draw = (seed: number) => {
      const random = createSeededRandom(seed);
      return Array.from({ length: 20 }, () => random.integer(0, 1_000_000));
    };
    expect(draw(7)).toEqual(draw(7));
    expect(draw(7)).not.toEqual(draw(8));
  });

  test('a fork does not depend on what was drawn before it', () => {
    const fresh = createSeededRandom(7).fork('store').next();
    const used = createSeededRandom(7);
    used.next();
    expect(used.fork('store').next()).toBe(fresh);
    expect(used.fork('people').next()).not.toBe(fresh);
  });

  test('integers keep to their bounds and reach both', () => {
    const random = createSeededRandom(1);
    const drawn = new Set(Array.from({ length: 200 }, () => random.integer(2, 5)));
    expect([...drawn].sort()).toEqual([2, 3, 4, 5]);
  });
});
