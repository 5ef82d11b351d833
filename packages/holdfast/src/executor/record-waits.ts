/**
 * Ends the pauses that a received signal or a passed deadline has ended. A pause that is overdue
 * when it is recorded ends in the same append: nobody is asked.
 */
import type { EndingsOf, WaitEndings } from '../attempt/binding.ts';
import { type AttemptOutcome, failed, failureOf } from '../attempt/outcome.ts';
import { cloneFrozenJson, type JsonValue } from '../base/json.ts';
import type { PositionRecord } from '../run/position-record.ts';
import { type EndedWait, endedWait, goesOn } from '../run/waits.ts';
import { writeResumed } from './reconcile-attempt.ts';
import { writeOutcome } from './record-outcome.ts';
import type { TurnBatch } from './turn-batch.ts';

export interface EndedWaitOptions {
  readonly endingsOf: EndingsOf;
  readonly maxBatchBytes: number;
  /** What is recorded of an outcome that is made here, not by an attempt. */
  readonly recordable: (record: PositionRecord, outcome: AttemptOutcome) => AttemptOutcome;
  /** Whether an attempt may be re-opened now. */
  readonly hasSlot: () => boolean;
}

/** Ends pauses until none is left that something has ended. False when the batch is full first. */
export function writeEndedWaits(batch: TurnBatch, options: EndedWaitOptions): boolean {
  for (;;) {
    const ended = endedWait(batch.machine.fold, batch.now, options.hasSlot());
    if (ended === null) return true;
    if (batch.bytes > options.maxBatchBytes) return false;
    writeEnd(batch, ended, options);
  }
}

function writeEnd(batch: TurnBatch, ended: EndedWait, options: EndedWaitOptions): void {
  const { record } = ended;
  const endings = options.endingsOf(record.nodeId);
  if (goesOn(ended)) {
    writeResumed(batch, record, ended.kind === 'handed' ? ended.signal.signalId : undefined);
    return;
  }
  if (ended.kind === 'signal') {
    const { payload, signalId } = ended.signal;
    const outcome = options.recordable(record, signalOutcome(endings, payload, record));
    writeOutcome(batch, record, outcome, outcome.kind === 'completed' ? signalId : undefined);
    return;
  }
  if (ended.kind !== 'deadline') return;
  const { position } = record;
  const pauseId = record.pause?.pauseId ?? '';
  batch.write('graph:timer-fired', { position, pauseId, dueAt: ended.dueAt, at: batch.at });
  writeOutcome(batch, record, options.recordable(record, expiredOutcome(endings, record)));
}

function signalOutcome(
  endings: WaitEndings,
  payload: JsonValue,
  record: PositionRecord,
): AttemptOutcome {
  const outcome = guarded(() => endings.signalled?.(payload, record));
  // Only a completion may name the signal it consumes.
  return outcome?.kind === 'completed' ? outcome : { kind: 'completed', result: payload };
}

function expiredOutcome(endings: WaitEndings, record: PositionRecord): AttemptOutcome {
  const text = `${record.nodeId} waited until ${record.dueAt} and nothing came.`;
  return guarded(() => endings.expired?.(record)) ?? failed('DEADLINE_PASSED', text, false);
}

function guarded(ending: () => AttemptOutcome | undefined): AttemptOutcome | undefined {
  try {
    const outcome = ending();
    if (outcome?.kind !== 'completed') return outcome;
    return { kind: 'completed', result: cloneFrozenJson(outcome.result) };
  } catch (error) {
    return failureOf(error);
  }
}
