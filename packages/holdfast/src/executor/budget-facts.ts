/**
 * What token budgets learn of one run: its record's receipts, and those of its child runs.
 *
 * Invariants: a budget knows of every call that the record holds before the next call is reserved,
 * whoever recorded it and for whichever node; a receipt counts before it is durable, since its call
 * was made whatever becomes of the append. Doing any of this again changes nothing.
 */
import { isJsonObject } from '../base/json.ts';
import type { TokenBudget } from '../engine/token-budget.ts';
import type { NewEvent } from '../history/envelope.ts';
import type { RunFold } from '../run/run-fold.ts';
import { budgetKey, holdBudget, restoreChildBudgets, restoreRunBudgets } from './child-budgets.ts';
import type { ExecutorSettings } from './options.ts';

export class BudgetFacts {
  readonly #settings: ExecutorSettings;
  /** The budgets of the run's own nodes. */
  readonly #budgets: ReadonlyMap<string, TokenBudget>;
  readonly #hasAny: boolean;
  #knowsEnded = false;

  constructor(settings: ExecutorSettings) {
    this.#settings = settings;
    const budgets = new Map<string, TokenBudget>();
    for (const [nodeId, { engine }] of settings.bindings) {
      const budget = engine?.tokenBudget ?? null;
      if (budget !== null) budgets.set(nodeId, budget);
    }
    this.#budgets = budgets;
    this.#hasAny = holdBudget([...settings.bindings.values()]);
  }

  /** When a drive begins: all that the run and its children have used. */
  async driveBegins(fold: RunFold): Promise<void> {
    this.folded(fold);
    const { storage, bindings } = this.#settings;
    for (const [runId, nodeId] of fold.children.all()) {
      const childGraph = bindings.get(nodeId)?.childGraph ?? null;
      if (childGraph !== null) await restoreChildBudgets(storage, runId, childGraph);
    }
  }

  /** Others may have written: what the run's own nodes have used. */
  folded({ engines }: RunFold): void {
    for (const nodeId of this.#budgets.keys()) this.#restore(nodeId, engines.usage);
  }

  /** These events are about to be appended, and `fold` has taken them in. */
  recording(events: readonly NewEvent[], { engines }: RunFold): void {
    if (this.#budgets.size === 0) return;
    for (const { type, payload } of events) {
      if (type !== 'graph:engine-attempt-recorded' || !isJsonObject(payload)) continue;
      this.#restore(String(payload['nodeId']), engines.usage);
    }
  }

  /** The run had ended before it was driven: its record is read, once, if anything counts it. */
  async ended(): Promise<void> {
    if (!this.#hasAny || this.#knowsEnded) return;
    const { storage, stream, bindings } = this.#settings;
    await restoreRunBudgets(storage, stream.streamId, Object.fromEntries(bindings));
    this.#knowsEnded = true;
  }

  #restore(nodeId: string, usage: RunFold['engines']['usage']): void {
    const { namespace, streamId } = this.#settings.stream;
    this.#budgets.get(nodeId)?.restore(budgetKey(namespace, streamId, nodeId), usage.of(nodeId));
  }
}
