/**
 * Something that wants to be recorded by the next turn. Items are the only way in: outcomes of
 * attempts, answers, signals, cancels and sub-steps all become events in the same place.
 */
import { errorText } from '../base/errors.ts';
import { GraphExecutionError } from '../run/run-error.ts';
import type { TurnBatch } from './turn-batch.ts';

export interface TurnItem {
  /** A bound of what it writes, in bytes. */
  readonly bytes: number;
  /**
   * Checks the item against the folded run, then writes its events. It throws before it has
   * written anything if the item no longer fits; after a conflict it is called again.
   */
  write(batch: TurnBatch): void;
  /**
   * Graph code threw when it folded what the item wrote. True when the item takes that back: asked
   * again, it writes something else, or nothing.
   */
  takesBack?(error: unknown): boolean;
  /** The events are durable. */
  committed(): void;
  /** The item was refused, or the executor stopped before it could be recorded. */
  refused(error: unknown): void;
}

/** Looks at the run once all that was folded before is durable; records nothing. */
export class LookItem<Seen> implements TurnItem {
  readonly bytes = 0;
  readonly seen: Promise<Seen>;
  readonly #look: () => Seen;
  #resolve: (seen: Seen) => void = () => {};
  #reject: (error: unknown) => void = () => {};

  constructor(look: () => Seen) {
    this.#look = look;
    this.seen = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  write(): void {}

  committed(): void {
    try {
      this.#resolve(this.#look());
    } catch (error) {
      this.#reject(error);
    }
  }

  refused(error: unknown): void {
    this.#reject(error);
  }
}

/** Makes a turn come; records nothing. */
export const nudge: TurnItem = Object.freeze({
  bytes: 0,
  write: () => {},
  committed: () => {},
  refused: () => {},
});

/** An item whose caller waits for a promise; what the graph cannot fold is refused to it. */
export class AwaitedItem implements TurnItem {
  readonly bytes: number;
  readonly done: Promise<void>;
  readonly #write: (batch: TurnBatch) => void;
  #isTakenBack = false;
  #resolve: () => void = () => {};
  #reject: (error: unknown) => void = () => {};

  constructor(bytes: number, write: (batch: TurnBatch) => void) {
    this.bytes = bytes;
    this.#write = write;
    this.done = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  write(batch: TurnBatch): void {
    if (!this.#isTakenBack) this.#write(batch);
  }

  takesBack(error: unknown): boolean {
    if (this.#isTakenBack) return false;
    this.#isTakenBack = true;
    this.#reject(unfoldable('what was sent', error));
    return true;
  }

  committed(): void {
    this.#resolve();
  }

  refused(error: unknown): void {
    this.#reject(error);
  }
}

/** Takes as many of the items that wait as fit one batch; the first one always. */
export function takeItems(queue: TurnItem[], maxBatchBytes: number): TurnItem[] {
  let bytes = 0;
  let count = 0;
  for (const item of queue) {
    bytes += item.bytes;
    if (count > 0 && bytes > maxBatchBytes) break;
    count += 1;
  }
  return queue.splice(0, count);
}

/** The error for something that the graph's own code cannot fold. */
export function unfoldable(what: string, error: unknown): GraphExecutionError {
  return new GraphExecutionError(
    'RESULT_INVALID',
    `The graph cannot fold ${what}, so it was not recorded: ${errorText(error)}`,
    {},
    error,
  );
}

/**
 * Writes items; those that do not fit any more are refused and taken out. True when graph code
 * could not fold what one of them wrote and that item takes it back: nothing of the batch stands.
 * If it does not take it back, that much is kept and the items behind it are refused.
 */
export function writeItems(batch: TurnBatch, items: TurnItem[]): boolean {
  for (let place = 0; place < items.length; ) {
    const before = batch.events.length;
    const item = items[place];
    try {
      item?.write(batch);
      place += 1;
    } catch (error) {
      const folded = batch.events.length > before;
      if (folded && item?.takesBack?.(error) === true) return true;
      const refused = items.splice(folded ? place + 1 : place, folded ? items.length : 1);
      for (const unfit of refused) unfit.refused(error);
      if (folded) throw error;
    }
  }
  return false;
}
