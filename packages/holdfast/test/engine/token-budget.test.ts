/** Token budgets: the numbers that executors and processes share. */

import fc from 'fast-check';
import {
  createTokenBudget,
  isHoldfastError,
  type TokenBudget,
  type TokenReservation,
  type TokenTotals,
  type UsageReceipt,
} from 'holdfast';
import { describe, expect, it } from 'vitest';

const enforced = { key: 'run-1/writer', hardLimitEnforceable: true } as const;
const unenforced = { ...enforced, hardLimitEnforceable: false };
const unknown: UsageReceipt = { kind: 'unknown' };

function used(inputTokens: number, outputTokens: number): UsageReceipt {
  return { kind: 'reported', inputTokens, outputTokens };
}

function refusal(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    return isHoldfastError(error) ? `${error.code}: ${error.message}` : String(error);
  }
  return 'nothing was refused';
}

const totals = fc
  .record({
    known: fc.nat(50),
    unknownCalls: fc.nat(3),
    inputTokens: fc.nat(5_000),
    outputTokens: fc.nat(5_000),
  })
  .map(({ known, ...facts }): TokenTotals => ({ ...facts, calls: known + facts.unknownCalls }));
const key = fc.constantFrom('run-1/writer', 'run-1/critic', 'run-2/writer');
const facts = fc.array(fc.tuple(key, totals), { maxLength: 12 });

describe('a token budget', () => {
  it('counts input and output, and gives the rest of a reservation back', () => {
    const budget = createTokenBudget(100);
    const reservation = budget.reserve(60, unenforced);
    expect(budget.snapshot()).toMatchObject({ reservedTokens: 60, remainingTokens: 40, calls: 0 });
    reservation.commit(used(10, 5));
    expect(budget.snapshot()).toEqual({
      limit: 100,
      mode: 'observed',
      calls: 1,
      unknownUsageCalls: 0,
      inputTokens: 10,
      outputTokens: 5,
      usedTokens: 15,
      reservedTokens: 0,
      remainingTokens: 85,
      closed: false,
    });
  });

  it('says what is left when there is no room, and holds nothing for the refused call', () => {
    const budget = createTokenBudget(100);
    budget.reserve(60, enforced);
    expect(refusal(() => budget.reserve(41, enforced))).toBe(
      'TOKEN_BUDGET: No tokens for run-1/writer: the budget of 100 tokens has 40 tokens left ' +
        '(60 more are held by open calls), and the call asks for 41. ' +
        'Raise the budget, or ask for fewer tokens.',
    );
    expect(budget.snapshot().reservedTokens).toBe(60);
    expect(budget.reserve(40, enforced).amount).toBe(40);
  });

  it('is charged by its children, and refuses for every one of them', () => {
    const run = createTokenBudget(100);
    const [writer, critic] = [run.child(80), run.child(80)];
    writer.reserve(70, enforced).commit(used(70, 0));
    expect(refusal(() => critic.reserve(31, enforced))).toContain('budget of 100 tokens has 30');
    expect(critic.snapshot().reservedTokens).toBe(0);
    critic.reserve(30, enforced).commit(used(20, 10));
    expect(run.snapshot().usedTokens).toBe(100);
    expect(refusal(() => writer.reserve(11, enforced))).toContain('budget of 80 tokens has 10');
  });

  it('counts a call of unknown usage; a hard budget is closed by it, no observed one is', () => {
    const observed = createTokenBudget(100);
    observed.reserve(10, unenforced).commit(unknown);
    const counted = { calls: 1, unknownUsageCalls: 1, usedTokens: 0, closed: false };
    expect(observed.snapshot()).toMatchObject(counted);
    observed.reserve(100, unenforced);
    const hard = createTokenBudget(100, { mode: 'hard' });
    hard.child(50).reserve(10, enforced).commit(unknown);
    expect(hard.snapshot().closed).toBe(true);
    expect(refusal(() => hard.child(5).reserve(1, enforced))).toContain('closed by 1 call');
  });

  it('that is hard anywhere above needs an engine that enforces a limit', () => {
    const hard = createTokenBudget(100, { mode: 'hard' });
    expect(hard.child(10).snapshot().mode).toBe('hard');
    const child = hard.child(10, { mode: 'observed' });
    expect(refusal(() => child.reserve(1, unenforced))).toContain('enforces no limit');
    expect(child.reserve(1, enforced).amount).toBe(1);
  });

  it('that is hard counts what an engine used beyond its limit, and says so', () => {
    const hard = createTokenBudget(100, { mode: 'hard' });
    const reservation = hard.reserve(10, enforced);
    expect(refusal(() => reservation.commit(used(8, 3)))).toContain('used 11 tokens where 10');
    expect(hard.snapshot()).toMatchObject({ usedTokens: 11, reservedTokens: 0, calls: 1 });
  });

  it('holds for a call without an allowance all that is left if hard, nothing if observed', () => {
    const hard = createTokenBudget(100, { mode: 'hard' }).child(500);
    expect(hard.reserve(null, enforced).amount).toBe(100);
    expect(refusal(() => hard.reserve(null, enforced))).toContain('TOKEN_BUDGET');
    const observed = createTokenBudget(10);
    const open = [observed.reserve(null, unenforced), observed.reserve(null, unenforced)];
    expect(open.map(({ amount }) => amount)).toEqual([0, 0]);
    open[0]?.commit(used(9, 1));
    expect(refusal(() => observed.reserve(null, unenforced))).toContain('has 0 tokens left');
  });

  it('counts a call once, however often and late it is told', () => {
    const budget = createTokenBudget(100);
    const reservation = budget.reserve(30, enforced);
    reservation.release();
    reservation.release();
    expect(budget.snapshot()).toMatchObject({ reservedTokens: 0, calls: 0 });
    reservation.commit(used(5, 5));
    reservation.commit(used(5, 5));
    reservation.release();
    expect(budget.snapshot()).toMatchObject({ usedTokens: 10, reservedTokens: 0, calls: 1 });
  });

  it('names every reservation differently', () => {
    const budget = createTokenBudget(100);
    const names = [1, 2, 3].map(() => budget.reserve(1, enforced).reservationId);
    expect(new Set(names).size).toBe(3);
  });

  it.each<[string, () => unknown, string]>([
    ['a limit of 0', () => createTokenBudget(0), 'limit is 0'],
    ['a broken limit', () => createTokenBudget(1).child(1.5), 'limit is 1.5'],
    ['a mode', () => createTokenBudget(1, { mode: 'soft' as 'hard' }), 'mode is soft'],
    ['an allowance', () => createTokenBudget(1).reserve(-1, enforced), 'allowance is -1'],
    ['a key', () => createTokenBudget(1).reserve(1, { ...enforced, key: ' ' }), 'key is  '],
    [
      'totals',
      () =>
        createTokenBudget(1).restore('k', {
          calls: 1,
          unknownCalls: 2,
          inputTokens: 0,
          outputTokens: 0,
        }),
      'unknownCalls is 2',
    ],
  ])('refuses %s that is none', (_, work, message) => {
    expect(refusal(work)).toContain('INVALID_OPTION: Token budget: ');
    expect(refusal(work)).toContain(message);
  });
});

describe('what a record holds of a key', () => {
  it('counts for every budget above, also when it is more than what was counted there', () => {
    const root = createTokenBudget(1_000);
    const child = root.child(500);
    child.reserve(10, enforced).commit(used(10, 0));
    child.restore(enforced.key, { calls: 3, unknownCalls: 1, inputTokens: 30, outputTokens: 7 });
    const both = { calls: 3, unknownUsageCalls: 1, usedTokens: 37 };
    expect(child.snapshot()).toMatchObject(both);
    expect(root.snapshot()).toMatchObject(both);
  });

  it('stays a whole number, however much it is', () => {
    const budget = createTokenBudget(1_000);
    const most = {
      calls: 1,
      unknownCalls: 0,
      inputTokens: Number.MAX_SAFE_INTEGER,
      outputTokens: 9,
    };
    budget.restore('k', most);
    budget.restore('m', most);
    expect(budget.snapshot()).toMatchObject({
      inputTokens: Number.MAX_SAFE_INTEGER,
      usedTokens: Number.MAX_SAFE_INTEGER,
      remainingTokens: 0,
    });
  });

  it('is never counted a second time by who has counted it as it happened', () => {
    const budget = createTokenBudget(1_000);
    const child = budget.child(500);
    child.reserve(100, enforced).commit(used(30, 12));
    const recorded = { calls: 1, unknownCalls: 0, inputTokens: 30, outputTokens: 12 };
    child.restore(enforced.key, recorded);
    budget.child(500).restore(enforced.key, recorded);
    expect(budget.snapshot()).toMatchObject({ calls: 1, usedTokens: 42 });
    expect(child.snapshot()).toMatchObject({ calls: 1, usedTokens: 42 });
  });

  it('closes a hard budget of another process, when a call of unknown usage is in it', () => {
    const hard = createTokenBudget(100, { mode: 'hard' });
    hard.restore('k', { calls: 2, unknownCalls: 1, inputTokens: 3, outputTokens: 4 });
    expect(refusal(() => hard.reserve(1, enforced))).toContain('closed');
  });

  it('gives the same numbers in any order and however often it is restored', () => {
    const shuffled = facts.chain((list) =>
      fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length })),
    );
    fc.assert(
      fc.property(shuffled, ([list, otherOrder]) => {
        const [a, b] = [createTokenBudget(1_000), createTokenBudget(1_000).child(1_000)];
        for (const [name, found] of list) a.restore(name, found);
        for (const [name, found] of [...list, ...otherOrder]) b.restore(name, found);
        expect(b.snapshot()).toEqual(a.snapshot());
      }),
    );
  });

  it('gives a process that restores it the numbers of the process that counted it', () => {
    const call = fc.tuple(key, fc.option(fc.tuple(fc.nat(500), fc.nat(500))));
    fc.assert(
      fc.property(fc.array(call, { maxLength: 20 }), (calls) => {
        const [counting, restoring] = [createTokenBudget(1e9), createTokenBudget(1e9)];
        const record = new Map<string, TokenTotals>();
        for (const [name, tokens] of calls) {
          const options = { key: name, hardLimitEnforceable: false };
          counting.reserve(1, options).commit(tokens === null ? unknown : used(...tokens));
          const had = record.get(name);
          record.set(name, {
            calls: (had?.calls ?? 0) + 1,
            unknownCalls: (had?.unknownCalls ?? 0) + (tokens === null ? 1 : 0),
            inputTokens: (had?.inputTokens ?? 0) + (tokens?.[0] ?? 0),
            outputTokens: (had?.outputTokens ?? 0) + (tokens?.[1] ?? 0),
          });
        }
        for (const [name, found] of record) restoring.restore(name, found);
        expect(restoring.snapshot()).toEqual(counting.snapshot());
      }),
    );
  });
});

/** One thing that may happen to a family of budgets. */
type Step =
  | { readonly kind: 'reserve'; readonly budget: number; readonly tokens: number }
  | { readonly kind: 'commit'; readonly open: number; readonly share: number }
  | { readonly kind: 'release'; readonly open: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('reserve' as const), budget: fc.nat(3), tokens: fc.nat(400) }),
  fc.record({ kind: fc.constant('commit' as const), open: fc.nat(9), share: fc.nat(100) }),
  fc.record({ kind: fc.constant('release' as const), open: fc.nat(9) }),
);

function play(steps: readonly Step[], family: readonly TokenBudget[]): number {
  const open: TokenReservation[] = [];
  let spent = 0;
  for (const move of steps) {
    if (move.kind === 'reserve') {
      const budget = family[move.budget];
      try {
        const asked = budget?.reserve(move.tokens + 1, { ...enforced, key: `n${move.budget}` });
        if (asked !== undefined) open.push(asked);
      } catch (error) {
        if (!isHoldfastError(error, 'TOKEN_BUDGET')) throw error;
      }
      continue;
    }
    const reservation = open.splice(move.open, 1)[0];
    if (reservation === undefined) continue;
    if (move.kind === 'release') reservation.release();
    else {
      const tokens = Math.floor((reservation.amount * move.share) / 100);
      reservation.commit(used(tokens, 0));
      spent += tokens;
    }
  }
  return spent;
}

describe('hard budgets under any order of calls', () => {
  it('never pass a limit, hold room only for open calls, and add up to their root', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const root = createTokenBudget(1_000, { mode: 'hard' });
        const [left, right] = [root.child(600), root.child(700)];
        const family = [root, left, right, left.child(250)];
        const spent = play(steps, family);
        for (const budget of family) {
          const { usedTokens, reservedTokens, limit } = budget.snapshot();
          expect(usedTokens + reservedTokens).toBeLessThanOrEqual(limit);
        }
        expect(root.snapshot().usedTokens).toBe(spent);
      }),
    );
  });
});
