/** What the checks lead to: the next one, or an end; and what follows a check that went wrong. */
import { LANE_DEAD_FAILURES } from '../../base/engine-failure.ts';
import { type EngineSelectionRecord, engineIdentity } from '../../base/engine-identity.ts';
import type { ExecutionTarget } from '../../graph/execution-target.ts';
import type { EventPayloads } from '../../history/catalog.ts';
import type { PreflightPauseReason, ProbeFinished } from '../../history/preflight-payload.ts';

/** Why the checks wait for a person. */
export interface PreflightPause {
  /** Names the pause: exactly this id ends it. */
  readonly preflightEventId: string;
  readonly reason: PreflightPauseReason;
  /** The lane that was checked. */
  readonly laneId: string;
  /** The kind of the failure, or the code of the store; null when the check was interrupted. */
  readonly detail: string | null;
  /** Which check of which target it was and what was wrong, in one line. */
  readonly message: string;
}

/** A static check to make. */
export interface StaticStep {
  readonly kind: 'static';
  readonly laneId: string;
  readonly target: ExecutionTarget;
  readonly contextNodeId: string | null;
  /** The identity that the engine must say again; null the first time. */
  readonly expected: EngineSelectionRecord | null;
  readonly resumedBy: string | null;
}

/** A live check to make. */
export interface LiveStep {
  readonly kind: 'live';
  readonly laneId: string;
  readonly target: ExecutionTarget;
  /** The identity that must answer; null when no static check has told it. */
  readonly identity: EngineSelectionRecord | null;
  readonly resumedBy: string | null;
}

/**
 * `no-target`: a lane has no usable seat, which is still to be recorded · `unfinished`: a probe is
 * open that this process did not begin.
 */
export type PreflightStep =
  | StaticStep
  | LiveStep
  | { readonly kind: 'no-target'; readonly laneId: string }
  | { readonly kind: 'unfinished'; readonly probeEventId: string }
  | ({ readonly kind: 'paused' } & PreflightPause)
  | { readonly kind: 'failed'; readonly laneId: string }
  | { readonly kind: 'admitted' };

type Unavailable = EventPayloads['graph:model-unavailable'];
type Paused = EventPayloads['preflight:paused'];

/** The event that must stand behind another, in the same append, without its moment. */
export type FollowUp =
  | ({ readonly type: 'graph:model-unavailable' } & Pick<
      Unavailable,
      'selected' | 'reported' | 'failure' | 'source'
    >)
  | ({ readonly type: 'preflight:paused' } & Pick<Paused, 'finishedEventId' | 'reason'>)
  | { readonly type: 'graph:run-finished' };

/** A probe that has just been finished. */
export interface EndedProbe {
  readonly eventId: string;
  readonly started: EventPayloads['preflight:probe-started'];
  readonly finishedEventId: string;
}

/** What must follow this outcome of a probe; null when it went well. */
export function followUpOf(outcome: ProbeFinished['outcome'], probe: EndedProbe): FollowUp | null {
  const { finishedEventId, eventId, started } = probe;
  switch (outcome.kind) {
    case 'admitted':
    case 'unsupported':
    case 'succeeded':
      return null;
    case 'interrupted':
      return { type: 'preflight:paused', finishedEventId, reason: 'interrupted' };
    case 'recording-failed':
      return { type: 'preflight:paused', finishedEventId, reason: 'recording-failure' };
    case 'failed': {
      const { failure, reported } = outcome;
      if (!LANE_DEAD_FAILURES.has(failure)) {
        return { type: 'preflight:paused', finishedEventId, reason: 'engine-failure' };
      }
      return {
        type: 'graph:model-unavailable',
        selected: engineIdentity({ ...started.target }),
        reported,
        failure,
        source: { kind: 'preflight', probeEventId: eventId, laneId: started.laneId },
      };
    }
  }
}
