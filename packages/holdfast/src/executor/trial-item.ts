/**
 * Finds out whether graph code can fold something, and takes it back either way: it is recorded
 * elsewhere first.
 */
import type { TurnBatch } from './turn-batch.ts';
import { AwaitedItem } from './turn-item.ts';

/** Thrown behind what was folded without a fault, so that its batch is thrown away. */
const FOLDED: unique symbol = Symbol('folded');

export class TrialItem extends AwaitedItem {
  #isTried = false;

  constructor(bytes: number, write: (batch: TurnBatch) => void) {
    super(bytes, (batch) => {
      if (this.#isTried) return;
      const before = batch.events.length;
      write(batch);
      if (batch.events.length > before) throw FOLDED;
    });
  }

  override takesBack(error: unknown): boolean {
    if (this.#isTried) return false;
    this.#isTried = true;
    return error === FOLDED || super.takesBack(error);
  }
}
