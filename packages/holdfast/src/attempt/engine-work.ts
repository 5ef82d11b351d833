/** What an engine-backed node is bound to, and the seats it may call. */
import type { EngineFailureKind } from '../base/engine-failure.ts';
import type { EngineSelectionRecord, GraphEngineIdentity } from '../base/engine-identity.ts';
import type { JsonValue } from '../base/json.ts';
import type { UsageReceipt } from '../base/usage.ts';
import type { AgentPart, Engine } from '../engine/engine.ts';
import type { TokenBudget } from '../engine/token-budget.ts';
import type { ExecutionTarget } from '../graph/execution-target.ts';
import type { NodeContext } from './node-context.ts';

/** How many tokens one call may use. `hard` needs an engine that can enforce it. */
export interface CallTokens {
  readonly mode: 'hard' | 'observed';
  readonly tokens: number;
}

/** The work of an engine-backed node; what is null is absent or not limited. */
export interface EngineWork {
  readonly prompt: (input: JsonValue, context: NodeContext) => unknown;
  readonly system: string | null;
  /** The tools that may be used without asking. */
  readonly permissions: readonly string[];
  /** Where the engine runs; the workspace's directory comes before it. */
  readonly scratchDirectory: string | null;
  /** The JSON schema that a structured answer is asked for. */
  readonly schema: JsonValue | null;
  /** Turns the final part into the node's result; its value or text by default. */
  readonly parseResult: ((final: AgentPart, parts: readonly AgentPart[]) => unknown) | null;
  readonly memoryBytes: number | null;
  readonly callTokens: CallTokens | null;
  readonly tokenBudget: TokenBudget | null;
}

/** Joins a target of the plan to the engine that stands behind it. */
export interface GraphEngineBinding {
  /** Exactly the plan's effective or fallback target. */
  readonly target: ExecutionTarget;
  readonly engine: Engine;
  /** The full identity; by default what the target says. */
  readonly selection?: EngineSelectionRecord;
  /** Whether the engine keeps to `maxTokens`; false by default. */
  readonly hardTokenLimitEnforceable?: boolean;
}

/** A target of the plan and the engine that stands behind it. */
export interface EngineSeat {
  readonly target: ExecutionTarget;
  readonly selection: EngineSelectionRecord;
  readonly engine: Engine;
  readonly hardTokenLimitEnforceable: boolean;
}

/** The seats of a lane that are not proven dead, in the host's order. */
export interface LiveSeats {
  /** Null once it is dead. */
  readonly effective: EngineSeat | null;
  readonly fallbacks: readonly EngineSeat[];
}

/** What the record keeps of one call. */
export interface EngineReceipt {
  readonly requested: GraphEngineIdentity | null;
  readonly effective: GraphEngineIdentity | null;
  readonly usage: UsageReceipt;
  readonly failure?: EngineFailureKind;
}
