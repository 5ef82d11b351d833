/** Whatever the source and the values: out comes JSON or a typed error, and always the same. */
import { Environment } from '@marcbachmann/cel-js';
import fc from 'fast-check';
import { canonicalJson } from 'holdfast';
import {
  checkExpression,
  compileExpression,
  compileTemplate,
  ExpressionError,
  type ExpressionValues,
  expressionReferences,
  flowExpressionScope,
} from 'holdfast/flow';
import { expect, test } from 'vitest';

const scope = flowExpressionScope(['a', 'b c']);

const fragments = fc.constantFrom(
  ...['input', 'nodes', 'loop', 'run', '.a', '["b c"]', '.output', '.iteration', '.size()', 'x'],
  ...['+', '-', '*', '/', '%', '==', '!=', '<', '>=', '&&', '||', '!', '?', ':', ' in ', '.', ','],
  ...['(', ')', '[', ']', '{', '}', '{{', '}}', '\\', '"', "'", '"""', 'r"', '//', '\n', ' '],
  ...['1', '0', '2.5', '1e400', '0x1', '9007199254740993', '1u', 'b"q"', '"s"', 'true', 'null'],
  ...['.map(x, ', '.filter(x, ', '.all(x, ', '.exists_one(x,', 'has(', 'size(', 'string(', 'int('],
  ...['__proto__', '.constructor', 'cel.bind(x, 1, ', 'math.floor('],
  ...['\ud83e', '\u0000', '😀', 'é'],
);

const sources = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.array(fragments, { maxLength: 14 }).map((parts) => parts.join('')),
);

/** What `work` gives as text, or the code of its error; anything untyped fails the test. */
function outcome(work: () => unknown): string {
  try {
    return canonicalJson(work());
  } catch (error) {
    if (error instanceof ExpressionError) {
      expect(error.column).toBeGreaterThan(0);
      expect(error.message.length).toBeLessThan(1_000);
      return error.code;
    }
    throw error;
  }
}

test('random sources never throw anything but an ExpressionError, and are deterministic', () => {
  fc.assert(
    fc.property(sources, fc.jsonValue(), (source, input) => {
      const json = JSON.parse(JSON.stringify(input));
      const before = canonicalJson(json);
      const values: ExpressionValues = { input: json, nodes: { a: { output: json, status: 's' } } };
      for (const compile of [compileExpression, compileTemplate]) {
        const work = () => compile(source, scope).evaluate(values);
        expect(outcome(work)).toBe(outcome(work));
      }
      expect(canonicalJson(json)).toBe(before);
      outcome(() => expressionReferences(source));
    }),
    { numRuns: 5_000 },
  );
});

test('checking and compiling agree', () => {
  fc.assert(
    fc.property(sources, (source) => {
      const [issue] = checkExpression(source, 'value', scope);
      const compiled = outcome(() => compileExpression(source, scope).source.length);
      expect(compiled).toBe(issue === undefined ? `${source.length}` : issue.code);
      const [inTemplate] = checkExpression(source, 'template', scope);
      const template = outcome(() => compileTemplate(source, scope).source.length);
      expect(template).toBe(inTemplate === undefined ? `${source.length}` : inTemplate.code);
    }),
    { numRuns: 2_000 },
  );
});

/*
 * The parser's own evaluator as an oracle, on the part of the language where both mean the same:
 * every number written as a double, lists of one type, no errors to absorb.
 */
const oracle = new Environment()
  .registerVariable('n', 'double')
  .registerVariable('s', 'string')
  .registerVariable('xs', 'list<double>');

const same = { variables: new Set(['n', 's', 'xs']) };
const known: ExpressionValues = { n: 2.5, s: 'hello', xs: [3, 1, 2] };

type Typed = { number: string; text: string; flag: string; list: string };

const grammar = fc.letrec<Typed>((tie) => ({
  number: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom('n', '0.0', '1.0', '7.0', '2.5'),
    fc.tuple(tie('number'), fc.constantFrom('+', '-', '*'), tie('number')).map(parenthesized),
    tie('number').map((number) => `-(${number})`),
    fc.tuple(tie('flag'), tie('number'), tie('number')).map(chosen),
    tie('text').map((text) => `double(size(${text}))`),
    tie('list').map((list) => `double(${list}.size())`),
  ),
  text: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom('s', '"a"', '"😀b"', '""', "'l'"),
    fc.tuple(tie('text'), fc.constant('+'), tie('text')).map(parenthesized),
    fc.tuple(tie('flag'), tie('text'), tie('text')).map(chosen),
    tie('text').map((text) => `${text}.upperAscii().trim()`),
  ),
  flag: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom('true', 'false'),
    fc
      .tuple(tie('number'), fc.constantFrom('<', '<=', '>', '>=', '==', '!='), tie('number'))
      .map(parenthesized),
    fc.tuple(tie('text'), fc.constantFrom('<', '==', '!='), tie('text')).map(parenthesized),
    fc.tuple(tie('flag'), fc.constantFrom('&&', '||', '=='), tie('flag')).map(parenthesized),
    tie('flag').map((flag) => `!(${flag})`),
    fc.tuple(tie('text'), tie('text')).map(([a, b]) => `${a}.contains(${b})`),
    fc.tuple(tie('number'), tie('list')).map(([a, b]) => `(${a} in ${b})`),
    fc.tuple(tie('list'), tie('list')).map(([a, b]) => `(${a} == ${b})`),
    fc
      .tuple(tie('list'), fc.constantFrom('all', 'exists', 'exists_one'), tie('flag'))
      .map(([list, macro, flag]) => `${list}.${macro}(v, v > 1.0 && ${flag})`),
  ),
  list: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom('xs', '[1.0]', '[3.0, 1.0, 2.0]'),
    fc.array(tie('number'), { minLength: 1, maxLength: 3 }).map((items) => `[${items.join(', ')}]`),
    fc.tuple(tie('list'), fc.constant('+'), tie('list')).map(parenthesized),
    fc
      .tuple(tie('list'), tie('number'))
      .map(([list, number]) => `${list}.filter(v, v < ${number})`),
  ),
}));

function parenthesized([left, operator, right]: readonly [string, string, string]): string {
  return `(${left} ${operator} ${right})`;
}

function chosen([flag, whenTrue, whenFalse]: readonly [string, string, string]): string {
  return `(${flag} ? ${whenTrue} : ${whenFalse})`;
}

test('where CEL and this language mean the same, they give the same', () => {
  const { number, text, flag, list } = grammar;
  let compared = 0;
  fc.assert(
    fc.property(fc.oneof(number, text, flag, list), (source) => {
      const [issue] = checkExpression(source, 'value', same);
      // Some are larger than an expression may be; nothing else may be refused.
      expect(issue === undefined || issue.code === 'EXPRESSION_LIMIT').toBe(true);
      if (issue !== undefined) return;
      compared += 1;
      const given = compileExpression(source, same).evaluate(known);
      expect(given).toStrictEqual(expectedOf(source));
    }),
    { numRuns: 2_000 },
  );
  expect(compared).toBeGreaterThan(1_000);
});

function expectedOf(source: string): unknown {
  const value: unknown = oracle.evaluate(source, { n: 2.5, s: 'hello', xs: [3, 1, 2] });
  // JSON has no -0.
  return JSON.parse(JSON.stringify(value));
}
