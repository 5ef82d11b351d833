/**
 * What calls have used, by key and in all.
 *
 * Invariants: a key's totals never shrink; the totals of all keys are the sum of each; a sum that
 * no safe integer holds stays at the greatest one.
 */
import type { UsageReceipt } from '../base/usage.ts';

/** What the calls of one key have used; the tokens of a call of unknown usage are not in it. */
export interface TokenTotals {
  readonly calls: number;
  /** Those of `calls` that reported no usage. */
  readonly unknownCalls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
}

const NOTHING: TokenTotals = { calls: 0, unknownCalls: 0, inputTokens: 0, outputTokens: 0 };

export class TokenLedger {
  readonly #keys = new Map<string, TokenTotals>();
  #totals: TokenTotals = NOTHING;

  /** Of all keys. */
  get totals(): TokenTotals {
    return this.#totals;
  }

  /** Input and output tokens of all keys. */
  get tokens(): number {
    return plus(this.#totals.inputTokens, this.#totals.outputTokens);
  }

  /** Counts one more call. */
  add(key: string, usage: UsageReceipt): void {
    const had = this.#keys.get(key) ?? NOTHING;
    const isKnown = usage.kind === 'reported';
    this.#put(key, had, {
      calls: plus(had.calls, 1),
      unknownCalls: plus(had.unknownCalls, isKnown ? 0 : 1),
      inputTokens: plus(had.inputTokens, isKnown ? usage.inputTokens : 0),
      outputTokens: plus(had.outputTokens, isKnown ? usage.outputTokens : 0),
    });
  }

  /** The key's totals become at least `facts`. */
  raise(key: string, facts: TokenTotals): void {
    const had = this.#keys.get(key) ?? NOTHING;
    this.#put(key, had, {
      calls: Math.max(had.calls, facts.calls),
      unknownCalls: Math.max(had.unknownCalls, facts.unknownCalls),
      inputTokens: Math.max(had.inputTokens, facts.inputTokens),
      outputTokens: Math.max(had.outputTokens, facts.outputTokens),
    });
  }

  #put(key: string, before: TokenTotals, after: TokenTotals): void {
    this.#keys.set(key, after);
    const { calls, unknownCalls, inputTokens, outputTokens } = this.#totals;
    this.#totals = {
      calls: plus(calls, after.calls - before.calls),
      unknownCalls: plus(unknownCalls, after.unknownCalls - before.unknownCalls),
      inputTokens: plus(inputTokens, after.inputTokens - before.inputTokens),
      outputTokens: plus(outputTokens, after.outputTokens - before.outputTokens),
    };
  }
}

function plus(a: number, b: number): number {
  return Math.min(a + b, Number.MAX_SAFE_INTEGER);
}
