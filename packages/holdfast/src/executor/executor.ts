/** The executor as its callers see it. */
import type { JsonValue } from '../base/json.ts';
import type { PauseView, RunResult } from '../run/run-result.ts';
import type { RunView } from '../views/run-view.ts';
import type { ReconcileRequest } from './reconcile-request.ts';

/** What `reconcile` says of an uncertain attempt, or of one uncertain step of it. */
export type Reconciliation = WithoutPause<ReconcileRequest>;

type WithoutPause<Request> = Request extends unknown ? Omit<Request, 'pauseId'> : never;

/** Names the pause of the engine checks that `run` returned as `preflightEventId`. */
export interface PreflightResume {
  readonly preflightEventId: string;
}

/**
 * Drives one stored run: seed 000. `run` and `resume` exclude each other (`PROTOCOL`); everything
 * else may be called at any time, from any process that has the run's storage.
 */
export interface GraphExecutor {
  readonly runId: string;
  /**
   * Goes on until the run ends, pauses, or waits for positions that a dead process left. Rejects
   * with `ABORTED` when `signal` is aborted, `OWNERSHIP_LOST` when another process drives the
   * run, and with protocol and storage codes.
   */
  run(signal?: AbortSignal): Promise<RunResult>;
  /**
   * Re-opens positions by the crash table, then goes on. Call it only after the process that
   * started them has stopped. Throws `PROTOCOL` for a position that is not open.
   *
   * Or ends the pause of the engine checks, named by its event id, and checks again. Throws
   * `RESUME_EVENT_MISMATCH` for another id than that of the open pause.
   */
  resume(
    target: string | readonly string[] | PreflightResume,
    signal?: AbortSignal,
  ): Promise<RunResult>;
  /** Answers an open pause. Throws `PAUSE_MISMATCH`, `ANSWER_INVALID`, `PROTOCOL`. */
  answer(pauseId: string, answer: JsonValue, options: { readonly by: string }): Promise<void>;
  /** Says what became of an uncertain attempt. Throws `PAUSE_MISMATCH`, `PROTOCOL`. */
  reconcile(pauseId: string, reconciliation: Reconciliation): Promise<void>;
  /** Sends a message; one that comes before its wait is kept, a repeat of its id is ignored. */
  signal(name: string, payload: JsonValue, options: { readonly signalId: string }): Promise<void>;
  /** Asks for the end: whoever drives the run stops it, undoes what can be undone, and ends it. */
  cancel(options: { readonly by: string; readonly reason: string }): Promise<void>;
  /** Lets attempts in flight finish, starts nothing more; `run` then resolves as `waiting`. */
  shutdown(): Promise<void>;
  /** The open pauses; a child run's stand in place of its parent's. */
  pauses(): Promise<readonly PauseView[]>;
  /** All that can be shown of the run. */
  view(): Promise<RunView>;
}

/** An executor as the run above it has it. */
export interface ChildExecutor extends GraphExecutor {
  /** Throws what `signal` would throw for what the run cannot fold; records nothing. */
  trySignal(
    name: string,
    payload: JsonValue,
    options: { readonly signalId: string },
  ): Promise<void>;
  /** Whether the run has received this message. */
  hasSignal(signalId: string): Promise<boolean>;
}
