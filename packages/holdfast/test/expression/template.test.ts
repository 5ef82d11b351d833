import fc from 'fast-check';
import {
  checkExpression,
  checkTemplateValue,
  compileTemplate,
  compileTemplateValue,
  ExpressionError,
  type ExpressionValues,
  flowExpressionScope,
} from 'holdfast/flow';
import { describe, expect, test } from 'vitest';
import { codeOf } from './code-of.ts';

const scope = flowExpressionScope(['ask', 'b']);
const values: ExpressionValues = {
  input: { n: 7, xs: [3, 1], o: { b: 1, a: null }, s: 'text', none: null, yes: true },
  nodes: { ask: { output: { name: 'Ada' }, status: 'succeeded' }, b: { output: 2, status: 'x' } },
};

function render(text: string): unknown {
  return compileTemplate(text, scope).evaluate(values);
}

function errorOf(work: () => unknown): ExpressionError {
  try {
    work();
  } catch (error) {
    if (error instanceof ExpressionError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

describe('templates', () => {
  test.each([
    ['Hello {{ nodes["ask"].output.name }}', 'Hello Ada'],
    ['{{ input.xs }}', [3, 1]],
    ['{{input.n}}', 7],
    ['{{ input.none }}', null],
    ['{{ input.yes }}', true],
    [' {{ input.n }}', ' 7'],
    ['{{ input.n }}{{ input.s }}', '7text'],
    ['[{{ input.none }}] {{ input.yes }} {{ input.n / 2 }}', '[] true 3.5'],
    ['{{ input.xs }} {{ input.o }}', '[3,1] {"a":null,"b":1}'],
    ['plain', 'plain'],
    ['', ''],
    ['a } b }} c { d', 'a } b }} c { d'],
    ['{{ "}}" }}', '}}'],
    ["{{ '{{' }}!", '{{!'],
    ['{{ {"a": {"b": 1}} }}', { a: { b: 1 } }],
    ['{{ {"a": {"b": 1}}.a.b }}x', '1x'],
    ['{{ """ }} " """ }}', ' }} " '],
    ['{{ "\\"}}" }}', '"}}'],
    ['\\{{ input.n }}', '{{ input.n }}'],
    ['\\\\{{ input.n }}', '\\7'],
    ['\\\\\\{{ input.n }}', '\\{{ input.n }}'],
    ['C:\\dir\\{{{{ input.s }}', 'C:\\dir{{text'],
    ['a\n{{ input.n }}\nb', 'a\n7\nb'],
  ])('%j renders %j', (text, expected) => {
    expect(render(text)).toStrictEqual(expected);
  });

  test('what it reads is known, each node once', () => {
    const text = '{{ nodes.b.output }} {{ nodes.ask.output }} {{ nodes.b.status }} {{ "nodes.c" }}';
    expect(compileTemplate(text, scope).references).toStrictEqual(['b', 'ask']);
  });

  test.each([
    ['Hi {{ inputt.n }}', 'EXPRESSION_UNKNOWN_NAME', 1, 7],
    ['line\nnext {{ 1 + }}', 'EXPRESSION_SYNTAX', 2, 13],
    ['ab {{ input.n', 'EXPRESSION_SYNTAX', 1, 4],
    ['{{ }}', 'EXPRESSION_SYNTAX', 1, 3],
    ['{{ input.n }} {{ nodes.zz.output }}', 'EXPRESSION_UNKNOWN_NAME', 1, 24],
    ['{{ 1 + "a" }}', 'EXPRESSION_TYPE', 1, 4],
    ['half \ud83e', 'EXPRESSION_SYNTAX', 1, 1],
  ] as const)('%j is %s at %i:%i', (text, code, line, column) => {
    const error = errorOf(() => compileTemplate(text, scope));
    expect([error.code, error.line, error.column]).toStrictEqual([code, line, column]);
    const [issue] = checkExpression(text, 'template', scope);
    expect([issue?.code, issue?.line, issue?.column]).toStrictEqual([code, line, column]);
  });

  test('an error in a run is placed in the whole template', () => {
    const template = compileTemplate('one {{ input.n }} two {{ input.zz }}', scope);
    const error = errorOf(() => template.evaluate(values));
    expect([error.code, error.column]).toStrictEqual(['EXPRESSION_MISSING_KEY', 32]);
  });

  test('all problems of a template are listed', () => {
    const issues = checkExpression('{{ a }} {{ 1 + }} {{ input.n }} {{ b }}', 'template', scope);
    expect(issues.map(({ column }) => column)).toStrictEqual([4, 16, 36]);
  });

  test('its length, its places and what it renders are bounded', () => {
    expect(codeOf(() => compileTemplate('x'.repeat(262_145), scope))).toBe('EXPRESSION_LIMIT');
    expect(codeOf(() => compileTemplate('{{1}}'.repeat(257), scope))).toBe('EXPRESSION_LIMIT');
    const long = compileTemplate('{{ input }}'.repeat(5), scope);
    expect(codeOf(() => long.evaluate({ input: 'x'.repeat(1_000_000) }))).toBe('EXPRESSION_LIMIT');
  });

  test('its places share one budget', () => {
    const items = Array.from({ length: 600 }, () => 1);
    const once = '{{ input.all(x, input.all(y, true)) }}';
    expect(compileTemplate(once, scope).evaluate({ input: items })).toBe(true);
    const thrice = compileTemplate(once.repeat(3), scope);
    expect(codeOf(() => thrice.evaluate({ input: items }))).toBe('EXPRESSION_LIMIT');
  });

  test('any text can be written as a literal', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('{', '}', '\\', 'a', '"', '\n') }), (text) => {
        const escaped = text.replaceAll(/(\\*)\{\{/g, (_, slashes) => `${slashes}${slashes}\\{{`);
        expect(render(escaped)).toBe(text);
      }),
      { numRuns: 500 },
    );
  });
});

describe('template values', () => {
  const config = {
    to: '{{ nodes["ask"].output.name }}',
    body: ['Hi {{ input.s }}', 3, null, { deep: '{{ input.xs }}' }],
    '{{ key }}': 'keys stay',
  };

  test('every string of a value is a template', () => {
    const compiled = compileTemplateValue(config, scope);
    expect(compiled.references).toStrictEqual(['ask']);
    const filled = compiled.evaluate(values);
    expect(filled).toStrictEqual({
      to: 'Ada',
      body: ['Hi text', 3, null, { deep: [3, 1] }],
      '{{ key }}': 'keys stay',
    });
    expect(Object.isFrozen(filled)).toBe(true);
  });

  test('the error names the field', () => {
    const at = { nodeId: 'mail', field: '/config' };
    const broken = { 'a/b': ['ok', { c: 'x {{ oops }}' }] };
    const error = errorOf(() => compileTemplateValue(broken, scope, { at }));
    expect(error.at).toStrictEqual({ nodeId: 'mail', field: '/config/a~1b/1/c' });
    expect(error.column).toBe(6);
    const issues = checkTemplateValue({ x: '{{ a }}', y: '{{ ', z: '{{ b }}' }, scope);
    expect(issues.map((issue) => issue.at.field)).toStrictEqual(['/x', '/y', '/z']);
  });

  test('a later change of the config changes nothing', () => {
    const mutable = { a: ['x {{ input.n }}', 'plain'] };
    const compiled = compileTemplateValue(mutable, scope);
    mutable.a[1] = 'changed';
    expect(compiled.evaluate(values)).toStrictEqual({ a: ['x 7', 'plain'] });
  });

  test('a key such as __proto__ stays an ordinary key', () => {
    const parsed = JSON.parse('{"__proto__": "{{ input.n }}"}');
    const filled = compileTemplateValue(parsed, scope).evaluate(values);
    expect(JSON.stringify(filled)).toBe('{"__proto__":7}');
  });

  test('what is not JSON is refused', () => {
    expect(codeOf(() => compileTemplateValue(new Date(0) as never, scope))).toBe(
      'INVALID_JSON_VALUE',
    );
  });
});
