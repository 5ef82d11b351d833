/**
 * A budget of tokens as the log and the engines have it: what a call may rest on when it begins.
 * Written from the words of the design, apart from the library's own ledger.
 */

import type { JsonValue } from '../base/json.ts';
import { createTokenBudget, type TokenBudget } from '../engine/token-budget.ts';
import type { SimCall } from './sim-call.ts';
import { tokensOf } from './sim-call-end.ts';
import type { BudgetPlan } from './sim-extras.ts';
import type { EnginePlan } from './sim-lane-plan.ts';

interface Used {
  tokens: number;
  unknown: number;
}

export class SimBudget {
  readonly #plan: BudgetPlan | null;
  readonly #recorded = new Map<EnginePlan, Used>();

  constructor(plan: BudgetPlan | null) {
    this.#plan = plan;
  }

  /** A receipt stands in a log. */
  recorded(plan: EnginePlan, usage: JsonValue | undefined): void {
    const used = this.#recorded.get(plan) ?? { tokens: 0, unknown: 0 };
    const tokens = tokensOf(usage);
    if (tokens === null) used.unknown += 1;
    this.#recorded.set(plan, { ...used, tokens: used.tokens + (tokens ?? 0) });
  }

  /** Why a call must not begin, beside all that its process has called; null when it may. */
  refusal(plan: EnginePlan, before: readonly SimCall[]): string | null {
    const { callTokens, usesBudget, childLimit } = plan.extras ?? {};
    if (this.#plan === null || usesBudget !== true) return null;
    const asked = callTokens?.tokens ?? 1;
    const all = [...this.#recorded.keys(), ...before.flatMap((call) => call.plan ?? [])];
    const shared = this.#refusal(this.#plan.limit, asked, { of: new Set(all), before });
    if (shared !== null || childLimit == null) return shared;
    return this.#refusal(childLimit, asked, { of: new Set([plan]), before });
  }

  #refusal(
    limit: number,
    asked: number,
    { of, before }: { readonly of: ReadonlySet<EnginePlan>; readonly before: readonly SimCall[] },
  ): string | null {
    const used: Used = { tokens: 0, unknown: 0 };
    for (const plan of of) {
      if (plan.extras?.usesBudget !== true) continue;
      used.tokens += this.#recorded.get(plan)?.tokens ?? 0;
      used.unknown += this.#recorded.get(plan)?.unknown ?? 0;
    }
    for (const call of before) {
      if (call.plan === null || !of.has(call.plan) || !call.plan.extras?.usesBudget) continue;
      const pending = call.pendingTokens();
      if (pending === null) used.unknown += 1;
      used.tokens += pending ?? 0;
    }
    if (used.tokens + asked > limit) {
      return `${used.tokens} of ${limit} tokens are used or held, and it asks for ${asked}`;
    }
    const isClosed = this.#plan?.mode === 'hard' && used.unknown > 0;
    return isClosed ? `${used.unknown} calls of unknown usage have closed its hard budget` : null;
  }
}

/** The library's own budgets, as each process makes them anew. */
export class ProcessBudgets {
  readonly #plan: BudgetPlan | null;
  readonly #shared = new Map<string, TokenBudget>();
  readonly #own = new Map<string, Map<EnginePlan, TokenBudget>>();

  constructor(plan: BudgetPlan | null) {
    this.#plan = plan;
  }

  /** The budget of a node in a process, or null. */
  of(process: string, plan: EnginePlan): TokenBudget | null {
    const { usesBudget = false, childLimit = null } = plan.extras ?? {};
    if (this.#plan === null || !usesBudget) return null;
    const { limit, mode } = this.#plan;
    const shared = this.#shared.get(process) ?? createTokenBudget(limit, { mode });
    this.#shared.set(process, shared);
    if (childLimit === null) return shared;
    const all = this.#own.get(process) ?? new Map<EnginePlan, TokenBudget>();
    this.#own.set(process, all);
    const own = all.get(plan) ?? shared.child(childLimit);
    all.set(plan, own);
    return own;
  }
}
