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
  /** The run that stands for an attempt of this position, where one does. */
  readonly childRunId: (record: PositionRecord) => string | null;
}

/** Returns true when the batch was full before the slots were. */
export function writeStarts(batch: TurnBatch, options: StartOptions): boolean {
  const { positions } = batch.machine.fold;
  if (positions.count('queued') === 0) return false;
  for (const record of positions.first('queued', options.slots, (each) => isDue(each, batch.now))) {
    if (batch.bytes > options.maxBatchBytes) return true;
    writeStart(batch, record, options);
  }
  return false;
}

function writeStart(batch: TurnBatch, record: PositionRecord, options: StartOptions): void {
  const childRunId = options.childRunId(record);
  batch.write('graph:node-attempt-started', {
    identity: attemptIdentity(options.stream, record, options.hash),
    retrySafe: options.isRetrySafe(record.nodeId),
    ...(childRunId === null ? {} : { childRunId }),
  });
  batch.launches.push({ position: record.position, policyAnswered: false });
}
