/** The attempts that run in this process, and how they are told to stop. */
import type { Attempt } from '../attempt/attempt.ts';
import type { Clock, Timer } from '../base/ports.ts';

export class LiveAttempts {
  readonly #clock: Clock;
  readonly #attempts = new Map<string, Attempt>();
  readonly #grace = new Map<string, Timer>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#attempts.size;
  }

  has(position: string): boolean {
    return this.#attempts.has(position);
  }

  get(position: string): Attempt | undefined {
    return this.#attempts.get(position);
  }

  all(): readonly Attempt[] {
    return [...this.#attempts.values()];
  }

  add(attempt: Attempt): void {
    this.#attempts.set(attempt.record.position, attempt);
  }

  remove(attempt: Attempt): void {
    const { position } = attempt.record;
    if (this.#attempts.get(position) === attempt) this.#attempts.delete(position);
    this.#grace.get(position)?.cancel();
    this.#grace.delete(position);
  }

  /** Tells an attempt to stop, once; `overdue` is called if it has not settled after its grace. */
  abort(attempt: Attempt, reason: string, overdue: (attempt: Attempt) => void): void {
    const { position } = attempt.record;
    if (this.#grace.has(position) || !this.has(position)) return;
    attempt.abort(reason);
    this.#grace.set(
      position,
      this.#clock.after(attempt.graceMs, () => {
        if (attempt.isLive) overdue(attempt);
      }),
    );
  }
}
