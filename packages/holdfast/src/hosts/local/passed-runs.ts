/**
 * Runs that a host has passed over: left to somebody else, or failed at once. They wait longer each
 * time, so that they take no turn from others, and wait no more once somebody writes to them.
 */
import type { RunIndexRow } from '../../store/run-index.ts';

/** The first wait is so many looks long, and each next one is twice as long. */
const FIRST_POLLS = 2;
const LONGEST_MS = 60_000;
/** So long after its wait a run is remembered that nothing was heard of. */
const KEPT_MS = 600_000;

interface Passed {
  /** The row as it was passed over. */
  readonly mark: string;
  readonly waitMs: number;
  /** Milliseconds since the epoch. */
  readonly untilMs: number;
}

export class PassedRuns {
  readonly #firstMs: number;
  readonly #passed = new Map<string, Passed>();

  constructor(pollMs: number) {
    this.#firstMs = Math.min(pollMs * FIRST_POLLS, LONGEST_MS);
  }

  /** The rows whose turn it is at `now`: those never passed over first, each kind in its order. */
  select(rows: readonly RunIndexRow[], now: number): readonly RunIndexRow[] {
    this.#dropOld(now);
    const fresh: RunIndexRow[] = [];
    const again: RunIndexRow[] = [];
    for (const row of rows) {
      const passed = this.#passed.get(row.runId);
      if (passed === undefined || passed.mark !== markOf(row)) {
        this.#passed.delete(row.runId);
        fresh.push(row);
      } else if (passed.untilMs <= now) again.push(row);
    }
    return [...fresh, ...again];
  }

  /** Passes a run over for twice as long as the last time. */
  add(row: RunIndexRow, now: number): void {
    const last = this.#passed.get(row.runId)?.waitMs;
    const waitMs = last === undefined ? this.#firstMs : Math.min(last * 2, LONGEST_MS);
    this.#passed.set(row.runId, { mark: markOf(row), waitMs, untilMs: now + waitMs });
  }

  forget(runId: string): void {
    this.#passed.delete(runId);
  }

  /** A run that is due still has been tried again by then. */
  #dropOld(now: number): void {
    for (const [runId, { untilMs }] of this.#passed) {
      if (untilMs + KEPT_MS < now) this.#passed.delete(runId);
    }
  }
}

function markOf({ sequence, updatedAt, status, wakeAt, isMarkedDue }: RunIndexRow): string {
  return `${sequence} ${updatedAt} ${status} ${wakeAt} ${isMarkedDue}`;
}
