/** What node code sees, and what it is: a function of an input and a context. */
import type { JsonObject, JsonValue } from '../base/json.ts';
import type { Memory } from '../memory/memory.ts';

/** What node code may ask of the attempt that runs it. */
export interface NodeContext {
  /** Aborted by a halt, a cancel or the attempt's own deadline. */
  readonly signal: AbortSignal;
  readonly runId: string;
  readonly nodeId: string;
  readonly position: string;
  /** The run's input: what it was started with. */
  readonly runInput: JsonValue;
  /**
   * Equal for every attempt and policy retry of this occurrence: give it to services that can
   * recognise a repeated request.
   */
  readonly idempotencyKey: string;
  /** The host's live memory, or null when the graph needs none. */
  readonly memory: Memory | null;
  /** Runs `body` once: its recorded result is returned instead when the attempt runs again. */
  step<Result extends StepResult>(
    name: string,
    body: (step: StepContext) => Result | Promise<Result>,
    options?: StepOptions,
  ): Promise<Result>;
  /** Hands a line to the host's `onLog`; nothing is recorded. */
  log(message: string, data?: JsonObject): void;
}

/** A step's result must be JSON; `undefined` becomes null. */
// biome-ignore lint/suspicious/noConfusingVoidType: a body without a result is a common step
export type StepResult = unknown | void;

/** What the body of a sub-step may ask for; the key is of the occurrence and the step. */
export interface StepContext {
  readonly signal: AbortSignal;
  readonly idempotencyKey: string;
}

/** How a sub-step is run. */
export interface StepOptions {
  /** Whether a crash inside the step may run it again without asking. False by default. */
  readonly retrySafe?: boolean;
}

/** Node code. Its result must be JSON; `undefined` becomes null. */
export type NodeFunction<Input = never> = (input: Input, context: NodeContext) => unknown;
