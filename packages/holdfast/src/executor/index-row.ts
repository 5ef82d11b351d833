/** The run's index row as this owner last wrote it: only changes are written again. */
import type { IsoTime } from '../base/time.ts';
import type { RunFold } from '../run/run-fold.ts';
import type { RunIndexRow, RunIndexUpdate, RunStatus } from '../store/run-index.ts';
import { pausedChildren } from './paused-children.ts';
import { continuation } from './run-end.ts';

interface Row {
  readonly status: RunStatus;
  readonly wakeAt: IsoTime | null;
}

export class IndexRow {
  #written: Row | null = null;
  #pending: Row | null = null;

  /** What the store says of the run. A mark that outside appends have left is written away. */
  seed(row: RunIndexRow | null): void {
    const isKnown = row !== null && !row.isMarkedDue;
    this.#written = isKnown ? { status: row.status, wakeAt: row.wakeAt } : null;
  }

  /** What an owner's turn changes in the row, or null. */
  update(fold: RunFold, at: IsoTime): RunIndexUpdate | null {
    return this.#change(rowOf(fold, at));
  }

  /** What a turn changes that does not go on with what could be done: the run is due at once. */
  updateStopped(fold: RunFold, at: IsoTime): RunIndexUpdate | null {
    const row = rowOf(fold, at);
    return this.#change(fold.end === null ? { ...row, wakeAt: at } : row);
  }

  /**
   * A turn without an owner leaves work behind: any host may take it up. An owner may have changed
   * the row since without an event, so it is written each time.
   */
  markDue(fold: RunFold, at: IsoTime): RunIndexUpdate | null {
    if (fold.end !== null) return null;
    this.#pending = { status: 'running', wakeAt: at };
    return this.#pending;
  }

  /** The update is durable. */
  committed(): void {
    this.#written = this.#pending ?? this.#written;
    this.#pending = null;
  }

  /** Another process has written: nothing is known of the row. */
  forget(): void {
    this.#written = null;
  }

  #change(row: Row): RunIndexUpdate | null {
    this.#pending = row;
    const same = this.#written?.status === row.status && this.#written.wakeAt === row.wakeAt;
    return same ? null : row;
  }
}

function rowOf(fold: RunFold, at: IsoTime): Row {
  if (fold.end !== null) {
    const { outcome, output = null } = fold.end;
    // It stays due until its successor exists, or until the children that it has left are ended.
    const isSettled = continuation(output) === null && pausedChildren(fold).length === 0;
    return { status: outcome, wakeAt: isSettled ? null : at };
  }
  const { positions, preflight } = fold;
  if (preflight.phase === 'paused') return { status: 'paused', wakeAt: null };
  if (positions.count() > 0 && positions.count('paused') === positions.count()) {
    return { status: 'paused', wakeAt: positions.nextDue() };
  }
  // What runs now needs no wake; delays alone do.
  const sleeping = positions.count('running') === 0 ? positions.nextDue() : null;
  return { status: 'running', wakeAt: sleeping };
}
