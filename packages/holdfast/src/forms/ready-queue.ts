/**
 * Node indexes that may start, by key, smallest first.
 *
 * Invariant: an index stands at most once; one that is no longer ready is dropped when it is met.
 */
export class ReadyQueue {
  readonly #heaps = new Map<string | null, number[]>();
  readonly #queued: Uint8Array;

  constructor(size: number) {
    this.#queued = new Uint8Array(size);
  }

  add(index: number, key: string | null): void {
    if (this.#queued[index] === 1) return;
    this.#queued[index] = 1;
    let heap = this.#heaps.get(key);
    if (heap === undefined) {
      heap = [];
      this.#heaps.set(key, heap);
    }
    push(heap, index);
  }

  /**
   * The smallest indexes that are still ready, at most `count` and at most `free(key)` of a key.
   * They stay in the queue until they are met again without being ready.
   */
  first(
    count: number,
    free: (key: string | null) => number,
    isReady: (index: number) => boolean,
  ): readonly number[] {
    const only = this.#heaps.size === 1 ? this.#onlyHead(free, isReady) : null;
    if (only !== null) return only;
    const left = new Map<string | null, number>();
    const chosen: (readonly [number, string | null])[] = [];
    while (chosen.length < count) {
      const key = this.#smallest(left, free, isReady);
      if (key === undefined) break;
      const index = pop(this.#heaps.get(key) ?? []);
      if (index === undefined) break;
      left.set(key, (left.get(key) ?? 0) - 1);
      chosen.push([index, key]);
    }
    for (const [index, key] of chosen) push(this.#heaps.get(key) ?? [], index);
    return chosen.map(([index]) => index);
  }

  /** The answer where one index is queued, or none: every step of a chain. Else null. */
  #onlyHead(
    free: (key: string | null) => number,
    isReady: (index: number) => boolean,
  ): readonly number[] | null {
    for (const [key, heap] of this.#heaps) {
      const index = this.#head(heap, isReady);
      if (index === undefined) return [];
      if (heap.length === 1) return free(key) > 0 ? [index] : [];
    }
    return null;
  }

  /** The key whose smallest ready index is the smallest of all keys with a free slot. */
  #smallest(
    left: Map<string | null, number>,
    free: (key: string | null) => number,
    isReady: (index: number) => boolean,
  ): string | null | undefined {
    let best: string | null | undefined;
    let bestIndex = Number.POSITIVE_INFINITY;
    for (const [key, heap] of this.#heaps) {
      if (!left.has(key)) left.set(key, free(key));
      if ((left.get(key) ?? 0) <= 0) continue;
      const index = this.#head(heap, isReady);
      if (index === undefined || index >= bestIndex) continue;
      best = key;
      bestIndex = index;
    }
    return best;
  }

  #head(heap: number[], isReady: (index: number) => boolean): number | undefined {
    for (let head = heap[0]; head !== undefined; head = heap[0]) {
      if (isReady(head)) return head;
      pop(heap);
      this.#queued[head] = 0;
    }
    return undefined;
  }
}

/** Adds to a binary heap. */
function push(heap: number[], value: number): void {
  let at = heap.length;
  heap.push(value);
  while (at > 0) {
    const parent = (at - 1) >> 1;
    const above = heap[parent] ?? value;
    if (above <= value) break;
    heap[at] = above;
    at = parent;
  }
  heap[at] = value;
}

/** Takes the smallest from a binary heap. */
function pop(heap: number[]): number | undefined {
  const top = heap[0];
  const last = heap.pop();
  if (last === undefined || heap.length === 0) return top;
  let at = 0;
  for (;;) {
    const left = 2 * at + 1;
    const right = left + 1;
    const leftValue = heap[left];
    if (leftValue === undefined) break;
    const rightValue = heap[right];
    const child = rightValue !== undefined && rightValue < leftValue ? right : left;
    const below = heap[child] ?? last;
    if (below >= last) break;
    heap[at] = below;
    at = child;
  }
  heap[at] = last;
  return top;
}
