/**
 * The grammar of preflight events: which may stand where. Each rule names what an event breaks, or
 * is null. Nothing here changes anything.
 */
import { canonicalText } from '../../base/digest.ts';
import type { EngineSelectionRecord } from '../../base/engine-identity.ts';
import type { JsonValue } from '../../base/json.ts';
import type { ExecutionTarget } from '../../graph/execution-target.ts';
import type {
  LiveProbeStarted,
  ProbeFinished,
  StaticProbeStarted,
} from '../../history/preflight-payload.ts';
import { type PreflightEvent, type PreflightFacts, phaseOf } from './preflight-facts.ts';
import { isSeatedAt } from './preflight-plan.ts';
import type { PreflightSeats, Seat } from './preflight-seats.ts';
import type { FollowUp } from './preflight-step.ts';

/** The checks as far as the record goes. */
export interface Checked {
  readonly facts: PreflightFacts;
  readonly seats: PreflightSeats;
}

/** The rule that an event breaks in a run whose plan asks for checks. */
export function preflightFault(event: PreflightEvent, checked: Checked): string | null {
  const { owed } = checked.facts;
  if (owed !== null) {
    return isOwed(event, owed) ? null : `the ${owed.type} that follows from it must stand here`;
  }
  switch (event.type) {
    case 'preflight:probe-started':
      return startFault(event.payload, checked);
    case 'preflight:probe-finished':
      return finishFault(event.payload, checked.facts);
    case 'preflight:paused':
      return 'no check led to it';
    case 'preflight:resumed':
      return resumeFault(event.payload.preflightEventId, checked.facts);
    case 'preflight:failed':
      return failureFault(event.payload.laneId, checked);
    case 'graph:model-unavailable':
      return isOfPreflight(event) ? 'no check led to it' : null;
    case 'graph:run-finished':
      return event.payload.outcome === 'cancelled' ? null : workFault(checked.facts);
    case 'graph:node-dispatched':
    case 'graph:node-attempt-started':
    case 'graph:node-resumed':
      return workFault(checked.facts);
    default:
      return null;
  }
}

/** True for events that only a run with checks may hold. */
export function isOfPreflight(event: PreflightEvent): boolean {
  if (event.type === 'graph:model-unavailable') return event.payload.source.kind === 'preflight';
  return event.type.startsWith('preflight:');
}

/** True when a static probe is the first of a round. */
export function beginsRound(
  started: StaticProbeStarted,
  seat: Seat,
  seats: PreflightSeats,
): boolean {
  return seat === seats.firstStatic && started.contextNodeId === seat.lane.contexts[0];
}

/** The seat of a lane's target. */
export function seatOf(
  seats: PreflightSeats,
  { laneId, target }: { readonly laneId: string; readonly target: ExecutionTarget },
): Seat | null {
  return seats.find(laneId, (known) => isSame(known, target));
}

function startFault(
  started: StaticProbeStarted | LiveProbeStarted,
  { facts, seats }: Checked,
): string | null {
  const { probe, resumedBy, isAdmitted } = facts;
  const phase = phaseOf(facts);
  if (phase === 'paused' || phase === 'failed') return `the checks are ${phase}`;
  if (probe !== null) return `probe ${probe.eventId} is not finished`;
  const seat = seatOf(seats, started);
  if (seat === null) return `lane ${started.laneId} has no such target`;
  const lost = isAdmitted ? null : seats.lostLane;
  if (lost !== null) return `lane ${lost.id} has no target left`;
  if (started.resumedBy !== resumedBy) return `the last resume is ${resumedBy ?? 'none'}`;
  return started.stage === 'static'
    ? staticFault(started, seat, seats)
    : liveFault(started, seat, { facts, seats });
}

function staticFault(
  started: StaticProbeStarted,
  seat: Seat,
  seats: PreflightSeats,
): string | null {
  const begins = beginsRound(started, seat, seats);
  const context = begins ? 0 : seat.covered;
  const isNext = seat === seats.nextStatic && started.contextNodeId === seat.lane.contexts[context];
  if (!begins && !isNext) return 'another seat or node is checked before it';
  if (!isSame(started.expected, seat.expectedAt(context))) {
    return 'it expects another identity than the one saved';
  }
  return isSeatedAt(started.selection, seat.target) ? null : 'its engine is not that of its target';
}

function liveFault(
  { selection }: LiveProbeStarted,
  seat: Seat,
  { facts, seats }: Checked,
): string | null {
  if (facts.isAdmitted) return 'every lane is admitted already';
  if (seats.nextStatic !== null) return 'the static checks come first';
  if (seats.nextLive !== seat) return 'another seat has to answer';
  const saved = seat.liveIdentity;
  const isRight =
    saved === null ? isSeatedAt(selection, seat.target, []) : isSame(selection, saved);
  return isRight ? null : 'its engine is not the one that was admitted';
}

function finishFault(finished: ProbeFinished, { probe }: PreflightFacts): string | null {
  const { probeEventId, stage, outcome } = finished;
  if (probe?.eventId !== probeEventId) return `the open check is ${probe?.eventId ?? 'none'}`;
  const { started } = probe;
  if (started.stage !== stage) return `its check is ${started.stage}`;
  if (outcome.kind !== 'admitted' || started.stage !== 'static') return null;
  const { expected, target } = started;
  const isExpected = expected === null || isSame(outcome.selection, expected);
  return isExpected && isSeatedAt(outcome.selection, target)
    ? null
    : 'it admits another identity than the one asked for';
}

function resumeFault(preflightEventId: string, { pause }: PreflightFacts): string | null {
  const open = pause?.preflightEventId ?? 'none';
  return open === preflightEventId ? null : `the open pause is ${open}`;
}

function failureFault(laneId: string, { facts, seats }: Checked): string | null {
  const phase = phaseOf(facts);
  if (phase !== 'pending') return `the checks are ${phase}`;
  if (facts.probe !== null) return `probe ${facts.probe.eventId} is not finished`;
  const lost = seats.lostLane?.id ?? 'none';
  return lost === laneId ? null : `the lane without a target is ${lost}`;
}

/** A cancelled run undoes what it can, whatever the checks say. */
function workFault(facts: PreflightFacts): string | null {
  const { isCancelled, probe } = facts;
  const phase = phaseOf(facts);
  if (isCancelled) return null;
  if (phase !== 'admitted') return `the engine checks are ${phase}`;
  return probe === null ? null : `probe ${probe.eventId} is not finished`;
}

function isOwed(event: PreflightEvent, owed: FollowUp): boolean {
  switch (event.type) {
    case 'preflight:paused': {
      const { finishedEventId, reason } = event.payload;
      return isSame({ type: event.type, finishedEventId, reason }, owed);
    }
    case 'graph:model-unavailable': {
      const { selected, reported, failure, source } = event.payload;
      return isSame({ type: event.type, selected, reported, failure, source }, owed);
    }
    case 'graph:run-finished': {
      const { outcome, code } = event.payload;
      return owed.type === event.type && outcome === 'fail' && code === 'PREFLIGHT_FAILED';
    }
    default:
      return false;
  }
}

type Comparable = ExecutionTarget | EngineSelectionRecord | FollowUp | null;

function isSame(a: Comparable, b: Comparable): boolean {
  return (
    a === b || canonicalText(a as unknown as JsonValue) === canonicalText(b as unknown as JsonValue)
  );
}
