/** The state of a flow's run as JSON, and its compact saved form. */
import type { JsonValue } from '../base/json.ts';
import type { SavedPlan } from '../flow/plan-columns.ts';
import type { PlanState } from '../flow/plan-state.ts';

/** An occurrence that has begun and not ended. */
export type FlowOccurrenceState = {
  /** Which dispatch of this start is the last one, from 1. */
  readonly attempt: number;
  /** Failures that count against the retry cap. */
  readonly failures: number;
  /** `again`: its next dispatch is to be decided. */
  readonly status: 'open' | 'paused' | 'again';
  /** Milliseconds that the next dispatch is due later. */
  readonly delayMs?: number;
};

export type FlowFailure = {
  readonly nodeId: string;
  readonly code: string;
  readonly message: string;
};

/** A completed occurrence of a task that can be taken back. */
export type UndoableRun = {
  readonly nodeId: string;
  readonly position: string;
  readonly output: JsonValue;
};

export type FlowUndoState = {
  /** In the order of completion; the last is taken back first. */
  readonly runs: readonly UndoableRun[];
  /** The undo position in flight. */
  readonly open: string | null;
  /** Which dispatch of the undo at hand comes next, from 1. */
  readonly attempt: number;
  readonly failed: readonly { readonly position: string; readonly code: string }[];
};

/** The state of a run of a flow. */
export type FlowState = {
  readonly plan: PlanState;
  /** What each node last returned; it stays when a loop resets the node. */
  readonly outputs: Readonly<Record<string, JsonValue>>;
  /** By node id. */
  readonly open: Readonly<Record<string, FlowOccurrenceState>>;
  /** Nodes that failed for good without an `error` edge, in the order of the record. */
  readonly failures: readonly FlowFailure[];
  readonly undo: FlowUndoState;
};

/** The same, by node index. */
export type SavedFlow = {
  readonly plan: SavedPlan;
  readonly outputs: readonly (readonly [number, JsonValue])[];
  readonly open: readonly (readonly [number, FlowOccurrenceState])[];
  readonly failures: readonly FlowFailure[];
  readonly undo: FlowUndoState;
};

export const NO_UNDO: FlowUndoState = Object.freeze({
  runs: Object.freeze([]),
  open: null,
  attempt: 1,
  failed: Object.freeze([]),
});
