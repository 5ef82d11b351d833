/** What `run` and `resume` return. */
import type { JsonValue } from '../base/json.ts';
import type { IsoTime } from '../base/time.ts';
import type { PauseRequest } from '../history/catalog.ts';

/** One pause that an answer, a signal or a deadline can end. */
export interface PauseView {
  readonly pauseId: string;
  /** The run the pause belongs to: a child's pauses are listed by its parent too. */
  readonly runId: string;
  readonly nodeId: string;
  readonly position: string;
  readonly reason: string;
  readonly request: PauseRequest;
  readonly dueAt?: IsoTime;
}

/** The run has its result. */
export interface RunComplete {
  readonly kind: 'complete';
  readonly output: JsonValue;
}

/** The graph failed, or the run was cancelled (`CANCELLED`) or over its budget (`BUDGET_STOP`). */
export interface RunFailed {
  readonly kind: 'fail';
  readonly code: string;
  readonly message: string;
}

/** Not an end: nothing can go on before an answer, a signal or a deadline. */
export interface RunPaused {
  readonly kind: 'pause';
  readonly reason: string;
  /** None while the engine checks are paused. */
  readonly pauses: readonly PauseView[];
  /** The engine checks are paused: nothing was dispatched since they began. */
  readonly code?: 'PREFLIGHT_PAUSED';
  /** Names that pause: `resume({ preflightEventId })` ends it. */
  readonly preflightEventId?: string;
  /** When the earliest deadline or delay is due. */
  readonly wakeAt?: IsoTime;
}

/**
 * Positions that another process started and did not settle (`resume` them once it is dead), or
 * nothing but delays beyond `maxIdleMs`, or a shutdown (`positions` is then empty).
 */
export interface RunWaiting {
  readonly kind: 'waiting';
  readonly positions: readonly string[];
  readonly wakeAt?: IsoTime;
}

/** What a run came to, or what it waits for. */
export type RunResult = RunComplete | RunFailed | RunPaused | RunWaiting;
