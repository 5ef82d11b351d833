/**
 * Token budgets: how much the calls of several nodes, runs or executors may use together.
 *
 * Invariants: tokens are input plus output; a call charges its budget and every one above it; a
 * key's totals only grow, so what the record says of a key and what was counted here are never
 * added up; room that is reserved is nobody else's. There is no clock and no chance here.
 */

import { HoldfastError } from '../base/errors.ts';
import { textFault } from '../base/identifier.ts';
import { requireObject } from '../base/option.ts';
import type { TokenTotals, UsageReceipt } from '../base/usage.ts';
import { readUsage } from './agent-result.ts';
import { TokenLedger } from './token-ledger.ts';

/**
 * `hard`: only calls whose engine enforces a limit, none after a call of unknown usage.
 * `observed`: what is reported is counted; a call may use more than was reserved for it.
 */
export type TokenBudgetMode = 'hard' | 'observed';

export interface TokenBudgetOptions {
  /** `observed` by default; a child's default is its parent's mode. */
  readonly mode?: TokenBudgetMode;
}

/** What a reservation is for. */
export interface TokenReserveOptions {
  /** What the call is counted under: the same for every call of one node of one run. */
  readonly key: string;
  /** Whether the engine stops by itself at the amount that is reserved. */
  readonly hardLimitEnforceable: boolean;
}

/** Room that one call holds. */
export interface TokenReservation {
  readonly reservationId: string;
  /** Tokens held. */
  readonly amount: number;
  /**
   * Counts what the call has used, once, and gives the room back. Throws `TOKEN_BUDGET`, after
   * counting, when a hard budget's call used more than `amount`.
   */
  commit(usage: UsageReceipt): void;
  /** Gives the room back without a call; doing it twice, or after `commit`, does nothing. */
  release(): void;
}

/** How a budget stands. */
export interface TokenBudgetSnapshot {
  readonly limit: number;
  readonly mode: TokenBudgetMode;
  readonly calls: number;
  readonly unknownUsageCalls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Input and output. */
  readonly usedTokens: number;
  readonly reservedTokens: number;
  /** What a call could still reserve, as far as this budget alone is concerned. */
  readonly remainingTokens: number;
  /** A hard budget after a call of unknown usage: it takes no more calls. */
  readonly closed: boolean;
}

/** Tokens that calls share. */
export interface TokenBudget {
  /** A budget within this one: its calls count for both. Throws `INVALID_OPTION`. */
  child(limit: number, options?: TokenBudgetOptions): TokenBudget;
  /**
   * Holds `allowance` tokens; null = no allowance of its own: everything left in a hard budget,
   * any room at all in an observed one. Throws `TOKEN_BUDGET`, saying what is left, when this
   * budget or one above it has no room, is closed, or is hard and the engine enforces nothing.
   */
  reserve(allowance: number | null, options: TokenReserveOptions): TokenReservation;
  /**
   * What a run's record holds for a key: its totals become at least these, here and above. Doing
   * it again, in any order, changes nothing. Throws `INVALID_OPTION`.
   */
  restore(key: string, facts: TokenTotals): void;
  snapshot(): TokenBudgetSnapshot;
}

/**
 * A budget of `limit` tokens, for the bindings of any number of nodes and runs.
 *
 * Its facts are durable: a run's record holds the receipt of each call, and an executor that drives
 * the run gives them to `restore`.
 *
 * @example const budget = createTokenBudget(100_000); const perNode = budget.child(20_000)
 */
export function createTokenBudget(limit: number, options: TokenBudgetOptions = {}): TokenBudget {
  requireObject('options', options);
  return new Budget(limit, options.mode ?? 'observed', null);
}

class Budget implements TokenBudget {
  readonly #limit: number;
  readonly #mode: TokenBudgetMode;
  readonly #ledger: TokenLedger = new TokenLedger();
  /** This budget, then those above it. */
  readonly #lineage: readonly Budget[];
  #reserved = 0;
  #reservations = 0;

  constructor(limit: number, mode: TokenBudgetMode, parent: Budget | null) {
    requireTokens('limit', limit);
    if (mode !== 'hard' && mode !== 'observed') invalid('mode', mode, "'hard' or 'observed'");
    this.#limit = limit;
    this.#mode = mode;
    this.#lineage = [this, ...(parent === null ? [] : parent.#lineage)];
  }

  child(limit: number, options: TokenBudgetOptions = {}): TokenBudget {
    requireObject('options', options);
    return new Budget(limit, options.mode ?? this.#mode, this);
  }

  reserve(allowance: number | null, options: TokenReserveOptions): TokenReservation {
    const { key, hardLimitEnforceable } = options;
    requireKey(key);
    if (allowance !== null) requireTokens('allowance', allowance);
    for (const budget of this.#lineage) {
      budget.#requireOpen(key, hardLimitEnforceable);
      budget.#requireRoom(key, allowance ?? 1);
    }
    const amount = allowance ?? (this.#isHard() ? this.#leftInAll() : 0);
    for (const budget of this.#lineage) budget.#reserved += amount;
    this.#reservations += 1;
    return this.#reservation(`${key}/${this.#reservations}`, key, amount);
  }

  restore(key: string, facts: TokenTotals): void {
    requireKey(key);
    requireTotals(facts);
    for (const budget of this.#lineage) budget.#ledger.raise(key, facts);
  }

  snapshot(): TokenBudgetSnapshot {
    const { calls, unknownCalls, inputTokens, outputTokens } = this.#ledger.totals;
    return Object.freeze({
      limit: this.#limit,
      mode: this.#mode,
      calls,
      unknownUsageCalls: unknownCalls,
      inputTokens,
      outputTokens,
      usedTokens: this.#ledger.tokens,
      reservedTokens: this.#reserved,
      remainingTokens: this.#left(),
      closed: this.#isClosed(),
    });
  }

  #reservation(reservationId: string, key: string, amount: number): TokenReservation {
    let isHeld = true;
    let isCounted = false;
    const release = (): void => {
      if (!isHeld) return;
      isHeld = false;
      for (const budget of this.#lineage) budget.#reserved -= amount;
    };
    const commit = (usage: UsageReceipt): void => {
      const receipt = readUsage(usage);
      release();
      if (isCounted) return;
      isCounted = true;
      for (const budget of this.#lineage) budget.#ledger.add(key, receipt);
      if (this.#isHard()) requireWithin(receipt, { key, amount });
    };
    return Object.freeze({ reservationId, amount, commit, release });
  }

  /** A limit that holds anywhere above holds here. */
  #isHard(): boolean {
    return this.#lineage.some((budget) => budget.#mode === 'hard');
  }

  #isClosed(): boolean {
    return this.#mode === 'hard' && this.#ledger.totals.unknownCalls > 0;
  }

  #left(): number {
    return Math.max(0, this.#limit - this.#ledger.tokens - this.#reserved);
  }

  #leftInAll(): number {
    return Math.min(...this.#lineage.map((budget) => budget.#left()));
  }

  #requireOpen(key: string, hardLimitEnforceable: boolean): void {
    if (this.#mode === 'observed') return;
    if (!hardLimitEnforceable) {
      this.#refuse(key, 'is hard, and the engine enforces no limit', "Use mode 'observed'.");
    }
    if (this.#isClosed()) {
      const { unknownCalls } = this.#ledger.totals;
      const why = `is closed by ${unknownCalls} calls of unknown usage`;
      this.#refuse(key, why, 'Start a new budget, or use an engine that reports usage.');
    }
  }

  #requireRoom(key: string, asked: number): void {
    if (asked <= this.#left()) return;
    const held = this.#reserved > 0 ? ` (${this.#reserved} more are held by open calls)` : '';
    const why = `has ${this.#left()} tokens left${held}, and the call asks for ${asked}`;
    this.#refuse(key, why, 'Raise the budget, or ask for fewer tokens.');
  }

  #refuse(key: string, why: string, next: string): never {
    throw new HoldfastError(
      'TOKEN_BUDGET',
      `No tokens for ${key}: the budget of ${this.#limit} tokens ${why}. ${next}`,
      { key, limit: this.#limit, left: this.#left(), reserved: this.#reserved },
    );
  }
}

/** An engine that was said to enforce the limit has not. */
function requireWithin(
  receipt: UsageReceipt,
  { key, amount }: { readonly key: string; readonly amount: number },
): void {
  if (receipt.kind === 'unknown') return;
  const used = receipt.inputTokens + receipt.outputTokens;
  if (used <= amount) return;
  throw new HoldfastError(
    'TOKEN_BUDGET',
    `A call of ${key} used ${used} tokens where ${amount} were reserved in a hard budget. ` +
      'They are counted; its engine does not enforce the limit.',
    { key, used, reserved: amount },
  );
}

function requireTokens(name: string, value: number): void {
  if (!Number.isSafeInteger(value) || value < 1) invalid(name, value, 'a whole number from 1');
}

function requireKey(key: string): void {
  if (textFault(key) !== null) invalid('key', key, 'a name');
}

function requireTotals(facts: TokenTotals): void {
  for (const name of ['calls', 'unknownCalls', 'inputTokens', 'outputTokens'] as const) {
    const value = facts[name];
    if (!Number.isSafeInteger(value) || value < 0) invalid(name, value, 'a whole number from 0');
  }
  const { calls, unknownCalls } = facts;
  if (unknownCalls > calls) invalid('unknownCalls', unknownCalls, `at most all ${calls} calls`);
}

function invalid(name: string, value: unknown, expected: string): never {
  throw new HoldfastError(
    'INVALID_OPTION',
    `Token budget: ${name} is ${String(value)}, expected ${expected}.`,
    { option: name },
  );
}
