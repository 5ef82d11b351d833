import fc from 'fast-check';
import {
  compileExpression,
  type ExpressionScope,
  type ExpressionValues,
  flowExpressionScope,
} from 'holdfast/flow';
import { expect, test } from 'vitest';
import { codeOf } from './code-of.ts';

const scope: ExpressionScope = flowExpressionScope([]);
const input = { score: 7, count: 4, xs: [3, 1, 2], s: 'hello', o: { n: 5 } };

function evaluate(source: string, values: ExpressionValues = { input }): unknown {
  return compileExpression(source, scope).evaluate(values);
}

test.each([
  ['input.score / 2', 3.5],
  ['input.count % 2 == 0', true],
  ['input.score % 2', 1],
  ['7 / 2', 3.5],
  ['7 / 2 * 2', 7],
  ['input.score in [1, 7]', true],
  ['input.score in [1, 2.5]', false],
  ['input.xs.size() / 2', 1.5],
  ['size(input.xs) / input.xs.size()', 1],
  ['input.xs[0] + 1', 4],
  ['input.xs[input.xs.size() - 1]', 2],
  ['[10, 20, 30][1]', 20],
  ['input.s.substring(1)', 'ello'],
  ['input.s.substring(1, 3)', 'el'],
  ['input.s.substring(input.xs[2])', 'llo'],
  ['input.o.n / 2', 2.5],
  ['-input.o.n - -1', -4],
  ['0xFF + 1', 256],
  ['1.5e3', 1500],
  ['int(7.9) / 2', 3.5],
  ['int("-12")', -12],
  ['int(-1.5)', -1],
  ['double("2.5") + 1', 3.5],
  ['string(3)', '3'],
  ['string(input.score / 2)', '3.5'],
  ['math.floor(7 / 2) + math.ceil(0.5) + math.abs(-2)', 6],
  ['math.round(2.5) + math.round(-2.5) + math.trunc(-1.9)', -1],
  ['math.greatest(1, 3, 2) - math.least(input.xs)', 2],
])('%s gives %j', (source, expected) => {
  expect(evaluate(source)).toStrictEqual(expected);
});

test.each(['1 / 0', '0 / 0', 'input.score % 0', '1e308 * 10', '-(1e308) * 10 < 0'])(
  '%s is refused as not finite',
  (source) => {
    expect(codeOf(() => evaluate(source))).toBe('EXPRESSION_NOT_FINITE');
  },
);

test('an integer literal that no double holds is refused, not rounded', () => {
  expect(codeOf(() => evaluate('9007199254740993'))).toBe('EXPRESSION_TYPE');
  expect(evaluate('9007199254740992')).toBe(9_007_199_254_740_992);
});

test('zero has no sign in a result', () => {
  expect(Object.is(evaluate('-0'), 0)).toBe(true);
  expect(Object.is(evaluate('[0 * -1][0]'), 0)).toBe(true);
});

/** An expression beside what JavaScript makes of it; `value` is NaN once anything overflowed. */
interface Sum {
  readonly source: string;
  readonly value: number;
}

const variables = { a: 3, b: -0.5, c: 1e300, d: 0, e: 41 };

const leaf: fc.Arbitrary<Sum> = fc.oneof(
  fc.integer({ min: 0, max: 1000 }).map((value) => ({ source: `${value}`, value })),
  fc.double({ min: 0, max: 1e6, noNaN: true }).map((value) => ({ source: `${value}`, value })),
  fc
    .constantFrom(...Object.entries(variables))
    .map(([name, value]) => ({ source: `input.${name}`, value })),
);

const operators: Readonly<Record<string, (a: number, b: number) => number>> = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '/': (a, b) => a / b,
  '%': (a, b) => a % b,
};

const { sum } = fc.letrec<{ sum: Sum }>((tie) => ({
  sum: fc.oneof(
    { maxDepth: 5 },
    leaf,
    tie('sum').map(({ source, value }) => ({ source: `-(${source})`, value: -value })),
    fc
      .tuple(tie('sum'), fc.constantFrom(...Object.entries(operators)), tie('sum'))
      .map(([left, [sign, apply], right]) => {
        const value = apply(left.value, right.value);
        return {
          source: `(${left.source}) ${sign} (${right.source})`,
          value: Number.isFinite(value) ? value : Number.NaN,
        };
      }),
  ),
}));

test('arithmetic is that of JavaScript doubles, and refused where it leaves them', () => {
  fc.assert(
    fc.property(sum, ({ source, value }) => {
      if (Number.isNaN(value)) {
        expect(codeOf(() => evaluate(source, { input: variables }))).toBe('EXPRESSION_NOT_FINITE');
      } else {
        expect(evaluate(source, { input: variables })).toBe(value === 0 ? 0 : value);
      }
    }),
    { numRuns: 1000 },
  );
});

test('comparison is that of JavaScript doubles', () => {
  const pair = fc.tuple(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.integer());
  fc.assert(
    fc.property(pair, ([a, b]) => {
      const source =
        '[input.a < input.b, input.a <= input.b, input.a > input.b, input.a == input.b]';
      expect(evaluate(source, { input: { a, b } })).toStrictEqual([a < b, a <= b, a > b, a === b]);
    }),
  );
});
