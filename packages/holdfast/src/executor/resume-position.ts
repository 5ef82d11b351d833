/** Re-opens a position by the crash table: what runs again, and what waits for a person. */
import type { PositionRecord } from '../run/position-record.ts';
import { GraphExecutionError } from '../run/run-error.ts';
import { writeAudit, writeResumed } from './reconcile-attempt.ts';
import { writeInterruptedCall } from './record-engine.ts';
import type { TurnBatch } from './turn-batch.ts';

const UNCERTAIN =
  'The previous process stopped after node code started, so the outcome is uncertain.';

/**
 * Writes what resuming this position means. A queued one needs nothing: it starts when it is due.
 * Throws `PROTOCOL` when the position is not open, or runs in this very process.
 */
export function writeResume(
  batch: TurnBatch,
  position: string,
  isLive: (position: string) => boolean,
): void {
  const record = requireOpen(batch, position, isLive);
  if (record.status === 'paused') writePausedResume(batch, record);
  else if (record.status === 'running') writeCrashResume(batch, record);
}

/** The open position of this name that does not run here. Throws `PROTOCOL`. */
export function requireOpen(
  batch: TurnBatch,
  position: string,
  isLive: (position: string) => boolean,
): PositionRecord {
  const record = batch.machine.fold.positions.get(position);
  if (record !== undefined && !isLive(position)) return record;
  const why = record === undefined ? 'is not open' : 'is running in this process';
  throw new GraphExecutionError('PROTOCOL', `Position ${position} ${why}; nothing to resume.`, {
    position,
  });
}

function writePausedResume(batch: TurnBatch, record: PositionRecord): void {
  const { pause } = record;
  if (pause?.request.kind === 'reconcile-attempt' && !pause.released) {
    writeAudit(
      batch,
      { pauseId: pause.pauseId, kind: 'retry', by: 'resume', reason: 'Resumed by its position.' },
      record,
    );
  }
  writeResumed(batch, record);
}

function writeCrashResume(batch: TurnBatch, record: PositionRecord): void {
  const { nodeId, position, started } = record;
  if (started === null) return;
  writeInterruptedCall(batch, record);
  const steps = batch.machine.fold.steps.uncertain(record.firstPosition);
  if (started.retrySafe && steps.length === 0) {
    writeResumed(batch, record);
    return;
  }
  const request = {
    kind: 'reconcile-attempt',
    attemptId: started.attemptId,
    ...(steps.length === 0 ? {} : { steps }),
  };
  // The graph is asked again once somebody has said what became of the attempt.
  batch.write('graph:node-paused', { nodeId, position, reason: UNCERTAIN, request, at: batch.at });
}
