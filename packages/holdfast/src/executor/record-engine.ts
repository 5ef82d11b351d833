/** Writes what is known of engine calls: receipts, interrupted calls and dead lanes. */
import type { EngineReceipt } from '../attempt/engine-work.ts';
import { UNKNOWN_USAGE } from '../base/usage.ts';
import type { PositionRecord } from '../run/position-record.ts';
import type { TurnBatch } from './turn-batch.ts';

const INTERRUPTED: EngineReceipt = { requested: null, effective: null, usage: UNKNOWN_USAGE };

/** Writes the receipt of the position's next call; gives its place among them. */
export function writeReceipt(
  batch: TurnBatch,
  { nodeId, position }: PositionRecord,
  receipt: EngineReceipt,
): number {
  const open = batch.machine.fold.positions.get(position);
  const sequence = (open?.lastCall?.sequence ?? 0) + 1;
  batch.write('graph:engine-attempt-recorded', { nodeId, position, sequence, ...receipt });
  return sequence;
}

/** A dead process may have called an engine: of that call nothing is known. */
export function writeInterruptedCall(batch: TurnBatch, record: PositionRecord): void {
  if (batch.machine.fold.engines.lanes.laneOf(record.nodeId) === null) return;
  writeReceipt(batch, record, INTERRUPTED);
}

/** Writes a call that has proved its lane dead, and the fact. */
export function writeDeadLane(
  batch: TurnBatch,
  record: PositionRecord,
  receipt: EngineReceipt,
): void {
  const { nodeId, position } = record;
  const { requested, effective: reported, failure } = receipt;
  const sequence = writeReceipt(batch, record, receipt);
  if (requested === null || failure === undefined) return;
  batch.write('graph:model-unavailable', {
    nodeId,
    position,
    selected: requested,
    reported,
    failure,
    source: { kind: 'attempt', sequence },
  });
}
