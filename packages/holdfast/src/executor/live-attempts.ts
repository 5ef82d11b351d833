/** The attempts that run in this process, and how they are told to stop. */
import type { Attempt } from '../attempt/attempt.ts';
import type { Clock, Timer } from '../base/ports.ts';

/** Told of an attempt that has not settled within its grace. */
type Overdue = (attempt: Attempt) => void;

interface Stopping {
  reason: string;
  overdue: Overdue;
  isOver: boolean;
  timer: Timer | null;
}

export class LiveAttempts {
  readonly #clock: Clock;
  readonly #attempts = new Map<string, Attempt>();
  readonly #stopping = new Map<Attempt, Stopping>();

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
    this.#stopping.get(attempt)?.timer?.cancel();
    this.#stopping.delete(attempt);
  }

  /** Lets go of all of them: nothing they do from now on counts. */
  letGo(): void {
    for (const attempt of this.all()) {
      attempt.abandon();
      this.remove(attempt);
    }
  }

  /**
   * Tells an attempt to stop; `overdue` is called once it has not settled after its grace, which
   * begins when it is first told. Another reason to stop replaces what is done then.
   */
  abort(attempt: Attempt, reason: string, overdue: Overdue): void {
    if (this.#attempts.get(attempt.record.position) !== attempt) return;
    const known = this.#stopping.get(attempt);
    if (known !== undefined) {
      if (known.reason === reason) return;
      known.reason = reason;
      known.overdue = overdue;
      if (known.isOver) overdue(attempt);
      return;
    }
    const stopping: Stopping = { reason, overdue, isOver: false, timer: null };
    this.#stopping.set(attempt, stopping);
    attempt.abort(reason);
    if (!attempt.isLive || attempt.graceMs === Number.POSITIVE_INFINITY) return;
    stopping.timer = this.#clock.after(attempt.graceMs, () => {
      stopping.isOver = true;
      if (attempt.isLive) stopping.overdue(attempt);
    });
  }
}
