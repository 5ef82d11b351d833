/** Writes the events of engine checks, each with what must stand behind it in the same append. */
import type { EngineSelectionRecord } from '../base/engine-identity.ts';
import type { IsoTime } from '../base/time.ts';
import type { EventPayloads } from '../history/catalog.ts';
import { derivedEventId } from '../history/envelope.ts';
import type { LiveOutcome, ProbeFinished, StaticOutcome } from '../history/preflight-payload.ts';
import {
  type FollowUp,
  followUpOf,
  type LiveStep,
  type StaticStep,
} from '../run/preflight/preflight-step.ts';
import { GraphExecutionError } from '../run/run-error.ts';
import type { RunStorage } from '../store/storage.ts';
import type { Checked } from './preflight-probe.ts';
import { preflightReason } from './preflight-reason.ts';
import type { TurnBatch } from './turn-batch.ts';

/** What a check has come to, by its stage. */
export type StagedCheck =
  | ({ readonly stage: 'static' } & Checked<StaticOutcome>)
  | ({ readonly stage: 'live' } & Checked<LiveOutcome>);

/** A check that has come to its end. */
export interface EndedCheck {
  readonly probeEventId: string;
  readonly checked: StagedCheck;
  readonly storage: RunStorage;
}

/** Writes the start of a check of `selection`; returns its event id. */
export function writeProbeStarted(
  batch: TurnBatch,
  step: StaticStep | LiveStep,
  selection: EngineSelectionRecord,
): string {
  const { laneId, target, resumedBy } = step;
  const both = { laneId, target, resumedBy, at: batch.at };
  const payload: EventPayloads['preflight:probe-started'] =
    step.kind === 'static'
      ? {
          stage: 'static',
          ...both,
          contextNodeId: step.contextNodeId,
          selection,
          expected: step.expected,
        }
      : {
          stage: 'live',
          ...both,
          selection: step.identity ?? { ...selection, capabilities: [] },
        };
  return idOf(batch, batch.write('preflight:probe-started', payload));
}

/** Writes the end of a check, and what follows. Throws `OWNERSHIP_LOST` when another ended it. */
export function writeProbeFinished(
  batch: TurnBatch,
  { probeEventId, checked, storage }: EndedCheck,
): void {
  const open = batch.machine.fold.preflight.openProbe;
  if (open?.eventId !== probeEventId) {
    throw new GraphExecutionError(
      'OWNERSHIP_LOST',
      `Another process has ended engine check ${probeEventId}; this one has stopped.`,
      { probeEventId },
    );
  }
  const finished = endOf(checked, probeEventId, batch.at);
  const finishedEventId = idOf(batch, batch.write('preflight:probe-finished', finished));
  const followUp = followUpOf(checked.outcome, { ...open, finishedEventId });
  if (followUp === null) return;
  writeFollowUp(batch, followUp, () => preflightReason(open.started, checked, storage));
}

/** Ends the run: a lane has no target left. */
export function writePreflightFailed(batch: TurnBatch, laneId: string): void {
  const code = 'PREFLIGHT_FAILED';
  const { at } = batch;
  batch.write('preflight:failed', { laneId, code, reason: 'no-admissible-target', at });
  const message =
    `Lane ${laneId} has no target left that may be used: each failed its engine check, ` +
    'or could not be checked. Nothing was dispatched.';
  batch.write('graph:run-finished', { outcome: 'fail', code, message });
}

/** Ends the open pause. Throws `RESUME_EVENT_MISMATCH` when it has another id, or there is none. */
export function writePreflightResumed(batch: TurnBatch, preflightEventId: string): void {
  const { preflight, end } = batch.machine.fold;
  // An ended run waits for nobody.
  const open = end === null ? (preflight.view().pause?.preflightEventId ?? null) : null;
  if (open !== preflightEventId) {
    throw new GraphExecutionError(
      'RESUME_EVENT_MISMATCH',
      `The engine checks are not paused by ${JSON.stringify(preflightEventId.slice(0, 200))}; ` +
        `${open === null ? 'no pause of theirs is open' : `the open pause is ${open}`}.`,
      { named: preflightEventId, open },
    );
  }
  batch.write('preflight:resumed', { preflightEventId, at: batch.at });
}

function endOf(checked: StagedCheck, probeEventId: string, at: IsoTime): ProbeFinished {
  return checked.stage === 'static'
    ? { stage: 'static', probeEventId, outcome: checked.outcome, at }
    : { stage: 'live', probeEventId, outcome: checked.outcome, at };
}

function writeFollowUp(batch: TurnBatch, followUp: FollowUp, reasonOf: () => string): void {
  switch (followUp.type) {
    case 'preflight:paused': {
      const { finishedEventId, reason } = followUp;
      const message = reasonOf();
      batch.write('preflight:paused', { finishedEventId, reason, message, at: batch.at });
      return;
    }
    case 'graph:model-unavailable': {
      const { type, ...fact } = followUp;
      batch.write(type, fact);
      return;
    }
    case 'graph:run-finished':
      return;
  }
}

function idOf(batch: TurnBatch, sequence: number): string {
  return derivedEventId(batch.machine.fold.runId, sequence);
}
