import { cloneFrozenJson } from 'holdfast';
import {
  checkExpression,
  compileExpression,
  type ExpressionValues,
  flowExpressionScope,
} from 'holdfast/flow';
import { expect, test } from 'vitest';
import { codeOf } from './code-of.ts';

const scope = flowExpressionScope([]);

function evaluate(source: string, input: ExpressionValues['input']): unknown {
  return compileExpression(source, scope).evaluate(input === undefined ? {} : { input });
}

test.each([
  ['length', `"${'a'.repeat(4_096)}"`],
  ['parts', `[[${'1,'.repeat(600)}1], [${'1,'.repeat(600)}1]]`],
  ['items', `[${'1,'.repeat(1_100)}1]`],
  ['nesting of brackets', `${'('.repeat(300)}1${')'.repeat(300)}`],
  ['nesting of a chain', `1${' + 1'.repeat(200)}`],
  ['nesting of signs', `${'-'.repeat(2_000)}1`],
  ['nesting of macros', 'input.map(a, input.map(b, input.map(c, input.map(d, input.map(e, e)))))'],
])('the %s of a source are bounded', (_what, source) => {
  expect(checkExpression(source, 'value', scope)[0]?.code).toBe('EXPRESSION_LIMIT');
});

test('within the bounds it is accepted', () => {
  expect(evaluate(`1${' + 1'.repeat(120)}`, null)).toBe(121);
  expect(evaluate('input.map(a, input.map(b, input.map(c, input.map(d, d))))', [1])).toStrictEqual([
    [[[1]]],
  ]);
});

test('macros beside each other are not nested', () => {
  expect(evaluate(`[${'input.map(a, a), '.repeat(9)}1].size()`, [1])).toBe(10);
});

test('a nested macro over 2,000 x 2,000 items is refused', () => {
  const items = Array.from({ length: 2_000 }, (_, index) => index);
  const source = 'input.map(x, input.filter(y, y > x).size())';
  expect(codeOf(() => evaluate(source, items))).toBe('EXPRESSION_LIMIT');
});

test('a macro over 20,000 items is not', () => {
  const items = Array.from({ length: 20_000 }, (_, index) => index);
  expect(evaluate('input.filter(x, x % 2 == 0).size()', items)).toBe(10_000);
});

test('the bound is counted: the same evaluation is refused or accepted every time', () => {
  const fits = (count: number): boolean => {
    const items = Array.from({ length: count }, () => 1);
    return codeOf(() => evaluate('input.all(x, input.all(y, true))', items)) !== 'EXPRESSION_LIMIT';
  };
  let low = 1;
  let high = 2_000;
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (fits(middle)) low = middle;
    else high = middle;
  }
  expect(low).toBe(998);
});

test('text that doubles is refused', () => {
  const doubling = 'input.map(x, input.map(y, y + y + y + y + y + y + y + y))';
  const texts = Array.from({ length: 40 }, () => 'x'.repeat(10_000));
  expect(codeOf(() => evaluate(doubling, texts))).toBe('EXPRESSION_LIMIT');
});

const lists = (count: number) => Array.from({ length: count }, () => [1]);

test.each([
  ['input.a == input.b', true],
  ['input.a in [input.b]', true],
  ['[input.a, input.a].size()', 2],
  ['input.a.map(x, input.b).size()', 100],
])('values of a moderate size are walked: %s', (source, expected) => {
  expect(evaluate(source, { a: lists(100), b: lists(100) })).toBe(expected);
});

test.each([
  'input.a == input.b',
  'input.a in [input.b]',
  '[input.a, input.a, input.a]',
  '(input.a + input.a).size()',
  '(input.text + input.text + input.text) == ""',
  'input.text.size() + 1',
  '[input.text, input.text, input.text, input.text, input.text].join() == ""',
  'input.text.contains("y") || input.text.upperAscii() < "" || input.text == input.text.trim()',
])('values of a large size are refused, since walking them is paid for: %s', (source) => {
  const input = { a: lists(600_000), b: lists(600_000), text: 'x'.repeat(5_000_000) };
  expect(codeOf(() => evaluate(source, input))).toBe('EXPRESSION_LIMIT');
});

test('a frozen value is handed on without a copy, whatever its size', () => {
  const input = cloneFrozenJson(Array.from({ length: 1_500_000 }, () => 1));
  expect(evaluate('input', input as never)).toBe(input);
});

test('a value that contains itself ends in a typed error', () => {
  const loop: unknown[] = [];
  loop.push(loop);
  const twin: unknown[] = [];
  twin.push(twin);
  const values = { input: { loop, twin } } as unknown as ExpressionValues;
  for (const source of ['input.loop == input.twin', '[input.loop]']) {
    const compiled = compileExpression(source, scope);
    expect(codeOf(() => compiled.evaluate(values))).toMatch(/^EXPRESSION_(LIMIT|TYPE)$/);
  }
});
