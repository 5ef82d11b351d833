/**
 * One pass over text that finds secrets however their characters are escaped.
 *
 * A *thread* is one way to read what came last as the beginning of a secret: how far the secret has
 * come, and which escapes are open. A thread with a *lane* reads base64 or hexadecimal: its text
 * has escapes of its own (`outer`) and gives bytes, which have theirs (`inner`).
 *
 * Invariants: of threads that await the same only the longest is kept, so their number is bounded
 * by the secrets alone, and so is the work for one unit of text; what a scan finds does not depend
 * on how the text is cut.
 */
import type { SecretAutomaton, SecretNode } from './secret-automaton.ts';
import { advanced, BYTE, type Frame, isOutcome, opened, sameFrames } from './secret-escapes.ts';
import { isGroupEnd, isGroupStart, type Lane, laneStep, lanesAt } from './secret-lanes.ts';

interface Thread {
  readonly start: number;
  readonly node: SecretNode;
  readonly lane: Lane | null;
  readonly outer: Frame | null;
  readonly inner: Frame | null;
}

const PLUS = 0x2b;
const SPACE = 0x20;
/** The lanes in which a first character belongs to the secret alone. */
const WHOLE_LANES = 9;

export class SecretScan {
  readonly #automaton: SecretAutomaton;
  /** False where the text around is known to be too short for a lane. */
  readsLanes = true;
  #threads: Thread[] = [];
  #next: Thread[] = [];
  /** How many units have come. */
  #place = 0;
  /** The unit before, if a lane may begin with it, or -1. */
  #last = -1;
  #foundFrom = Number.POSITIVE_INFINITY;
  #foundTo = 0;

  constructor(automaton: SecretAutomaton) {
    this.#automaton = automaton;
  }

  /**
   * Takes one more unit of text, or byte as a label. True when a secret has become whole. No lane
   * but those of `lanesAhead` begins with the unit before: others cannot go on.
   */
  step(label: number, lanesAhead: number = -1): boolean {
    const automaton = this.#automaton;
    const begins = automaton.begins(label);
    const lanes = this.#last < 0 ? 0 : automaton.lanes(this.#last, label) & lanesAhead;
    this.#foundFrom = Number.POSITIVE_INFINITY;
    this.#foundTo = 0;
    if (begins || lanes !== 0 || this.#threads.length > 0) this.#advance(label, begins, lanes);
    this.#last = this.readsLanes && automaton.mayBeFirst(label) ? label : -1;
    this.#place += 1;
    return this.#foundTo > 0;
  }

  /**
   * How many units ago the secret of the last step began and ended: a character of base64 that
   * what stands beside the secret decides too is none of it.
   */
  get found(): { readonly from: number; readonly to: number } {
    return { from: this.#place - this.#foundFrom, to: this.#place - this.#foundTo };
  }

  /** True when nothing that came may be the beginning of a secret. */
  get isIdle(): boolean {
    return this.#last < 0 && this.#threads.length === 0;
  }

  /** Takes units with which no secret can begin, when it is idle and reads no lanes. */
  skip(units: number): void {
    this.#place += units;
  }

  /** How many of the last units may be the beginning of a secret. */
  get pending(): number {
    const first = this.#last < 0 ? 0 : this.#automaton.firstLanes(this.#last) & WHOLE_LANES;
    let start = first === 0 ? this.#place : this.#place - 1;
    for (const thread of this.#threads) start = Math.min(start, thread.start);
    return this.#place - start;
  }

  #advance(label: number, begins: boolean, lanes: number): void {
    for (const thread of this.#threads) {
      if (thread.lane === null) this.#inner(thread, thread.inner, { label, depth: 0 });
      else this.#outer(thread, thread.outer, { label, depth: 0 });
    }
    if (lanes !== 0) {
      const first = { label: this.#last, start: this.#place - 1, end: this.#place };
      this.#begin(first, lanes, { label, depth: 0 });
    }
    if (begins) {
      const { root: node } = this.#automaton;
      const thread = { start: this.#place, node, lane: null, outer: null, inner: null };
      this.#inner(thread, null, { label, depth: 0 });
    }
    this.#threads = this.#next;
    this.#next = [];
  }

  /** Threads of the lanes in which `first` comes first, taken on by what follows it. */
  #begin(first: First, lanes: number, read: Read | null): void {
    const { laneRoot: node } = this.#automaton;
    for (const lane of lanesAt(first.label, lanes, first.end)) {
      const start = isGroupStart(lane) ? first.start : first.end;
      const thread = { start, node, lane, outer: null, inner: null };
      if (read === null) this.#add(thread);
      else this.#outer(thread, null, read);
    }
  }

  /** Escapes around the text of a lane. */
  #outer(thread: Thread, stack: Frame | null, read: Read): void {
    const { label, depth } = read;
    if (stack === null) this.#lane(thread, label);
    else {
      const step = advanced(stack, label, depth);
      if (step !== null && isOutcome(step)) this.#outer(thread, stack.below, step);
      else if (step !== null) this.#add(parsing(thread, step, thread.inner));
    }
    const frame = opened(stack, label, depth);
    if (frame !== null) this.#add(parsing(thread, frame, thread.inner));
  }

  #lane(thread: Thread, label: number): void {
    const step = thread.lane === null ? null : laneStep(thread.lane, label, this.#place + 1);
    if (step === null) return;
    const { start, node, inner } = thread;
    const next = { start, node, lane: step.lane, outer: null, inner };
    if (step.byte < 0) this.#add(next);
    else {
      const read = step.byte < 0x80 ? step.byte : BYTE + step.byte;
      this.#inner(next, inner, { label: read, depth: 0 });
    }
  }

  /** Escapes of the secret's own characters. */
  #inner(thread: Thread, stack: Frame | null, read: Read): void {
    const { label, depth } = read;
    if (stack === null) this.#character(thread, read);
    else {
      const step = advanced(stack, label, depth);
      if (step !== null && isOutcome(step)) this.#inner(thread, stack.below, step);
      else if (step !== null) this.#add(parsing(thread, thread.outer, step));
    }
    const frame = opened(stack, label, depth);
    if (frame !== null) this.#add(parsing(thread, thread.outer, frame));
  }

  #character(thread: Thread, read: Read): void {
    const { start, lane, node } = thread;
    this.#down(thread, node.next(read.label));
    // Forms write a space so.
    if (read.label === PLUS) this.#down(thread, node.next(SPACE));
    // The first character of a lane may itself be escaped.
    if (read.depth > 0 && lane === null && node === this.#automaton.root && this.readsLanes) {
      if (this.#automaton.mayBeFirst(read.label)) {
        const first = { label: read.label, start, end: this.#place + 1 };
        this.#begin(first, this.#automaton.firstLanes(read.label), null);
      }
    }
  }

  #down(thread: Thread, node: SecretNode | undefined): void {
    if (node === undefined) return;
    if (node.isWhole) {
      const { lane, start } = thread;
      const to = lane === null || isGroupEnd(lane) ? this.#place + 1 : lane.before;
      this.#foundFrom = Math.min(this.#foundFrom, start);
      this.#foundTo = Math.max(this.#foundTo, to);
    }
    if (!node.isLeaf)
      this.#add({ start: thread.start, node, lane: thread.lane, outer: null, inner: null });
  }

  #add(thread: Thread): void {
    const threads = this.#next;
    for (let place = 0; place < threads.length; place += 1) {
      const other = threads[place] as Thread;
      if (awaitsSame(thread, other)) {
        if (thread.start < other.start) threads[place] = thread;
        return;
      }
    }
    threads.push(thread);
  }
}

/** The first character of a lane, and where it stands. */
interface First {
  readonly label: number;
  readonly start: number;
  readonly end: number;
}

/** A label, and how many escapes are around it. */
interface Read {
  readonly label: number;
  readonly depth: number;
}

/** The thread with other open escapes. */
function parsing(thread: Thread, outer: Frame | null, inner: Frame | null): Thread {
  return { start: thread.start, node: thread.node, lane: thread.lane, outer, inner };
}

function awaitsSame(one: Thread, other: Thread): boolean {
  return (
    one.node === other.node &&
    sameFrames(one.inner, other.inner) &&
    sameFrames(one.outer, other.outer) &&
    sameLane(one.lane, other.lane)
  );
}

function sameLane(one: Lane | null, other: Lane | null): boolean {
  if (one === null || other === null) return one === other;
  return (
    one.isHex === other.isHex &&
    one.phase === other.phase &&
    one.last === other.last &&
    one.isIndent === other.isIndent
  );
}
