/** One timer that makes the next turn come in time; setting it again replaces it. */
import type { Clock, Timer } from '../base/ports.ts';

export class WakeTimer {
  readonly #clock: Clock;
  readonly #wake: () => void;
  #timer: Timer | null = null;

  constructor(clock: Clock, wake: () => void) {
    this.#clock = clock;
    this.#wake = wake;
  }

  /** Wakes at the earliest of these moments (ms since the epoch); null is none. */
  at(...moments: readonly (number | null)[]): void {
    this.cancel();
    let ms = Number.POSITIVE_INFINITY;
    for (const moment of moments) if (moment !== null && moment < ms) ms = moment;
    if (ms === Number.POSITIVE_INFINITY) return;
    this.#timer = this.#clock.after(Math.max(0, ms - this.#clock.now()), this.#wake);
  }

  cancel(): void {
    this.#timer?.cancel();
    this.#timer = null;
  }
}
