/** How an own attempt ended, on its way into the record. */
import type { Attempt } from '../attempt/attempt.ts';
import { type AttemptOutcome, failed } from '../attempt/outcome.ts';
import type { PositionRecord } from '../run/position-record.ts';
import { GraphExecutionError } from '../run/run-error.ts';
import type { RunFold } from '../run/run-fold.ts';
import { jsonBound } from '../store/json-size.ts';
import { writeReceipt } from './record-engine.ts';
import { writeOutcome } from './record-outcome.ts';
import type { TurnBatch } from './turn-batch.ts';
import { type TurnItem, unfoldable } from './turn-item.ts';

/** One for all attempts of an executor. */
export interface OutcomeListener {
  recorded(attempt: Attempt): void;
  lost(attempt: Attempt, error: unknown): void;
  /** The outcome without secrets, fit for its event. */
  recordable(record: PositionRecord, outcome: AttemptOutcome): AttemptOutcome;
}

/** What the receipt of a call may take, in bytes. */
const RECEIPT_BYTES = 2_048;

export class OutcomeItem implements TurnItem {
  readonly bytes: number;
  readonly attempt: Attempt;
  #outcome: AttemptOutcome;
  readonly #listener: OutcomeListener;

  constructor(attempt: Attempt, outcome: AttemptOutcome, listener: OutcomeListener) {
    this.attempt = attempt;
    this.#outcome = outcome;
    this.#listener = listener;
    this.bytes = outcomeBytes(outcome) + (attempt.receipt === null ? 0 : RECEIPT_BYTES);
  }

  write(batch: TurnBatch): void {
    const record = ownRecord(batch.machine.fold, this.attempt.record);
    const { receipt } = this.attempt;
    if (receipt !== null) writeReceipt(batch, record, receipt);
    writeOutcome(batch, record, this.#outcome);
  }

  /** A result that would poison the fold is a failure in its place. */
  takesBack(error: unknown): boolean {
    if (this.#outcome.kind !== 'completed') return false;
    const { message } = unfoldable(`the result of ${this.attempt.record.nodeId}`, error);
    const failure = failed('RESULT_INVALID', message, true);
    this.#outcome = this.#listener.recordable(this.attempt.record, failure);
    return true;
  }

  committed(): void {
    this.#listener.recorded(this.attempt);
  }

  refused(error: unknown): void {
    this.#listener.lost(this.attempt, error);
  }
}

/** The open record of an own attempt. Throws `OWNERSHIP_LOST` once another has touched it. */
export function ownRecord(fold: RunFold, own: PositionRecord): PositionRecord {
  const record = fold.positions.get(own.position);
  if (record?.status === 'running' && record.startedSequence === own.startedSequence) return record;
  throw new GraphExecutionError(
    'OWNERSHIP_LOST',
    `Position ${own.position} of run ${fold.runId} was settled or resumed by another process.`,
    { position: own.position },
  );
}

function outcomeBytes(outcome: AttemptOutcome): number {
  if (outcome.kind === 'failed') return 512 + jsonBound(outcome.message);
  return 512 + jsonBound(outcome.kind === 'completed' ? outcome.result : outcome.request);
}
