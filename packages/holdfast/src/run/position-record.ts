/** What a run knows of one open position: dispatched, and not settled yet. */
import type { Sha256Digest } from '../base/digest.ts';
import type { EngineFailureKind } from '../base/engine-failure.ts';
import type { GraphEngineIdentity } from '../base/engine-identity.ts';
import type { JsonValue } from '../base/json.ts';
import type { IsoTime } from '../base/time.ts';
import type { PauseRequest } from '../history/catalog.ts';

/** A recorded sub-step: started and uncertain, or with its result or failure. */
export type StepRecord =
  | { readonly kind: 'started' }
  | { readonly kind: 'completed'; readonly result: JsonValue }
  | {
      readonly kind: 'failed';
      /** The attempt in which it failed: another attempt of the occurrence runs it again. */
      readonly position: string;
      readonly code: string;
      readonly message: string;
      /** Present when no policy may try the attempt again. */
      readonly retryable?: false;
    };

export interface OpenPause {
  /** The event id of the `node-paused`. */
  readonly pauseId: string;
  /** Its sequence: an answer names the place at which it saw the pause open. */
  readonly sequence: number;
  readonly reason: string;
  readonly request: PauseRequest;
  /** True once somebody allowed the attempt to go on: the next owner's turn resumes it. */
  readonly released: boolean;
}

export interface StartRecord {
  readonly attemptId: Sha256Digest;
  /** The saved rule governs crash recovery, whatever the live binding says. */
  readonly retrySafe: boolean;
}

/** A recorded engine call; `requested` is null when it was interrupted. */
export interface EngineCall {
  /** Place among the calls of the position, from 1. */
  readonly sequence: number;
  readonly requested: GraphEngineIdentity | null;
  readonly failure: EngineFailureKind | null;
}

/**
 * `queued`: no start record, nobody's · `running`: started or resumed, and not settled ·
 * `paused`: waits for its pause to end.
 */
export type PositionStatus = 'queued' | 'running' | 'paused';

export interface PositionRecord {
  readonly nodeId: string;
  readonly position: string;
  readonly input: JsonValue;
  readonly inputDigest: Sha256Digest;
  /** The sequence of the dispatch event. */
  readonly sequence: number;
  /** When the dispatch was recorded. */
  readonly at: IsoTime;
  readonly notBefore: IsoTime | null;
  /** The first position of this occurrence: its own, unless it is a retry. */
  readonly firstPosition: string;
  readonly status: PositionStatus;
  readonly started: StartRecord | null;
  /** The sequence of the last start or resume; 0 before. */
  readonly startedSequence: number;
  readonly pause: OpenPause | null;
  /** The last engine call of this position that is recorded; null before the first. */
  readonly lastCall: EngineCall | null;
  /** A deadline once set is kept by later pauses of the position. */
  readonly dueAt: IsoTime | null;
}

/** An open position and the pause that holds it. */
export interface OpenWait {
  readonly record: PositionRecord;
  readonly pause: OpenPause;
}
