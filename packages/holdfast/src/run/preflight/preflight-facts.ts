/** What the checks of a run have come to, beside what is known of each seat. */

import type { TokenTotals } from '../../base/usage.ts';
import type { EventPayloads, EventType } from '../../history/catalog.ts';
import type { FollowUp, PreflightPause } from './preflight-step.ts';

/** An event of the run, in its place. */
export type PreflightEvent = {
  readonly [Type in EventType]: {
    readonly type: Type;
    readonly id: string;
    readonly payload: EventPayloads[Type];
  };
}[EventType];

/**
 * `disabled`: the plan asks for no checks · `pending`: they are not done, or never were before the
 * run ended · `admitted`: every lane has a seat that passed · `paused`: a check failed in a way
 * that may pass · `failed`: a lane has no seat left.
 */
export type PreflightPhase = 'disabled' | 'pending' | 'admitted' | 'paused' | 'failed';

/** Where the checks of a run stand. Seed 002, "Check the engines". */
export interface RunPreflight {
  readonly phase: PreflightPhase;
  /** The open pause: `resume({ preflightEventId })` ends it. */
  readonly pause: PreflightPause | null;
  /** The pause that was ended last. */
  readonly resumedPreflightEventId: string | null;
  /** A check that nobody has finished: it runs now, or its process died. */
  readonly unfinishedProbeEventId: string | null;
  /** What the calls of the checks have used: no part of what the nodes have used. */
  readonly usage: TokenTotals;
}

/** A probe that is not finished. */
export interface OpenProbe {
  readonly eventId: string;
  readonly started: EventPayloads['preflight:probe-started'];
}

export interface PreflightFacts {
  /** Once true, for good: what dies later ends no run. */
  readonly isAdmitted: boolean;
  readonly isCancelled: boolean;
  /** The first probe of the present round. */
  readonly round: string | null;
  readonly probe: OpenProbe | null;
  /** What the next event must be. */
  readonly owed: FollowUp | null;
  /** The probe that went wrong last. */
  readonly wrong: Pick<PreflightPause, 'laneId' | 'detail'> | null;
  readonly pause: PreflightPause | null;
  /** The last `preflight:resumed`. */
  readonly resumedBy: string | null;
  readonly resumedPreflightEventId: string | null;
  readonly failedLaneId: string | null;
}

export const NOTHING_CHECKED: PreflightFacts = Object.freeze({
  isAdmitted: false,
  isCancelled: false,
  round: null,
  probe: null,
  owed: null,
  wrong: null,
  pause: null,
  resumedBy: null,
  resumedPreflightEventId: null,
  failedLaneId: null,
});

/** The phase of a plan that asks for checks. */
export function phaseOf(facts: PreflightFacts): Exclude<PreflightPhase, 'disabled'> {
  if (facts.failedLaneId !== null) return 'failed';
  if (facts.pause !== null) return 'paused';
  return facts.isAdmitted ? 'admitted' : 'pending';
}
