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
