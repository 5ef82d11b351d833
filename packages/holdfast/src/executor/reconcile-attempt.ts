/**
 * A person says what became of an uncertain attempt, or of one uncertain sub-step of it, or allows
 * it to run again. Nothing else ever repeats an attempt that is not retry-safe.
 */
import { failed } from '../attempt/outcome.ts';
import type { ResultRule } from '../attempt/result-rule.ts';
import type { PositionRecord } from '../run/position-record.ts';
import { GraphExecutionError } from '../run/run-error.ts';
import { refuseOfChild, requireOpenPause } from './answer-pause.ts';
import type { ReconcileRequest } from './reconcile-request.ts';
import { writeOutcome } from './record-outcome.ts';
import type { TurnBatch } from './turn-batch.ts';

/** Writes a reconciliation. Throws `PAUSE_MISMATCH`, `PROTOCOL`, `RESULT_INVALID`. */
export function writeReconciliation(
  batch: TurnBatch,
  request: ReconcileRequest,
  resultOf: ResultRule,
): void {
  const { record, pause } = requireOpenPause(batch.machine.fold, request.pauseId);
  refuseOfChild({ record, pause });
  if (pause.request.kind !== 'reconcile-attempt') {
    throw new GraphExecutionError(
      'PROTOCOL',
      `Pause ${request.pauseId} is of kind ${pause.request.kind}: use answer, not reconcile.`,
      { pauseId: request.pauseId },
    );
  }
  if (request.step === undefined) writeWholeAttempt(batch, request, record, resultOf);
  else writeStep(batch, request, record, request.step);
}

function writeWholeAttempt(
  batch: TurnBatch,
  request: ReconcileRequest,
  record: PositionRecord,
  resultOf: ResultRule,
): void {
  const { nodeId } = record;
  const result = request.kind === 'completed' ? resultOf(nodeId, request.result) : null;
  writeAudit(batch, request, record);
  if (request.kind === 'completed') {
    writeOutcome(batch, record, { kind: 'completed', result });
  } else if (request.kind === 'failed') {
    const failure = failed('EFFECT_FAILED', request.reason, true);
    writeOutcome(batch, record, { ...failure, code: request.code });
  }
  // A retry releases the pause: an owner's turn resumes the attempt, now or later.
}

function writeStep(
  batch: TurnBatch,
  request: ReconcileRequest,
  record: PositionRecord,
  step: string,
): void {
  const { steps } = batch.machine.fold;
  const uncertain = steps.uncertain(record.firstPosition);
  if (!uncertain.includes(step)) {
    throw new GraphExecutionError(
      'PAUSE_MISMATCH',
      `Step ${step} of ${record.position} is not uncertain. Uncertain: ` +
        `${uncertain.length === 0 ? 'none' : uncertain.join(', ')}.`,
      { pauseId: request.pauseId, step },
    );
  }
  writeAudit(batch, request, record);
  const { position } = record;
  if (request.kind === 'completed') {
    const { result } = request;
    batch.write('graph:node-step-recorded', { position, step, result }, result);
  } else if (request.kind === 'failed') {
    const { code, reason: message } = request;
    batch.write('graph:node-step-recorded', { position, step, code, message });
  }
}

/** Writes who reconciled what and why. */
export function writeAudit(
  batch: TurnBatch,
  request: Pick<ReconcileRequest, 'pauseId' | 'step' | 'kind' | 'by' | 'reason'>,
  record: PositionRecord,
): void {
  const { pauseId, step, kind, by, reason } = request;
  const attemptId = record.started?.attemptId;
  if (attemptId === undefined) return;
  const about = step === undefined ? {} : { step };
  const { position } = record;
  batch.write('graph:attempt-reconciled', {
    pauseId,
    position,
    attemptId,
    ...about,
    kind,
    by,
    reason,
  });
}

/**
 * Re-opens the attempt and runs it again once that is durable; its child run is handed the
 * message `signalId`.
 */
export function writeResumed(batch: TurnBatch, record: PositionRecord, signalId?: string): void {
  const { nodeId, position, pause } = record;
  const handed = signalId === undefined ? {} : { signalId };
  batch.write('graph:node-resumed', { nodeId, position, at: batch.at, ...handed });
  const policyAnswered = pause?.request.kind === 'policy' && pause.released;
  batch.launches.push({ position, policyAnswered });
}
