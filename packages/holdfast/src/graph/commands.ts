/** What `decide` may ask for. Validation of a whole decision lives in `decision.ts`. */
import type { JsonValue } from '../base/json.ts';

/** Start one occurrence of a node. */
export interface DispatchCommand {
  readonly kind: 'dispatch';
  readonly nodeId: string;
  readonly input: JsonValue;
  /** The stable logical identity of this occurrence. */
  readonly position: string;
  /** Start no sooner than this many milliseconds after the decision is recorded. */
  readonly delayMs?: number;
  /** The first position of the occurrence that this dispatch tries again. */
  readonly retryOf?: string;
}

/** Nothing can be started until something outside happens. Not an end. */
export interface PauseCommand {
  readonly kind: 'pause';
  readonly reason: string;
}

/** The graph has its result. */
export interface CompleteCommand {
  readonly kind: 'complete';
  readonly output: JsonValue;
}

/** The graph has failed. */
export interface FailCommand {
  readonly kind: 'fail';
  readonly code: string;
  readonly message: string;
}

/** One command of a decision. */
export type GraphCommand = DispatchCommand | PauseCommand | CompleteCommand | FailCommand;
