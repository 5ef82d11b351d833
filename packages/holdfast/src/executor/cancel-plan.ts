/**
 * Finishing a cancel: stop what runs, record as abandoned what does not stop, undo, end.
 *
 * Undo attempts are not cancelled; after a crash they follow the crash table like any other.
 */
import type { Attempt } from '../attempt/attempt.ts';
import { failed } from '../attempt/outcome.ts';
import { millisecondsOf } from '../base/time.ts';
import type { PositionRecord } from '../run/position-record.ts';
import type { LiveAttempts } from './live-attempts.ts';
import { writeResumed } from './reconcile-attempt.ts';
import { writeInterruptedCall, writeReceipt } from './record-engine.ts';
import { writeOutcome } from './record-outcome.ts';
import type { TurnBatch } from './turn-batch.ts';
import { isUndoPosition } from './undo-position.ts';

const REASON = 'The run was cancelled.';

export interface CancelOptions {
  readonly maxBatchBytes: number;
  /** Whether an attempt may be re-opened now. */
  readonly hasSlot: () => boolean;
}

export interface CancelParts {
  readonly live: LiveAttempts;
  /** Makes the next turn come. */
  readonly wake: () => void;
  /** This owner lets go of a position of its own. */
  readonly leave: (position: string) => void;
  /** Whether an attempt of this node is a run of its own. */
  readonly isChild: (nodeId: string) => boolean;
}

export class CancelPlan {
  readonly #live: LiveAttempts;
  readonly #parts: CancelParts;
  readonly #overdue = new Set<string>();

  constructor(parts: CancelParts) {
    this.#live = parts.live;
    this.#parts = parts;
  }

  /** Writes what can be recorded now. True once only undo positions may be open. */
  write(batch: TurnBatch, { maxBatchBytes, hasSlot }: CancelOptions): boolean {
    let left = 0;
    for (const record of batch.machine.fold.positions.all()) {
      if (batch.bytes > maxBatchBytes) return false;
      if (!isUndo(record) && !this.#finish(batch, record, hasSlot)) left += 1;
    }
    return left === 0;
  }

  /** Whether `resume` re-opens this position of a cancelled run; any other is abandoned. */
  recovers(record: PositionRecord): boolean {
    return isUndo(record) || this.#holdsChild(record);
  }

  /** Tells every attempt but the undoing ones to stop; called after each turn of a cancel. */
  abortLive(): void {
    for (const attempt of this.#live.all()) {
      if (isUndo(attempt.record)) continue;
      this.#live.abort(attempt, REASON, (overdue) => this.#giveUp(overdue));
    }
  }

  #giveUp(attempt: Attempt): void {
    this.#overdue.add(attempt.record.position);
    this.#parts.wake();
  }

  /** False while the position may still settle by itself. */
  #finish(batch: TurnBatch, record: PositionRecord, hasSlot: () => boolean): boolean {
    if (batch.isLaunching(record.position)) return false;
    const attempt = this.#live.get(record.position);
    if (attempt !== undefined && !this.#overdue.has(record.position)) return false;
    if (attempt === undefined && this.#holdsChild(record)) {
      // The child is cancelled by the attempt that drives it.
      if (mustReopen(batch, record) && hasSlot()) writeResumed(batch, record);
      return false;
    }
    attempt?.abandon();
    if (attempt !== undefined) this.#leave(attempt);
    const receipt = attempt?.receipt ?? null;
    if (receipt !== null) writeReceipt(batch, record, receipt);
    else if (attempt === undefined && record.status === 'running') {
      writeInterruptedCall(batch, record);
    }
    const retryable = record.started?.retrySafe ?? true;
    const outcome = failed('ABORTED', REASON, retryable);
    writeOutcome(batch, record, { ...outcome, abandoned: true });
    return true;
  }

  #leave(attempt: Attempt): void {
    this.#live.remove(attempt);
    this.#parts.leave(attempt.record.position);
  }

  /** Whether a run stands for this position that may not have ended. */
  #holdsChild({ nodeId, started, pause }: PositionRecord): boolean {
    if (started === null || !this.#parts.isChild(nodeId)) return false;
    return pause === null || pause.request.kind === 'child';
  }
}

/** A child that paused before the cancel must be told; one that sleeps goes on in time. */
function mustReopen({ machine, now }: TurnBatch, { pause, dueAt }: PositionRecord): boolean {
  if (pause === null) return false;
  if (pause.sequence < machine.fold.cancelSequence) return true;
  return dueAt !== null && millisecondsOf(dueAt) <= now;
}

function isUndo({ position }: PositionRecord): boolean {
  return isUndoPosition(position);
}
