/** What the engine calls of a run have used, node by node: the durable side of token budgets. */
import { NO_TOKENS, type TokenTotals, type UsageReceipt, withCall } from '../base/usage.ts';

type SavedUsage = readonly (readonly [string, TokenTotals])[];

export class EngineUsage {
  readonly #totals: Map<string, TokenTotals>;

  constructor(saved: SavedUsage = []) {
    this.#totals = new Map(saved);
  }

  add(nodeId: string, usage: UsageReceipt): void {
    this.#totals.set(nodeId, withCall(this.of(nodeId), usage));
  }

  of(nodeId: string): TokenTotals {
    return this.#totals.get(nodeId) ?? NO_TOKENS;
  }

  save(): SavedUsage {
    return [...this.#totals];
  }
}
