/** What happened in a simulation, line by line, with virtual time: equal for equal seeds. */
import type { Clock } from '../base/ports.ts';

interface TraceLine {
  readonly atMs: number;
  readonly who: string;
  readonly what: string;
}

export class SimTrace {
  readonly #clock: Clock;
  readonly #startMs: number;
  readonly #lines: TraceLine[] = [];
  readonly #counts = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#startMs = clock.now();
  }

  add(who: string, what: string): void {
    this.#lines.push({ atMs: this.#clock.now() - this.#startMs, who, what });
  }

  /** Counts something that happened, so that a run of many seeds can show what it has tried. */
  count(what: string): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + 1);
  }

  get counts(): ReadonlyMap<string, number> {
    return this.#counts;
  }

  /** The last `most` lines, oldest first. */
  lines(most: number = Number.POSITIVE_INFINITY): readonly string[] {
    const from = Math.max(0, this.#lines.length - most);
    return this.#lines
      .slice(from)
      .map(({ atMs, who, what }) => `${String(atMs).padStart(9)} ms  ${who.padEnd(8)} ${what}`);
  }
}
