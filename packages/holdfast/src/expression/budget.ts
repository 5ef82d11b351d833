/** What one evaluation may still cost. Counted in steps, so that a bound is the same everywhere. */
import { MAX_EVALUATION_STEPS } from './limits.ts';

export class Budget {
  #left: number = MAX_EVALUATION_STEPS;

  /** Takes `steps` away. Returns false once there are none left, and for ever after. */
  take(steps: number): boolean {
    this.#left -= steps;
    return this.#left >= 0;
  }
}
