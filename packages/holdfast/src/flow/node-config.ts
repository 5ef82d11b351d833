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

export interface TaskConfig {
  readonly function: string;
  readonly input?: JsonValue;
  readonly retry?: RetryConfig;
  /** The deadline of one attempt. */
  readonly timeoutMs?: number;
  readonly retrySafe?: boolean;
  readonly undo?: UndoConfig;
}

export interface SwitchCase {
  readonly output: string;
  readonly expression: string;
}

export interface SwitchConfig {
  /** The first whose expression is true names the output. */
  readonly cases: readonly SwitchCase[];
  /** The output when none is true; without it such a switch fails. */
  readonly otherwise?: string;
}

export interface LoopConfig {
  /** How many times the body runs at most; counted anew in each pass of an enclosing loop. */
  readonly maxIterations: number;
  /** One more condition to go on. */
  readonly while?: string;
}

export interface MapConfig {
  /** An expression that gives a list. */
  readonly items: string;
  readonly function: string;
  readonly maxConcurrency?: number;
  readonly retrySafe?: boolean;
  readonly onError?: 'fail' | 'collect';
}

export interface ApprovalConfig {
  readonly prompt: string;
  readonly deadlineMs?: number;
  readonly onDeadline?: 'rejected' | 'fail';
}

export interface DelayConfig {
  readonly delayMs: number;
}

export interface SignalConfig {
  readonly name: string;
  readonly deadlineMs?: number;
}

export interface SubflowConfig {
  readonly flow: string;
  readonly input: JsonValue;
}

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
