/** Writes the start records of queued dispatches that are due, as far as slots are free. */
import type { HashText } from '../base/digest.ts';
import { attemptIdentity } from '../history/attempt-id.ts';
import type { StreamRef } from '../history/envelope.ts';
import { isDue } from '../run/dispatch-due.ts';
import type { PositionRecord } from '../run/position-record.ts';
import type { TurnBatch } from './turn-batch.ts';

export interface StartOptions {
  readonly stream: StreamRef;
  readonly hash: HashText;
  readonly slots: number;
  readonly maxBatchBytes: number;
  readonly isRetrySafe: (nodeId: string) => boolean;
}

/** Returns true when the batch was full before the slots were. */
export function writeStarts(batch: TurnBatch, options: StartOptions): boolean {
  const due: PositionRecord[] = [];
  for (const record of batch.machine.fold.positions.with('queued')) {
    if (due.length >= options.slots) break;
    if (isDue(record, batch.now)) due.push(record);
  }
  for (const record of due) {
    if (batch.bytes > options.maxBatchBytes) return true;
    writeStart(batch, record, options);
  }
  return false;
}

function writeStart(batch: TurnBatch, record: PositionRecord, options: StartOptions): void {
  batch.write('graph:node-attempt-started', {
    identity: attemptIdentity(options.stream, record, options.hash),
    retrySafe: options.isRetrySafe(record.nodeId),
  });
  batch.launches.push({ position: record.position, policyAnswered: false });
}
