/** How an attempt ends. Exactly one of these is recorded for each start, unless it is uncertain. */
import type { ErrorCode } from '../base/error-codes.ts';
import { errorText, HoldfastError, isHoldfastError } from '../base/errors.ts';
import type { JsonValue } from '../base/json.ts';
import { cleanText, oneLine, truncateText } from '../base/text.ts';
import type { PauseRequest } from '../history/catalog.ts';

export interface CompletedOutcome {
  readonly kind: 'completed';
  readonly result: JsonValue;
}

export interface FailedOutcome {
  readonly kind: 'failed';
  readonly code: string;
  readonly message: string;
  /** Whether a policy may dispatch the node again. */
  readonly retryable: boolean;
  /** True when nobody waited for the attempt any more: what it did is unknown. */
  readonly abandoned?: true;
}

export interface PausedOutcome {
  readonly kind: 'paused';
  readonly reason: string;
  readonly request: PauseRequest;
}

export type AttemptOutcome = CompletedOutcome | FailedOutcome | PausedOutcome;

/** The longest failure message recorded, in code points. */
const MAX_FAILURE_MESSAGE_LENGTH = 2_000;

const MAX_CODE_LENGTH = 128;
const MAX_REASON_LENGTH = 500;

const DETERMINISTIC: ReadonlySet<ErrorCode> = new Set([
  'STEP_REPEATED',
  'KNOWN_SECRET',
  'INPUT_LIMIT',
  'INVALID_ATTEMPT',
  'TOKEN_BUDGET',
  'WORKSPACE_LIMIT',
  'WORKSPACE_VIOLATION',
]);

/**
 * An outcome as an event holds it: its texts sound and bounded. Until then they are as they were
 * said: a secret is no longer found in a text that was cleaned or cut.
 */
export function soundOutcome(outcome: AttemptOutcome): AttemptOutcome {
  if (outcome.kind === 'completed') return outcome;
  if (outcome.kind === 'failed') return soundFailure(outcome);
  return { ...outcome, reason: soundReason(outcome.reason) };
}

/** Why something waits, as one line. */
export function soundReason(reason: string): string {
  return oneLine(reason, MAX_REASON_LENGTH, 'It waits.');
}

/** A failure, of an attempt, of a step or of a run, as an event holds it. */
export function soundFailure<Failure extends Pick<FailedOutcome, 'code' | 'message'>>(
  failure: Failure,
  codeWithout = 'EFFECT_FAILED',
): Failure {
  const code = oneLine(failure.code, MAX_CODE_LENGTH, codeWithout);
  const message = truncateText(cleanText(failure.message), MAX_FAILURE_MESSAGE_LENGTH);
  return { ...failure, code, message };
}

/**
 * Thrown by node code to fail with a code of its own. A failure that no retry can mend says
 * `retryable: false`.
 *
 * @example throw new NodeFailure('CARD_DECLINED', 'The bank said no.', { retryable: false })
 */
export class NodeFailure extends HoldfastError {
  /** The code that is recorded; it need not be one of the closed table. */
  readonly failureCode: string;
  readonly retryable: boolean;

  constructor(
    failureCode: string,
    message: string,
    options: { readonly retryable?: boolean; readonly cause?: unknown } = {},
  ) {
    super('NODE_FAILED', message, { failureCode }, options.cause);
    this.name = 'NodeFailure';
    this.failureCode = failureCode;
    this.retryable = options.retryable ?? true;
  }
}

/** The failure of the executor's own that an attempt may be recorded with. */
export function failed(code: ErrorCode, message: string, retryable: boolean): FailedOutcome {
  return { kind: 'failed', code, message, retryable };
}

/**
 * The outcome of something thrown by node code: the code of a typed error, `EFFECT_FAILED` for any
 * other. What would fail in the same way again is not retryable.
 */
export function failureOf(error: unknown, aborted = false): FailedOutcome {
  const message = errorText(error);
  if (aborted) return { kind: 'failed', code: 'ABORTED', message, retryable: true };
  const verdict = verdictOf(error);
  // Only who was told to stop was aborted: forms repeat an aborted attempt without counting it.
  return { kind: 'failed', message, ...verdict, code: ownCode(verdict.code) };
}

function ownCode(code: string): string {
  return code === 'ABORTED' ? 'EFFECT_FAILED' : code;
}

function verdictOf(error: unknown): Pick<FailedOutcome, 'code' | 'retryable'> {
  try {
    if (isNodeFailure(error)) {
      const { failureCode, retryable } = error;
      return { code: failureCode, retryable };
    }
    if (isHoldfastError(error)) {
      const { code } = error;
      return { code, retryable: !isDeterministic(code) };
    }
  } catch {
    // A proxy, or a getter, that throws when it is looked at: as good as no code.
  }
  return { code: 'EFFECT_FAILED', retryable: true };
}

/** Expressions and definitions give the same error for the same input, however often. */
function isDeterministic(code: ErrorCode): boolean {
  return code.startsWith('EXPRESSION_') || code.startsWith('FLOW_') || DETERMINISTIC.has(code);
}

/** Whether node code threw a failure with a code of its own; what throws when looked at is none. */
export function isNodeFailure(error: unknown): error is NodeFailure {
  try {
    return (
      error instanceof Error &&
      'failureCode' in error &&
      typeof error.failureCode === 'string' &&
      'retryable' in error &&
      typeof error.retryable === 'boolean'
    );
  } catch {
    return false;
  }
}
