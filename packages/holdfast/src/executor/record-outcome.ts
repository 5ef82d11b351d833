/** Writes how an attempt ended. The only writer of outcome events. */
import { type AttemptOutcome, soundOutcome } from '../attempt/outcome.ts';
import type { PositionRecord } from '../run/position-record.ts';
import type { TurnBatch } from './turn-batch.ts';

/** Writes the outcome of `record`, its texts sound, at the batch's moment. */
export function writeOutcome(
  batch: TurnBatch,
  record: PositionRecord,
  given: AttemptOutcome,
  signalId?: string,
): void {
  const outcome = soundOutcome(given);
  const { nodeId, position } = record;
  const { at } = batch;
  batch.asksDecision = true;
  switch (outcome.kind) {
    case 'completed': {
      const { result } = outcome;
      const consumed = signalId === undefined ? {} : { signalId };
      batch.write('graph:node-completed', { nodeId, position, result, ...consumed, at }, result);
      return;
    }
    case 'failed': {
      const { code, message, retryable, abandoned } = outcome;
      const flag = abandoned === true ? { abandoned } : {};
      const payload = { nodeId, position, code, message, retryable, ...flag, at };
      batch.write('graph:node-failed', payload, message);
      return;
    }
    case 'paused': {
      const { reason, request } = outcome;
      batch.write('graph:node-paused', { nodeId, position, reason, request, at }, request);
    }
  }
}
