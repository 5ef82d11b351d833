/** What a turn leads to: more of it, waiting, or the result of `run`. Pure. */
import { type IsoTime, millisecondsOf } from '../base/time.ts';
import { isDue } from '../run/dispatch-due.ts';
import type { RunFold } from '../run/run-fold.ts';
import type { RunResult, RunWaiting } from '../run/run-result.ts';
import type { Drive } from './drive.ts';
import { pauseResult } from './run-pauses.ts';

export interface Situation {
  readonly fold: RunFold;
  readonly drive: Drive;
  readonly liveCount: number;
  /** Positions that another process has left running. */
  readonly foreign: readonly string[];
  readonly now: number;
  /** The moment of the turn: it has done whatever was due by then and could be done. */
  readonly turnAt: IsoTime;
  readonly maxIdleMs: number;
}

/** `stay`: something in flight or a delay will go on by itself, at `wakeAt` at the latest. */
export type Conclusion =
  | { readonly kind: 'stay'; readonly wakeAtMs: number | null }
  | { readonly kind: 'again' }
  | { readonly kind: 'ended' }
  | { readonly kind: 'halted' }
  | { readonly kind: 'failed' }
  | { readonly kind: 'result'; readonly result: RunResult };

/** What follows once a turn is durable. */
export function conclude(at: Situation): Conclusion {
  if (at.drive.checks?.isBusy) return { kind: 'stay', wakeAtMs: null };
  if (at.fold.end !== null) return { kind: 'ended' };
  // What is overdue and was not done waits for something else than time.
  const due = at.fold.positions.nextDue(at.turnAt);
  const wakeAtMs = due === null ? null : millisecondsOf(due);
  if (at.liveCount > 0) return { kind: 'stay', wakeAtMs };
  switch (at.drive.mode) {
    case 'halting':
      return { kind: 'halted' };
    case 'failing':
      return { kind: 'failed' };
    case 'draining':
      return { kind: 'result', result: waiting([], at.fold) };
    case 'normal':
      return idle(at, wakeAtMs);
  }
}

function idle(at: Situation, wakeAtMs: number | null): Conclusion {
  const { fold, drive } = at;
  if (drive.isHeld(fold)) {
    const result = drive.checks?.pause ?? null;
    return result === null ? { kind: 'stay', wakeAtMs: null } : { kind: 'result', result };
  }
  if (at.foreign.length > 0) {
    return { kind: 'result', result: waiting(at.foreign, fold) };
  }
  if (someDue(fold, at.now)) return { kind: 'again' };
  const isDelayed = fold.positions.count('queued') > 0;
  if (isDelayed && wakeAtMs !== null && wakeAtMs - at.now <= at.maxIdleMs) {
    return { kind: 'stay', wakeAtMs };
  }
  if (fold.positions.count('paused') > 0 || drive.pauseReason !== null) {
    return { kind: 'result', result: pauseResult(fold, drive.pauseReason) };
  }
  return isDelayed ? { kind: 'result', result: waiting([], fold) } : { kind: 'again' };
}

function someDue(fold: RunFold, now: number): boolean {
  for (const record of fold.positions.with('queued')) if (isDue(record, now)) return true;
  return false;
}

function waiting(positions: readonly string[], fold: RunFold): RunWaiting {
  const wakeAt = fold.positions.nextDue();
  return { kind: 'waiting', positions, ...(wakeAt === null ? {} : { wakeAt }) };
}
