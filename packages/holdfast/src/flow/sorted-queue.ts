/**
 * A set of node indexes that can be taken out one by one, or listed in order.
 *
 * Invariants: an index is in it at most once; removing one costs nothing until the list is next
 * used (its slot stays behind, unmarked).
 */
import { NONE } from './compiled-topology.ts';

const NOTHING: readonly number[] = Object.freeze([]);

export class SortedQueue {
  readonly #items: number[] = [];
  /** By index: 1 while it is in the set; its slot may be behind it twice. */
  readonly #inSet: Uint8Array;
  /** By index: 1 while a slot holds it. */
  readonly #hasSlot: Uint8Array;
  #size = 0;
  #isSorted = true;

  constructor(limit: number) {
    this.#inSet = new Uint8Array(limit);
    this.#hasSlot = new Uint8Array(limit);
  }

  get size(): number {
    return this.#size;
  }

  push(index: number): void {
    if (this.#inSet[index] === 1) return;
    this.#inSet[index] = 1;
    this.#size += 1;
    if (this.#hasSlot[index] === 1) return;
    this.#hasSlot[index] = 1;
    const last = this.#items.length === 0 ? NONE : (this.#items.at(-1) as number);
    if (last > index) this.#isSorted = false;
    this.#items.push(index);
  }

  remove(index: number): void {
    if (this.#inSet[index] === 0) return;
    this.#inSet[index] = 0;
    this.#size -= 1;
  }

  /** Takes any index out; `NONE` when there is none. */
  pop(): number {
    for (let index = this.#items.pop(); index !== undefined; index = this.#items.pop()) {
      this.#hasSlot[index] = 0;
      if (this.#inSet[index] === 0) continue;
      this.#inSet[index] = 0;
      this.#size -= 1;
      return index;
    }
    this.#isSorted = true;
    return NONE;
  }

  /** All indexes, smallest first; they stay in the set. */
  sorted(): readonly number[] {
    if (this.#items.length > this.#size) this.#compact();
    if (this.#items.length === 0) return NOTHING;
    if (!this.#isSorted) this.#items.sort((a, b) => a - b);
    this.#isSorted = true;
    return [...this.#items];
  }

  #compact(): void {
    let kept = 0;
    for (const index of this.#items) {
      if (this.#inSet[index] === 1) {
        this.#items[kept] = index;
        kept += 1;
      } else this.#hasSlot[index] = 0;
    }
    this.#items.length = kept;
  }
}
