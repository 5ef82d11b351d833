/**
 * The engine port: whatever answers a prompt. An adapter turns one model, service or command-line
 * tool into this shape.
 *
 * Invariants: a result has exactly one final part; a failure is an `EngineError` of a closed list
 * of kinds (anything else counts as `unknown`); usage that nobody reported stays unknown.
 */
import type { EngineSelectionRecord, GraphEngineIdentity } from '../base/engine-identity.ts';
import type { JsonValue } from '../base/json.ts';
import type { UsageReceipt } from '../base/usage.ts';

/** Which attempt a call belongs to. */
export interface AgentAttempt {
  readonly runId: string;
  readonly attemptId: string;
  /** The node id, or the probe's event id. */
  readonly leafId: string;
  readonly path: readonly string[];
  readonly label: string;
}

/** What an engine may see of the working directory. */
export type WorkspaceMode = 'none' | 'read' | 'write';

/** One call. Sizes are in bytes, times in milliseconds; what is absent is not limited. */
export interface AgentRequest {
  readonly prompt: string;
  /** `preflight`: a check before the run; the engine switches its own retries off for it. */
  readonly purpose?: 'preflight';
  readonly system?: string;
  readonly model?: string;
  readonly maxTokens?: number;
  /** The JSON schema of a structured answer. */
  readonly jsonSchema?: JsonValue;
  readonly tools?: readonly string[];
  readonly allowedTools?: readonly string[];
  readonly workspaceMode?: WorkspaceMode;
  readonly cwd?: string;
  readonly timeoutMs?: number;
  readonly timeoutGraceMs?: number;
  readonly maxOutputBytes?: number;
  readonly maxMemoryBytes?: number;
  readonly attempt?: AgentAttempt;
}

/** A piece of an answer; exactly one of a result's parts is final. */
export type AgentPart =
  | { readonly kind: 'assistant'; readonly text: string; readonly final: boolean }
  | { readonly kind: 'structured'; readonly value: JsonValue; readonly final: true };

/** What a call came to. */
export interface AgentResult {
  /** In the order in which they were said. */
  readonly parts: readonly AgentPart[];
  readonly usage: UsageReceipt;
  /** The identity that was asked for. */
  readonly requested: EngineSelectionRecord;
  /** The identity that answered, as the engine reports it; null when it does not. */
  readonly effective: GraphEngineIdentity | null;
  readonly stopReason?: string;
}

/** What an engine tells while it works. */
export type EngineEvent =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'thinking'; readonly text: string }
  | {
      readonly kind: 'tool';
      readonly name: string;
      readonly phase: 'use' | 'result';
      readonly target?: string;
    }
  | { readonly kind: 'usage'; readonly usage: UsageReceipt; readonly model?: string };

/** Told of each event; it never throws and never waits. */
export type EngineListener = (event: EngineEvent) => void;

/** Whatever answers a prompt. Seed 000, "How a dispatch runs". */
export interface Engine {
  readonly name: string;
  /**
   * Says, without a call, which identity a request would run under. Optional: an engine without it
   * is `unsupported` by static checks. Throws `EngineError`.
   */
  admit?(
    request: Omit<AgentRequest, 'prompt'>,
    signal: AbortSignal,
    expected?: EngineSelectionRecord,
  ): Promise<EngineSelectionRecord>;
  /** Answers once. Rejects with `EngineError`; `signal` aborted means `aborted`, and soon. */
  run(request: AgentRequest, onEvent: EngineListener, signal: AbortSignal): Promise<AgentResult>;
}
