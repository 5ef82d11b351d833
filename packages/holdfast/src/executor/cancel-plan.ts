/**
 * Finishing a cancel: stop what runs, record as abandoned what does not stop, undo, end.
 *
 * Undo attempts are not cancelled; after a crash they follow the crash table like any other.
 */
import type { Attempt } from '../attempt/attempt.ts';
import { failed } from '../attempt/outcome.ts';
import type { PositionRecord } from '../run/position-record.ts';
import type { LiveAttempts } from './live-attempts.ts';
import { writeResumed } from './reconcile-attempt.ts';
import { writeOutcome } from './record-outcome.ts';
import { writeResume } from './resume-position.ts';
import type { TurnBatch } from './turn-batch.ts';

const UNDO_PREFIX = 'undo/';
const REASON = 'The run was cancelled.';

export interface CancelOptions {
  readonly maxBatchBytes: number;
  /** Whether an attempt may be re-opened now. */
  readonly hasSlot: () => boolean;
}

export class CancelPlan {
  readonly #live: LiveAttempts;
  readonly #wake: () => void;
  readonly #overdue = new Set<string>();

  constructor(live: LiveAttempts, wake: () => void) {
    this.#live = live;
    this.#wake = wake;
  }

  /** Writes what can be recorded now. True once only undo positions may be open. */
  write(batch: TurnBatch, { maxBatchBytes, hasSlot }: CancelOptions): boolean {
    let left = 0;
    for (const record of batch.machine.fold.positions.all()) {
      if (batch.bytes > maxBatchBytes) return false;
      if (record.position.startsWith(UNDO_PREFIX)) this.#recoverUndo(batch, record);
      else if (!this.#finish(batch, record, hasSlot)) left += 1;
    }
    return left === 0;
  }

  /** Tells every attempt but the undoing ones to stop; called after each turn of a cancel. */
  abortLive(): void {
    for (const attempt of this.#live.all()) {
      if (attempt.record.position.startsWith(UNDO_PREFIX)) continue;
      this.#live.abort(attempt, REASON, (overdue) => this.#giveUp(overdue));
    }
  }

  #giveUp(attempt: Attempt): void {
    this.#overdue.add(attempt.record.position);
    this.#wake();
  }

  /** False while the position may still settle by itself. */
  #finish(batch: TurnBatch, record: PositionRecord, hasSlot: () => boolean): boolean {
    const attempt = this.#live.get(record.position);
    if (attempt !== undefined && !this.#overdue.has(record.position)) return false;
    if (record.pause?.request.kind === 'child' && !record.pause.released) {
      // The child is cancelled by the attempt that drives it.
      if (hasSlot()) writeResumed(batch, record);
      return false;
    }
    attempt?.abandon();
    if (attempt !== undefined) this.#live.remove(attempt);
    const retryable = record.started?.retrySafe ?? true;
    const outcome = failed('ABORTED', REASON, retryable);
    writeOutcome(batch, record, { ...outcome, abandoned: true });
    return true;
  }

  #recoverUndo(batch: TurnBatch, record: PositionRecord): void {
    if (record.status !== 'running' || this.#live.has(record.position)) return;
    writeResume(batch, record.position, () => false);
  }
}
