/** What the engine calls of a run have used, node by node: the durable side of token budgets. */
import type { UsageReceipt } from '../base/usage.ts';

/** Totals of the calls that are recorded; calls of unknown usage add to nothing but their count. */
export interface UsageTotals {
  readonly calls: number;
  readonly unknownCalls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
}

const NOTHING: UsageTotals = { calls: 0, unknownCalls: 0, inputTokens: 0, outputTokens: 0 };

type SavedUsage = readonly (readonly [string, UsageTotals])[];

export class EngineUsage {
  readonly #totals: Map<string, UsageTotals>;

  constructor(saved: SavedUsage = []) {
    this.#totals = new Map(saved);
  }

  add(nodeId: string, usage: UsageReceipt): void {
    const known = this.of(nodeId);
    const reported = usage.kind === 'reported' ? usage : { inputTokens: 0, outputTokens: 0 };
    this.#totals.set(nodeId, {
      calls: known.calls + 1,
      unknownCalls: known.unknownCalls + (usage.kind === 'unknown' ? 1 : 0),
      inputTokens: known.inputTokens + reported.inputTokens,
      outputTokens: known.outputTokens + reported.outputTokens,
    });
  }

  of(nodeId: string): UsageTotals {
    return this.#totals.get(nodeId) ?? NOTHING;
  }

  save(): SavedUsage {
    return [...this.#totals];
  }
}
