/**
 * What an engine says beside its answer: in an error, or in an answer that is malformed.
 *
 * Invariant: it never throws; what cannot be read has not been said.
 */
import type { GraphEngineIdentity } from '../base/engine-identity.ts';
import type { UsageReceipt } from '../base/usage.ts';
import { readReportedIdentity, readUsage } from './agent-result.ts';
import { isEngineError } from './engine-error.ts';

export interface Reported {
  readonly effective: GraphEngineIdentity | null;
  /** Null when nothing was said of it. */
  readonly usage: UsageReceipt | null;
}

type Reporter = Readonly<{ effective?: unknown; usage?: unknown }>;

/** What an error says of who failed and what that took. */
export function reportedByError(error: unknown): Reported {
  return reported(isEngineError(error) ? error : {});
}

/** The same of an answer. */
export function reportedByAnswer(returned: unknown): Reported {
  return reported(typeof returned === 'object' && returned !== null ? returned : {});
}

/** The milliseconds after which an error says that its engine can be asked again, or null. */
export function reportedDelay(error: unknown): number | null {
  const delay = said(() => (isEngineError(error) ? error.retryAfterMs : null));
  return Number.isSafeInteger(delay) && Number(delay) >= 0 ? Number(delay) : null;
}

function reported(reporter: Reporter): Reported {
  const usage = said(() => reporter.usage) ?? null;
  return {
    effective: readReportedIdentity(said(() => reporter.effective)),
    usage: usage === null ? null : (said(() => readUsage(usage)) ?? null),
  };
}

function said<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
