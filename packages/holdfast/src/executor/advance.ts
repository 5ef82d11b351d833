/**
 * What a driven turn adds to the items it was given, in this order: resumes, the work of a cancel,
 * ended waits, one decision, starts.
 */
import type { WaitEndings } from '../attempt/binding.ts';
import type { AttemptOutcome } from '../attempt/outcome.ts';
import type { HashText } from '../base/digest.ts';
import type { StreamRef } from '../history/envelope.ts';
import type { PositionRecord } from '../run/position-record.ts';
import { GraphExecutionError } from '../run/run-error.ts';
import type { CancelPlan } from './cancel-plan.ts';
import type { Drive } from './drive.ts';
import type { ForeignPositions } from './foreign-positions.ts';
import type { LiveAttempts } from './live-attempts.ts';
import {
  type Decision,
  type DecisionLimits,
  writeDecision,
  writeUnrecorded,
} from './record-decision.ts';
import { writeStarts } from './record-starts.ts';
import { writeEndedWaits } from './record-waits.ts';
import { requireOpen, writeResume } from './resume-position.ts';
import type { EndCommand } from './run-end.ts';
import type { TurnBatch } from './turn-batch.ts';

export interface AdvanceOptions {
  readonly stream: StreamRef;
  readonly hash: HashText;
  readonly limits: DecisionLimits;
  readonly maxConcurrentAttempts: number;
  readonly live: LiveAttempts;
  readonly foreign: ForeignPositions;
  readonly cancel: CancelPlan;
  readonly endingsOf: (nodeId: string) => WaitEndings;
  readonly recordable: (record: PositionRecord, outcome: AttemptOutcome) => AttemptOutcome;
  readonly isRetrySafe: (nodeId: string) => boolean;
  readonly childRunId: (record: PositionRecord) => string | null;
}

/** `end`: the run ends with this · `again`: the batch is full, the next turn goes on. */
export interface Advanced {
  readonly end: EndCommand | null;
  readonly again: boolean;
}

const STAY: Advanced = { end: null, again: false };
const AGAIN: Advanced = { end: null, again: true };

/** Writes what follows from the batch. Throws what graph code throws, and protocol faults. */
export function advance(batch: TurnBatch, drive: Drive, options: AdvanceOptions): Advanced {
  drive.mustDecide ||= batch.asksDecision;
  if (batch.machine.fold.end !== null) return STAY;
  if (drive.mode === 'draining') return giveUpCancelled(batch, options);
  if (drive.mode !== 'normal') return STAY;
  if (drive.isHeld(batch.machine.fold)) return STAY;
  refuseForeignCheck(batch);
  writeResumes(batch, drive, options);
  const { maxBatchBytes } = options.limits;
  const hasSlot = () => freeSlots(batch, options) > 0;
  if (batch.machine.fold.cancelRequested !== null) {
    // What was decided before the cancel is recorded whole, and then abandoned.
    if (!writeUnrecorded(batch, options.limits)) return AGAIN;
    if (!options.cancel.write(batch, { maxBatchBytes, hasSlot })) {
      return batch.bytes > maxBatchBytes ? AGAIN : STAY;
    }
  }
  const { endingsOf, recordable } = options;
  if (!writeEndedWaits(batch, { endingsOf, recordable, maxBatchBytes, hasSlot })) return AGAIN;
  drive.mustDecide ||= batch.asksDecision;
  if (options.foreign.someRun(batch)) return STAY;
  return drive.ending === null ? goOn(batch, drive, options) : ending(batch, drive);
}

/** A shutdown waits for what runs; a cancel of the run bounds that wait, and starts nothing. */
function giveUpCancelled(batch: TurnBatch, { cancel, limits }: AdvanceOptions): Advanced {
  if (batch.machine.fold.cancelRequested === null) return STAY;
  const { maxBatchBytes } = limits;
  cancel.write(batch, { maxBatchBytes, hasSlot: () => false });
  return batch.bytes > maxBatchBytes ? AGAIN : STAY;
}

/** Who has let its own checks end meets an open one: another process drives the run. */
function refuseForeignCheck({ machine }: TurnBatch): void {
  const { runId, preflight, cancelRequested } = machine.fold;
  if (preflight.openProbe === null || cancelRequested !== null) return;
  throw new GraphExecutionError(
    'OWNERSHIP_LOST',
    `Another process checks the engines of run ${runId}; this one has stopped.`,
  );
}

/** Re-opens what `resume` names, all or nothing; a paused position waits until a slot is free. */
function writeResumes(batch: TurnBatch, drive: Drive, options: AdvanceOptions): void {
  if (drive.toResume.length === 0 && drive.deferred.length === 0) return;
  const { positions, cancelRequested } = batch.machine.fold;
  // The attempt whose pause is recorded by this very batch is let go once it is durable.
  const isPausing = (position: string) =>
    drive.deferred.includes(position) && options.live.has(position);
  const isPaused = (position: string) => positions.get(position)?.status === 'paused';
  for (const position of drive.toResume) {
    requireOpen(batch, position, (live) => options.live.has(live));
  }
  // One that had to wait may have been settled or re-opened meanwhile.
  const positionsToOpen = new Set([...drive.toResume, ...drive.deferred.filter(isPaused)]);
  for (const position of positionsToOpen) {
    const record = positions.get(position);
    if (record && cancelRequested !== null && !options.cancel.recovers(record)) continue;
    const mustWait = freeSlots(batch, options) <= 0 || isPausing(position);
    if (isPaused(position) && mustWait) batch.deferred.push(position);
    else writeResume(batch, position, (live) => options.live.has(live));
  }
}

function freeSlots(batch: TurnBatch, { maxConcurrentAttempts }: AdvanceOptions): number {
  return maxConcurrentAttempts - batch.machine.fold.positions.count('running');
}

/** A failure is recorded once nothing is in flight; what is queued or paused is left behind. */
function ending(batch: TurnBatch, drive: Drive): Advanced {
  const inFlight = batch.machine.fold.positions.count('running') > 0;
  return inFlight ? STAY : { end: drive.ending, again: false };
}

function goOn(batch: TurnBatch, drive: Drive, options: AdvanceOptions): Advanced {
  if (!writeUnrecorded(batch, options.limits)) return AGAIN;
  if (drive.mustDecide) {
    const decision = writeDecision(batch, options.limits);
    // A batch that was full before the first dispatch has recorded nothing of the decision.
    drive.mustDecide = decision.kind === 'partial' && !batch.machine.isDecided;
    const end = ended(decision, batch, drive);
    if (end !== null) return end;
  }
  return writeStarts(batch, startOptions(batch, options)) ? AGAIN : STAY;
}

function ended(decision: Decision, batch: TurnBatch, drive: Drive): Advanced | null {
  drive.pauseReason = decision.kind === 'pause' ? decision.reason : null;
  const { fold } = batch.machine;
  switch (decision.kind) {
    case 'partial':
      return AGAIN;
    case 'complete':
      return { end: decision, again: false };
    case 'fail':
      drive.ending = decision;
      return ending(batch, drive);
    case 'idle':
      return fold.cancelRequested !== null && fold.positions.count() === 0
        ? { end: { kind: 'cancelled' }, again: false }
        : null;
    default:
      return null;
  }
}

function startOptions(batch: TurnBatch, options: AdvanceOptions) {
  const { stream, hash, isRetrySafe, childRunId, limits } = options;
  const slots = freeSlots(batch, options);
  return { stream, hash, isRetrySafe, childRunId, slots, maxBatchBytes: limits.maxBatchBytes };
}
