/**
 * Errors: every refusal carries a code of the closed table in `error-codes.ts`.
 *
 * Recognise an error by its `code` (`isHoldfastError`), never by `instanceof`: two copies of the
 * library may live in one process. A message says what was wrong, where and with which value, and
 * ends with what to do next.
 */
import { type ErrorCode, errorCodes } from './error-codes.ts';

/** What an error may carry beside its message: JSON that a program can act on. */
export type ErrorDetails = Readonly<Record<string, unknown>>;

/** The base of every error Holdfast throws on purpose. */
export class HoldfastError extends Error {
  readonly code: ErrorCode;
  readonly details: ErrorDetails;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'HoldfastError';
    this.code = code;
    this.details = details;
  }

  /** What to do about it, from the code table. */
  get next(): string {
    return errorCodes[this.code].next;
  }
}

/** A `TypeError` with a code: a value of a wrong kind reached a public function. */
export class HoldfastTypeError extends TypeError {
  readonly code: ErrorCode;
  readonly details: ErrorDetails;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message);
    this.name = 'HoldfastTypeError';
    this.code = code;
    this.details = details;
  }

  /** What to do about it, from the code table. */
  get next(): string {
    return errorCodes[this.code].next;
  }
}

/**
 * True when `error` carries a code of the closed table (and, if given, exactly `code`).
 *
 * @example if (isHoldfastError(error, 'RUN_OWNED')) return;
 */
export function isHoldfastError(
  error: unknown,
  code?: ErrorCode,
): error is Error & { readonly code: ErrorCode; readonly details: ErrorDetails } {
  if (!(error instanceof Error) || !('code' in error)) return false;
  const found = error.code;
  if (typeof found !== 'string' || !Object.hasOwn(errorCodes, found)) return false;
  return code === undefined || found === code;
}

/** The text of anything thrown, which need not be an error. It never throws itself. */
export function errorText(error: unknown): string {
  try {
    if (typeof error === 'string') return error;
    if (error instanceof Error && typeof error.message === 'string') return error.message;
    return JSON.stringify(error) ?? String(error);
  } catch {
    return 'a value that cannot be shown was thrown';
  }
}
