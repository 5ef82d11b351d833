/**
 * The checks before a run's first dispatch, folded from its record. The one place that knows in
 * which order preflight events may stand: the executor asks it what to check next, and whoever
 * reads a run has it judge every event. Seed 002, "Check the engines".
 *
 * Invariants: no two probes overlap; a probe that went wrong is followed at once by what it leads
 * to; nothing of the graph starts before every lane is admitted, nor while the checks are paused;
 * a lane without a usable seat ends a run that was never admitted, and no other.
 */
import { present } from '../../base/assert.ts';
import { cloneFrozenJson } from '../../base/json.ts';
import type { ExecutionTarget } from '../../graph/execution-target.ts';
import type { EventPayloads } from '../../history/catalog.ts';
import type { ProbeFinished } from '../../history/preflight-payload.ts';
import { EngineUsage } from '../engine-usage.ts';
import {
  NOTHING_CHECKED,
  type OpenProbe,
  type PreflightEvent,
  type PreflightFacts,
  type PreflightPhase,
  phaseOf,
  type RunPreflight,
} from './preflight-facts.ts';
import type { PreflightPlan } from './preflight-plan.ts';
import { beginsRound, isOfPreflight, preflightFault, seatOf } from './preflight-rules.ts';
import { PreflightSeats, type SavedSeat, type Seat } from './preflight-seats.ts';
import { followUpOf, type PreflightStep } from './preflight-step.ts';

/** What a snapshot keeps. */
export interface SavedPreflight {
  readonly facts: PreflightFacts;
  readonly seats: readonly (readonly SavedSeat[])[];
  readonly usage: ReturnType<EngineUsage['save']>;
}

const NO_CHECKS: PreflightPlan = Object.freeze({ timeoutMs: 1, lanes: [] });

/** The one name under which usage is added up. */
const CHECKS = 'checks';

export class PreflightMachine {
  readonly plan: PreflightPlan | null;
  readonly #seats: PreflightSeats;
  readonly #usage: EngineUsage;
  #facts: PreflightFacts;

  /** `isDead` tells what the record has proven so far. */
  constructor(
    plan: PreflightPlan | null,
    isDead: (target: ExecutionTarget) => boolean,
    saved?: SavedPreflight,
  ) {
    this.plan = plan;
    this.#seats = new PreflightSeats(plan ?? NO_CHECKS, isDead, saved?.seats);
    this.#usage = new EngineUsage(saved?.usage);
    this.#facts = saved?.facts ?? NOTHING_CHECKED;
    this.#admitIfDone();
  }

  get phase(): PreflightPhase {
    return this.plan === null ? 'disabled' : phaseOf(this.#facts);
  }

  /** The first probe of the present round: whoever wrote it goes on with the round. */
  get round(): string | null {
    return this.#facts.round;
  }

  get openProbe(): OpenProbe | null {
    return this.#facts.probe;
  }

  view(): RunPreflight {
    const { pause, resumedPreflightEventId, probe } = this.#facts;
    return {
      phase: this.phase,
      pause,
      resumedPreflightEventId,
      unfinishedProbeEventId: probe?.eventId ?? null,
      usage: this.#usage.of(CHECKS),
    };
  }

  /** True when a target of a lane may not be called: it is dead, or could not be checked. */
  isExcluded(laneId: string, target: ExecutionTarget): boolean {
    const seat = seatOf(this.#seats, { laneId, target });
    return seat !== null && !this.#seats.isUsable(seat);
  }

  /** What comes next for who began `round`; null = a process that has begun none. */
  next(round: string | null): PreflightStep {
    const { failedLaneId, pause, probe, isAdmitted, resumedBy } = this.#facts;
    if (failedLaneId !== null) return { kind: 'failed', laneId: failedLaneId };
    if (pause !== null) return { kind: 'paused', ...pause };
    if (probe !== null) return { kind: 'unfinished', probeEventId: probe.eventId };
    const lost = isAdmitted ? null : this.#seats.lostLane;
    if (lost !== null) return { kind: 'no-target', laneId: lost.id };
    const isOwn = round !== null && round === this.#facts.round;
    const seat = isOwn ? this.#seats.nextStatic : this.#seats.firstStatic;
    if (seat !== null) return staticStep(seat, isOwn ? seat.covered : 0, resumedBy);
    const live = isAdmitted ? null : this.#seats.nextLive;
    if (live === null) return { kind: 'admitted' };
    const { lane, target, liveIdentity } = live;
    return { kind: 'live', laneId: lane.id, target, identity: liveIdentity, resumedBy };
  }

  /** The rule of the record that an event breaks here; null when it may stand. */
  fault(event: PreflightEvent): string | null {
    if (this.plan === null) return isOfPreflight(event) ? 'the plan asks for no checks' : null;
    return preflightFault(event, { facts: this.#facts, seats: this.#seats });
  }

  /** Folds an event that may stand here. What it proves dead must be known before. */
  apply(event: PreflightEvent): void {
    if (this.plan === null) return;
    switch (event.type) {
      case 'preflight:probe-started':
        return this.#started(event.id, event.payload);
      case 'preflight:probe-finished':
        return this.#finished(event.id, event.payload);
      case 'preflight:paused': {
        const { reason, message } = event.payload;
        const { laneId, detail } = present(this.#facts.wrong, 'what a pause stands for');
        const pause = { preflightEventId: event.id, reason, laneId, detail, message };
        return this.#set({ owed: null, pause });
      }
      case 'preflight:resumed': {
        const resumedPreflightEventId = event.payload.preflightEventId;
        return this.#set({ pause: null, resumedBy: event.id, resumedPreflightEventId });
      }
      case 'preflight:failed': {
        const { laneId } = event.payload;
        return this.#set({ failedLaneId: laneId, owed: { type: 'graph:run-finished' } });
      }
      case 'graph:model-unavailable':
        if (isOfPreflight(event)) this.#set({ owed: null });
        return this.#admitIfDone();
      case 'graph:run-finished':
        return this.#set({ owed: null });
      case 'graph:cancel-requested':
        return this.#set({ isCancelled: true });
      default:
        return;
    }
  }

  /** A JSON value from which `new PreflightMachine(plan, isDead, …)` continues. */
  save(): SavedPreflight {
    const facts = cloneFrozenJson<PreflightFacts>(this.#facts);
    return { facts, seats: this.#seats.save(), usage: this.#usage.save() };
  }

  #started(eventId: string, started: EventPayloads['preflight:probe-started']): void {
    const seat = seatOf(this.#seats, started);
    const begins =
      seat !== null && started.stage === 'static' && beginsRound(started, seat, this.#seats);
    if (begins) this.#seats.beginRound();
    this.#set({ probe: { eventId, started }, ...(begins ? { round: eventId } : {}) });
  }

  #finished(finishedEventId: string, finished: ProbeFinished): void {
    const { probe } = this.#facts;
    const seat = probe === null ? null : seatOf(this.#seats, probe.started);
    if (probe === null || seat === null) return;
    if (finished.stage === 'live') this.#usage.add(CHECKS, finished.outcome.usage);
    const owed = followUpOf(finished.outcome, { ...probe, finishedEventId });
    const { laneId } = probe.started;
    const wrong = owed === null ? null : { laneId, detail: detailOf(finished.outcome) };
    this.#set({ probe: null, owed, wrong });
    if (owed === null) passed(seat, finished.outcome, probe.eventId);
    this.#admitIfDone();
  }

  #admitIfDone(): void {
    const { isAdmitted, owed, probe } = this.#facts;
    if (isAdmitted || owed !== null || probe !== null || this.plan === null) return;
    const { lostLane, nextStatic, nextLive } = this.#seats;
    const isDone = lostLane === null && nextStatic === null && nextLive === null;
    if (isDone) this.#set({ isAdmitted: true });
  }

  #set(changed: Partial<PreflightFacts>): void {
    this.#facts = { ...this.#facts, ...changed };
  }
}

function staticStep(seat: Seat, context: number, resumedBy: string | null): PreflightStep {
  const { lane, target } = seat;
  const contextNodeId = lane.contexts[context] ?? null;
  const expected = seat.expectedAt(context);
  return { kind: 'static', laneId: lane.id, target, contextNodeId, expected, resumedBy };
}

function detailOf(outcome: ProbeFinished['outcome']): string | null {
  if (outcome.kind === 'failed') return outcome.failure;
  return outcome.kind === 'recording-failed' ? outcome.storageCode : null;
}

/** Takes in a check that went well. */
function passed(seat: Seat, outcome: ProbeFinished['outcome'], probeEventId: string): void {
  if (outcome.kind === 'succeeded') seat.answer(probeEventId);
  else if (outcome.kind === 'admitted') seat.cover(outcome.selection);
  else if (seat.lane.allowsUnsupported) seat.cover(null);
  else seat.block();
}
