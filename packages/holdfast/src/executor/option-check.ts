/** Checks the numbers an executor is given; an undefined option keeps its default. */
import { HoldfastError } from '../base/errors.ts';

interface NumberOptions {
  readonly maxConcurrentAttempts?: number | undefined;
  readonly maxDispatches?: number | undefined;
  readonly maxIdleMs?: number | undefined;
}

const DEFAULT_CONCURRENT_ATTEMPTS = 64;

/** The limits with their defaults. Throws `INVALID_OPTION`. */
export function checkedOptions(options: NumberOptions): {
  readonly maxConcurrentAttempts: number;
  readonly maxDispatches: number;
  readonly maxIdleMs: number;
} {
  const {
    maxConcurrentAttempts = DEFAULT_CONCURRENT_ATTEMPTS,
    maxDispatches = Number.POSITIVE_INFINITY,
    maxIdleMs = Number.POSITIVE_INFINITY,
  } = options;
  requireAtLeast('maxConcurrentAttempts', maxConcurrentAttempts, 1);
  requireAtLeast('maxDispatches', maxDispatches, 1);
  requireAtLeast('maxIdleMs', maxIdleMs, 0);
  return { maxConcurrentAttempts, maxDispatches, maxIdleMs };
}

function requireAtLeast(name: string, value: unknown, least: number): void {
  const isWhole = Number.isSafeInteger(value) || value === Number.POSITIVE_INFINITY;
  if (isWhole && Number(value) >= least) return;
  throw new HoldfastError(
    'INVALID_OPTION',
    `${name} must be a whole number of at least ${least}, not ${String(value)}.`,
    { option: name },
  );
}
