/** How engines fail: typed, or unknown. No message is ever read to find out what it means. */
import { type EngineFailureKind, isEngineFailureKind } from '../base/engine-failure.ts';
import type { GraphEngineIdentity } from '../base/engine-identity.ts';
import { HoldfastError } from '../base/errors.ts';
import type { UsageReceipt } from '../base/usage.ts';

/** What an engine knows about its failure. */
export interface EngineErrorOptions {
  readonly kind: EngineFailureKind;
  readonly message: string;
  readonly cause?: unknown;
  /** The identity that failed, as the service reports it. */
  readonly effective?: GraphEngineIdentity;
  /** What the failed call has used, as far as it is known. */
  readonly usage?: UsageReceipt;
  /** When a rate limit ends, in milliseconds from now. */
  readonly retryAfterMs?: number;
}

/**
 * Thrown by an engine. Seed 002, "Failure".
 *
 * @example throw new EngineError({ kind: 'auth', message: 'The key was refused.' })
 */
export class EngineError extends HoldfastError {
  readonly kind: EngineFailureKind;
  readonly effective: GraphEngineIdentity | null;
  readonly usage: UsageReceipt | null;
  readonly retryAfterMs: number | null;

  constructor(options: EngineErrorOptions) {
    const { kind, message, cause, effective, usage, retryAfterMs } = options;
    super('ENGINE_FAILED', message, { kind }, cause);
    this.name = 'EngineError';
    this.kind = kind;
    this.effective = effective ?? null;
    this.usage = usage ?? null;
    this.retryAfterMs = retryAfterMs ?? null;
  }
}

/** What an engine's error may say; a foreign one may say anything. */
type SaidByEngine = Error & {
  readonly kind?: unknown;
  readonly effective?: unknown;
  readonly usage?: unknown;
  readonly retryAfterMs?: unknown;
};

/** True for an error of an engine, of another copy of this library too. */
export function isEngineError(error: unknown): error is SaidByEngine {
  try {
    return error instanceof Error && error.name === 'EngineError';
  } catch {
    // A getter that throws says nothing.
    return false;
  }
}

/**
 * The kind that a thrown value names. Errors of another copy of this library count; whatever names
 * no kind is `unknown`.
 */
export function classifyEngineFailure(error: unknown): EngineFailureKind {
  try {
    if (!isEngineError(error)) return 'unknown';
    const { kind } = error;
    return isEngineFailureKind(kind) ? kind : 'unknown';
  } catch {
    // A getter that throws says nothing.
    return 'unknown';
  }
}
