/** What a simulation knows of a lane, of the engines behind it, and of the nodes that run on it. */
import type { CallTokens } from '../attempt/engine-work.ts';
import type { EngineFailureKind } from '../base/engine-failure.ts';
import type { ExecutionTarget } from '../graph/execution-target.ts';

/** Everything that an engine may do when it is called, beside failing in a way that has a name. */
export const ENGINE_ACTS = [
  'answers',
  'answers without usage',
  'answers at length',
  'answers with a value',
  'answers twice',
  'answers late',
  'answers nonsense',
  'answers as another',
  'answers with bad usage',
  'outlives its process',
  'gives the reason',
  'never answers',
  'tells its usage only',
  'tells usage, then fails',
  'fails without usage',
  'tells nonsense',
  'throws no error',
  'throws an untyped error',
  'throws at once',
  'leaks a secret',
  'leaks at length',
  'leaks in pieces',
  'leaks in its error',
  'leaks its name',
] as const;

/** What engines may do beside all else. */
export const EXTRA_ACTS = [
  'tells as it goes',
  'tells as it goes, then hangs',
  'overspends',
  'overspends and is refused',
  'overspends and fails',
  'leaks lines',
  'leaks lines in its error',
  'leaks lines in pieces',
  'leaks lines in nonsense',
] as const;

/** What an engine does when it is called: it fails in some way, answers, or misbehaves. */
export type EngineAct =
  | EngineFailureKind
  | (typeof ENGINE_ACTS)[number]
  | (typeof EXTRA_ACTS)[number];

/** What an engine says when it is asked whether it would take a request. */
export type AdmitAct = 'admits' | 'admits another' | 'never says' | EngineFailureKind;

export interface SeatPlan {
  readonly target: ExecutionTarget;
  /** One answer after the other, the last one repeated; null = it cannot be asked. */
  readonly admissions: readonly AdmitAct[] | null;
  /** Its acts, one call after the other; the last one is repeated. */
  readonly acts: readonly EngineAct[];
  readonly workMs: number;
  /** Whether it is bound as one that keeps to a limit of tokens; it never does. */
  readonly enforcesLimit?: boolean;
}

/** A lane: its effective target first, then the fallbacks. */
export interface LanePlan {
  readonly id: string;
  readonly seats: readonly SeatPlan[];
}

/** Work that the engine of a lane does. */
export interface EnginePlan {
  readonly kind: 'engine';
  readonly laneId: string;
  readonly retrySafe: boolean;
  readonly timeoutMs: number;
  readonly graceMs: number;
  readonly policy: 'none' | 'wait' | 'deny';
  readonly keepsLargeResults: boolean;
  /** How long its prompt builder takes; 0 = it is not even asynchronous. */
  readonly promptMs: number;
  /** Whether its prompt builder throws. */
  readonly hasNoPrompt: boolean;
  readonly extras?: EngineExtras;
}

/** The extras of an engine-backed node. */
export interface EngineExtras {
  readonly callTokens: CallTokens | null;
  readonly usesBudget: boolean;
  /** What this node may use of the budget. */
  readonly childLimit: number | null;
  readonly outputBytes: number | null;
  readonly contract: 'none' | 'value' | 'wraps' | 'promises';
  readonly parse: 'none' | 'shouts' | 'throws';
}
