/** How a call of a simulated engine has ended. */
import { isJsonObject, type JsonValue } from '../base/json.ts';

/** Why nobody waits for a call any more. */
export type CutOff = 'timeout' | 'aborted';

/** What an engine has answered: text, or a value. */
export type Answer = string | { readonly value: number };

/** How a call has ended for its node. */
export interface AnsweredCall {
  readonly answer: Answer | null;
  /** Whether it had been told to stop by then. */
  readonly wasStopped: boolean;
  /** Whether it has used more than a hard budget had held for it. */
  readonly hasOverspent: boolean;
}

/** Input and output; null when nobody knows. */
export function tokensOf(usage: JsonValue | undefined): number | null {
  if (!isJsonObject(usage) || usage['kind'] !== 'reported') return null;
  return Number(usage['inputTokens']) + Number(usage['outputTokens']);
}
