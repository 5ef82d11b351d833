/** What an engine said that a call has used. What it did not say is unknown, never zero. */

export interface ReportedUsage {
  readonly kind: 'reported';
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheCreationInputTokens?: number;
  readonly cacheReadInputTokens?: number;
}

/** A receipt of one call, in tokens. */
export type UsageReceipt = { readonly kind: 'unknown' } | ReportedUsage;

export const UNKNOWN_USAGE: UsageReceipt = Object.freeze({ kind: 'unknown' });

/** What several calls have used; the tokens of a call of unknown usage are not in it. */
export interface TokenTotals {
  readonly calls: number;
  /** Those of `calls` that reported no usage. */
  readonly unknownCalls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
}

export const NO_TOKENS: TokenTotals = Object.freeze({
  calls: 0,
  unknownCalls: 0,
  inputTokens: 0,
  outputTokens: 0,
});

/** The totals with one more call. */
export function withCall(had: TokenTotals, usage: UsageReceipt): TokenTotals {
  const isKnown = usage.kind === 'reported';
  return {
    calls: plusTokens(had.calls, 1),
    unknownCalls: plusTokens(had.unknownCalls, isKnown ? 0 : 1),
    inputTokens: plusTokens(had.inputTokens, isKnown ? usage.inputTokens : 0),
    outputTokens: plusTokens(had.outputTokens, isKnown ? usage.outputTokens : 0),
  };
}

/** A sum that no safe integer holds stays at the greatest one. */
export function plusTokens(a: number, b: number): number {
  return Math.min(a + b, Number.MAX_SAFE_INTEGER);
}
