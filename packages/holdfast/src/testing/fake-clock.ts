/**
 * A clock for tests: time moves only when it is told to, and never by itself.
 *
 * Invariants: callbacks run in the order of their moments, then of their asking; between two of
 * them every promise that can settle does; the same calls give the same order, always.
 */
import type { Clock, Timer } from '../base/ports.ts';

/** Where a fake clock begins. */
export interface FakeClockOptions {
  /** Where time begins, in milliseconds since the epoch; 2026-01-01T00:00:00Z by default. */
  readonly startMs?: number;
}

/** A clock that a test moves. */
export interface FakeClock extends Clock {
  /** How many callbacks wait for their moment. */
  readonly pending: number;
  /** Moves time by `ms`, running what is due on the way, also what that asks for. */
  advance(ms: number): Promise<void>;
  /** Moves time to the next callback and runs it. False when none waits. */
  step(): Promise<boolean>;
  /**
   * Moves time from callback to callback until none waits. Throws a `RangeError` after `maxSteps`
   * callbacks (100,000 by default): something asks for the next one for ever.
   */
  runUntilIdle(options?: { readonly maxSteps?: number }): Promise<void>;
}

const DEFAULT_START_MS = Date.UTC(2026, 0, 1);
const DEFAULT_MAX_STEPS = 100_000;

interface Waiting {
  readonly at: number;
  readonly callback: () => void;
}

/**
 * A clock that stands still until a test moves it.
 *
 * @example
 * const clock = createFakeClock();
 * const executor = await createGraphExecutor({ runId, graph, storage, nodes, clock });
 * const running = executor.run();
 * await clock.advance(60_000);
 */
export function createFakeClock(options: FakeClockOptions = {}): FakeClock {
  return new ManualClock(options.startMs ?? DEFAULT_START_MS);
}

class ManualClock implements FakeClock {
  #now: number;
  /** Latest first, so that the next one is taken off the end; equal moments in order of asking. */
  readonly #waiting: Waiting[] = [];

  constructor(startMs: number) {
    this.#now = startMs;
  }

  get pending(): number {
    return this.#waiting.length;
  }

  now(): number {
    return this.#now;
  }

  after(delayMs: number, callback: () => void): Timer {
    const entry = { at: this.#now + Math.max(0, delayMs), callback };
    this.#waiting.splice(this.#placeOf(entry.at), 0, entry);
    return { cancel: () => this.#remove(entry) };
  }

  soon(callback: () => void): void {
    this.after(0, callback);
  }

  async advance(ms: number): Promise<void> {
    const until = this.#now + ms;
    await settled();
    while ((this.#waiting.at(-1)?.at ?? Number.POSITIVE_INFINITY) <= until) await this.step();
    this.#now = until;
  }

  async step(): Promise<boolean> {
    const next = this.#waiting.pop();
    if (next === undefined) return false;
    this.#now = Math.max(this.#now, next.at);
    next.callback();
    await settled();
    return true;
  }

  async runUntilIdle({ maxSteps = DEFAULT_MAX_STEPS } = {}): Promise<void> {
    await settled();
    for (let steps = 0; await this.step(); steps += 1) {
      if (steps < maxSteps) continue;
      throw new RangeError(`The clock was not idle after ${maxSteps} callbacks.`);
    }
  }

  #placeOf(at: number): number {
    let low = 0;
    let high = this.#waiting.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#waiting[middle]?.at ?? 0) > at) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #remove(entry: Waiting): void {
    const place = this.#waiting.indexOf(entry);
    if (place >= 0) this.#waiting.splice(place, 1);
  }
}

/** Resolves after every promise that can settle without the clock has settled. */
function settled(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
