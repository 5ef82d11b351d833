/**
 * What calls have used, by key and in all.
 *
 * Invariants: a key's totals never shrink; the totals of all keys are the sum of each; a sum that
 * no safe integer holds stays at the greatest one.
 */
import {
  NO_TOKENS,
  plusTokens,
  type TokenTotals,
  type UsageReceipt,
  withCall,
} from '../base/usage.ts';

export class TokenLedger {
  readonly #keys = new Map<string, TokenTotals>();
  #totals: TokenTotals = NO_TOKENS;

  /** Of all keys. */
  get totals(): TokenTotals {
    return this.#totals;
  }

  /** Input and output tokens of all keys. */
  get tokens(): number {
    return plusTokens(this.#totals.inputTokens, this.#totals.outputTokens);
  }

  /** Counts one more call. */
  add(key: string, usage: UsageReceipt): void {
    const had = this.#keys.get(key) ?? NO_TOKENS;
    this.#put(key, had, withCall(had, usage));
  }

  /** The key's totals become at least `facts`. */
  raise(key: string, facts: TokenTotals): void {
    const had = this.#keys.get(key) ?? NO_TOKENS;
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
      calls: plusTokens(calls, after.calls - before.calls),
      unknownCalls: plusTokens(unknownCalls, after.unknownCalls - before.unknownCalls),
      inputTokens: plusTokens(inputTokens, after.inputTokens - before.inputTokens),
      outputTokens: plusTokens(outputTokens, after.outputTokens - before.outputTokens),
    };
  }
}
