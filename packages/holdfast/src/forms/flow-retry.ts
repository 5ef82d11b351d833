/** Whether a failed attempt is tried again. */
import type { JsonObject } from '../base/json.ts';
import type { FlowRetry } from './flow-form.ts';
import type { FlowOccurrenceState } from './flow-state.ts';

/**
 * The occurrence that is to be tried again, or null when the failure is for good.
 *
 * A halt (`ABORTED`, retryable) is no failure of the node: it is tried again and counts against no
 * cap. Else a task is tried again while its failures do not exceed `retry.max`, unless the failure
 * is recorded as not retryable, was abandoned, or was `DENIED`.
 */
export function triedAgain(
  occurrence: FlowOccurrenceState,
  failure: JsonObject,
  retry: FlowRetry | null,
): FlowOccurrenceState | null {
  const { attempt, failures } = occurrence;
  const { code, retryable, abandoned } = failure as {
    readonly code?: string;
    readonly retryable?: boolean;
    readonly abandoned?: boolean;
  };
  if (retryable === false || abandoned === true) return null;
  if (code === 'ABORTED' && retryable === true) return { attempt, failures, status: 'again' };
  if (retry === null || code === 'DENIED' || failures + 1 > retry.max) return null;
  const delayMs = retryDelayMs(retry, failures + 1);
  const again = { attempt, failures: failures + 1, status: 'again' } as const;
  return delayMs === 0 ? again : { ...again, delayMs };
}

/** The delay before the n-th retry, from 1: it grows by `factor` up to `maxDelayMs`. */
function retryDelayMs({ delayMs, factor, maxDelayMs }: FlowRetry, retry: number): number {
  // Zero times infinity is no number.
  if (delayMs === 0) return 0;
  return Math.floor(Math.min(delayMs * factor ** (retry - 1), maxDelayMs));
}
