/**
 * Contents as lists of lines, and how many lines were added and removed between two of them.
 *
 * Invariant: which contents are equal is said by their object ids, never by these lists; a line
 * is known by a short hash here, which is good enough to count.
 */

/** One hash for each line. */
export type LineList = Float64Array;

/** The content of nothing. */
export const noLines: LineList = new Float64Array(0);

/** A NUL byte in as many first bytes makes a content binary, to git too. */
const BINARY_SAMPLE_BYTES = 8_000;
const NEWLINE = 10;
const CARRIAGE_RETURN = 13;
/** Bounds the comparison of files whose lines were shuffled. */
const MAX_STEPS = 2 ** 24;
/** The distance at which the steps are used up even if no line is equal. */
const MAX_DISTANCE = 5_792;

/** Makes a list of content that comes in chunks; the first holds 8,000 bytes or everything. */
export class LineListBuilder {
  readonly #lines: number[] = [];
  #hash: LineHash = new LineHash();
  #isBinary: boolean | null = null;
  /** Whether a byte of an unfinished line was seen. */
  #isOpen = false;
  /** A carriage return counts only when no newline follows. */
  #heldReturn = false;

  push(chunk: Uint8Array): void {
    this.#isBinary ??= chunk.subarray(0, BINARY_SAMPLE_BYTES).includes(0);
    for (const byte of chunk) {
      if (this.#isBinary) this.#hash.add(byte);
      else this.#take(byte);
    }
  }

  end(): LineList {
    if (this.#isBinary) return Float64Array.of(this.#hash.value());
    if (this.#isOpen) {
      this.#release();
      // The last line without its newline is another line than with it.
      this.#hash.add(NEWLINE);
      this.#lines.push(this.#hash.value());
    }
    return Float64Array.from(this.#lines);
  }

  #take(byte: number): void {
    if (byte === NEWLINE) {
      this.#heldReturn = false;
      this.#lines.push(this.#hash.value());
      this.#hash = new LineHash();
      this.#isOpen = false;
      return;
    }
    this.#release();
    this.#isOpen = true;
    if (byte === CARRIAGE_RETURN) this.#heldReturn = true;
    else this.#hash.add(byte);
  }

  #release(): void {
    if (this.#heldReturn) this.#hash.add(CARRIAGE_RETURN);
    this.#heldReturn = false;
  }
}

/** The list of a whole content. */
export function lineList(content: Uint8Array): LineList {
  const builder = new LineListBuilder();
  builder.push(content);
  return builder.end();
}

/** How many lines were removed and added: the shortest edit, like `git diff --minimal`. */
export function lineDistance(before: LineList, after: LineList): number {
  const [removed, added] = withoutEqualEnds(before, after);
  const known = new Set(removed);
  const wanted = new Set(added);
  // A line that the other side has not is surely edited, and no longer in the way.
  const left = removed.filter((line) => wanted.has(line));
  const right = added.filter((line) => known.has(line));
  const sure = removed.length - left.length + (added.length - right.length);
  return sure + shortestEdit(...withoutEqualEnds(left, right));
}

function withoutEqualEnds(before: LineList, after: LineList): [LineList, LineList] {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < shorter - start && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  return [before.subarray(start, before.length - end), after.subarray(start, after.length - end)];
}

/** Myers' greedy search, of which only the length is kept; a lower bound when it is given up. */
function shortestEdit(before: LineList, after: LineList): number {
  const most = Math.min(before.length + after.length, MAX_DISTANCE);
  const surplus = before.length - after.length;
  // The furthest place in `before` on each diagonal; diagonal k stands at `most + 1 + k`.
  const furthest = new Int32Array(2 * most + 3);
  const middle = most + 1;
  let steps = 0;
  for (let distance = 0; distance <= most; distance += 1) {
    for (let k = -distance; k <= distance; k += 2) {
      const down = furthest[middle + k + 1] ?? 0;
      const right = (furthest[middle + k - 1] ?? 0) + 1;
      const isDown = k === -distance || (k !== distance && right <= down);
      const start = isDown ? down : right;
      const end = followEqual(before, after, { place: start, diagonal: k });
      furthest[middle + k] = end;
      steps += 1 + end - start;
      if (k === surplus && end >= before.length) return distance;
      if (steps > MAX_STEPS) return Math.max(distance, Math.abs(surplus));
    }
  }
  return Math.max(most, Math.abs(surplus));
}

interface Reach {
  readonly place: number;
  readonly diagonal: number;
}

function followEqual(before: LineList, after: LineList, { place, diagonal }: Reach): number {
  let end = place;
  while (
    end < before.length &&
    end - diagonal < after.length &&
    before[end] === after[end - diagonal]
  ) {
    end += 1;
  }
  return end;
}

/** 53 bits over bytes. */
class LineHash {
  #high = 0x811c9dc5;
  #low = 0x9e3779b9;

  add(byte: number): void {
    this.#high = Math.imul(this.#high ^ byte, 0x01000193);
    this.#low = Math.imul((this.#low ^ (this.#low >>> 15)) + byte + 1, 0x85ebca6b);
  }

  value(): number {
    return (this.#high >>> 0) * 2 ** 21 + (this.#low >>> 11);
  }
}
