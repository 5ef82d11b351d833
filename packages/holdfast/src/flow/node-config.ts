/**
 * The configuration of every node type, typed. The catalogue (`catalogue.ts`) checks the same
 * fields at run time; a field marked optional has its default in `nodeDefaults`.
 *
 * Text fields called expression hold one expression; prompts and inputs hold templates, whose
 * `{{ … }}` parts are expressions. All are evaluated inside attempts, never by the planner.
 */
import type { JsonValue } from '../base/json.ts';

/** How often and how late a failed task is tried again. */
export interface RetryConfig {
  /** How many times it is tried again after its first failure. */
  readonly max: number;
  /** Milliseconds before the first retry. */
  readonly delayMs?: number;
  /** What the delay is multiplied with after each retry. */
  readonly factor?: number;
  readonly maxDelayMs?: number;
}

/** How a completed task is taken back when its run is cancelled. */
export interface UndoConfig {
  readonly function: string;
  readonly input?: JsonValue;
}

/** `task`: calls a function of the host. */
export interface TaskConfig {
  readonly function: string;
  readonly input?: JsonValue;
  readonly retry?: RetryConfig;
  /** The deadline of one attempt. */
  readonly timeoutMs?: number;
  /** How long an attempt that was told to stop may still settle, in milliseconds. */
  readonly graceMs?: number;
  readonly retrySafe?: boolean;
  /** An output over the event limit becomes an artifact: it is then `{ artifact: reference }`. */
  readonly largeResult?: 'artifact';
  readonly undo?: UndoConfig;
}

/** One way out of a switch: the output, and when it is taken. */
export interface SwitchCase {
  readonly output: string;
  readonly expression: string;
}

/** `control.switch`: leaves by the first case that is true. */
export interface SwitchConfig {
  /** The first whose expression is true names the output. */
  readonly cases: readonly SwitchCase[];
  /** The output when none is true; without it such a switch fails. */
  readonly otherwise?: string;
}

/** `control.loop`: goes round by `body`, out by `done`. */
export interface LoopConfig {
  /** How many times the body runs at most; counted anew in each pass of an enclosing loop. */
  readonly maxIterations: number;
  /** One more condition to go on. */
  readonly while?: string;
}

/** `control.map`: one function over a list, each item a durable sub-step. */
export interface MapConfig {
  /** An expression that gives a list. */
  readonly items: string;
  readonly function: string;
  readonly maxConcurrency?: number;
  readonly retrySafe?: boolean;
  readonly onError?: 'fail' | 'collect';
}

/** `approval`: waits for a person. Deadlines count from the dispatch, in milliseconds. */
export interface ApprovalConfig {
  readonly prompt: string;
  readonly deadlineMs?: number;
  readonly onDeadline?: 'rejected' | 'fail';
}

/** `delay`: waits for time, in milliseconds. */
export interface DelayConfig {
  readonly delayMs: number;
}

/** `signal`: waits for a message of this name (a template). */
export interface SignalConfig {
  readonly name: string;
  readonly deadlineMs?: number;
}

/** `subflow`: runs another flow of the host; `input` is any JSON with templates. */
export interface SubflowConfig {
  readonly flow: string;
  readonly input: JsonValue;
}

/** `continue-as-new`: ends the run, which goes on as a new one with this input. */
export interface ContinueAsNewConfig {
  readonly input: JsonValue;
}

/** The configuration of each node type. */
export interface NodeConfigs {
  readonly trigger: Readonly<Record<string, never>>;
  readonly task: TaskConfig;
  readonly 'control.condition': { readonly expression: string };
  readonly 'control.switch': SwitchConfig;
  readonly 'control.loop': LoopConfig;
  readonly 'control.map': MapConfig;
  readonly approval: ApprovalConfig;
  readonly delay: DelayConfig;
  readonly signal: SignalConfig;
  readonly subflow: SubflowConfig;
  readonly end: Readonly<Record<string, never>>;
  readonly 'continue-as-new': ContinueAsNewConfig;
}

/** The name of a node type. */
export type NodeType = keyof NodeConfigs;

/** A node's type with its configuration, as one discriminated union. */
export type TypedNode = {
  readonly [Type in NodeType]: { readonly type: Type; readonly config: NodeConfigs[Type] };
}[NodeType];

/** What stands in for optional fields. */
export const nodeDefaults = {
  retry: { delayMs: 1_000, factor: 2, maxDelayMs: 60_000 },
  approval: { onDeadline: 'rejected' },
  map: { maxConcurrency: 8, onError: 'fail' },
} as const;
