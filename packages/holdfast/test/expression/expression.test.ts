import {
  checkExpression,
  checkFlowExpression,
  compileCondition,
  compileExpression,
  compileList,
  ExpressionError,
  type ExpressionScope,
  type ExpressionValues,
  expressionReferences,
  flowExpressionScope,
} from 'holdfast/flow';
import { describe, expect, test } from 'vitest';
import { codeOf } from './code-of.ts';

const scope = flowExpressionScope(['ask', 'skipped-one']);
const values: ExpressionValues = {
  input: { s: 'hello', xs: [3, 1, 2], mixed: [1, 'a', null, { k: [1] }], m: { b: 1, a: 2 } },
  nodes: {
    ask: { output: { name: 'Ada', age: 36 }, status: 'succeeded' },
    'skipped-one': { output: null, status: 'skipped' },
  },
  loop: { iteration: 2 },
  run: { id: 'run-1' },
};

function evaluate(source: string): unknown {
  return compileExpression(source, scope).evaluate(values);
}

function errorOf(source: string): ExpressionError {
  try {
    evaluate(source);
  } catch (error) {
    if (error instanceof ExpressionError) return error;
  }
  throw new Error(`${source} was not refused`);
}

describe('values', () => {
  test.each([
    ['nodes["ask"].output.name', 'Ada'],
    ['nodes.ask.status', 'succeeded'],
    ['nodes["skipped-one"].output == null', true],
    ['nodes.ask.output == {"age": 36, "name": "Ada"}', true],
    ['nodes.ask.output != null', true],
    ['nodes.ask.output == {"name": "Ada"} || {"name": "Ada"} == nodes.ask.output', false],
    ['input.xs == [3, 1] || [3, 1] == input.xs || input.xs == [3, 1, 1]', false],
    ['loop.iteration < 3 && run.id == "run-1"', true],
    ['"a" in input.mixed && 1 in input.mixed && null in input.mixed', true],
    ['{"k": [1]} in input.mixed', true],
    ['"2" in input.mixed', false],
    ['"b" in input.m', true],
    ['"c" in input.m', false],
    ['input.xs.map(x, x * 2)', [6, 2, 4]],
    ['input.xs.map(x, x > 1, x * 2)', [6, 4]],
    ['input.xs.filter(x, x != 1)', [3, 2]],
    ['input.xs.all(x, x > 0)', true],
    ['input.xs.exists(x, x > 3)', false],
    ['input.xs.exists_one(x, x > 2)', true],
    ['input.xs.exists_one(x, x > 1)', false],
    ['input.m.map(key, key)', ['a', 'b']],
    ['input.xs.map(x, input.xs.filter(y, y < x).size())', [2, 0, 1]],
    ['input.xs.map(loop, loop)', [3, 1, 2]],
    ['[1] + ["a"]', [1, 'a']],
    ['"a" + "b"', 'ab'],
    ['{"a": {"b": [true]}}', { a: { b: [true] } }],
    ['"a,b".split(",").join("-")', 'a-b'],
    ['" x ".trim() + "Ab".upperAscii() + "Ab".lowerAscii()', 'xABab'],
    ['"hello".contains("ell") && "hello".startsWith("he") && "hello".endsWith("lo")', true],
    ['"hello".indexOf("l") + "hello".lastIndexOf("l")', 5],
    ['size("😀b") + "😀b".indexOf("b")', 3],
    ['"😀b".substring(0, 1)', '😀'],
    ['"😀b".split("")', ['😀', 'b']],
    ['r"\\d" + "\\n" + """x"y"""', '\\d\nx"y'],
    ['input.s == "hello" ? input.xs[0] : input.missing', 3],
    ['bool("true") && !bool("false")', true],
    ['1 + 1 // a comment', 2],
  ])('%s', (source, expected) => {
    expect(evaluate(source)).toStrictEqual(expected);
  });
});

describe('missing keys', () => {
  test.each([
    'input.missing',
    'input["missing"]',
    'input.missing == true',
    'input.missing || true',
    'nodes["skipped-one"].output.x',
    'input.xs[3]',
    'input.xs[-1]',
    'input.s.substring(9)',
    'input.s.substring(0, 9)',
    'input.s.substring(3, 2)',
    'input.s.substring(-1)',
    'input.s.substring(0.5)',
    'has(input.missing.deeper)',
  ])('%s is an error, never true', (source) => {
    expect(codeOf(() => evaluate(source))).toBe('EXPRESSION_MISSING_KEY');
  });

  test('a variable without a value in this run is one too', () => {
    const iteration = compileExpression('loop.iteration', scope);
    expect(codeOf(() => iteration.evaluate({ input: null }))).toBe('EXPRESSION_MISSING_KEY');
  });

  test.each([
    ['has(input.s)', true],
    ['has(input.missing)', false],
    ['has(input["missing"])', false],
    ['has(nodes["skipped-one"].output.x)', false],
    ['has(input.xs[2]) && !has(input.xs[3])', true],
    ['!has(input.missing) || input.missing > 1', true],
  ])('%s tests for it: %j', (source, expected) => {
    expect(evaluate(source)).toBe(expected);
  });
});

describe('refused in a run', () => {
  test.each([
    'input.xs[1.5]',
    'input.xs["0"]',
    'input.m[0]',
    'input.s + 1',
    'input.s < 1',
    'input.s && true',
    '!input.s',
    '-input.s',
    'input.s ? 1 : 2',
    '1 in input.s',
    'input.m in input.m',
    'input.s.map(x, x)',
    'input.xs.all(x, x)',
    'size(input.xs[0])',
    'input.xs.join()',
    'math.greatest(input.mixed)',
    'int(input.s)',
    'double("1_000")',
    'bool("yes")',
    '{input.s: 1, "hello": 2}',
    '{input.xs[0]: 1}',
  ])('%s has a wrong type', (source) => {
    expect(checkExpression(source, 'value', scope)).toStrictEqual([]);
    expect(codeOf(() => evaluate(source))).toBe('EXPRESSION_TYPE');
  });
});

describe('B88: an expression walks no prototype', () => {
  test.each([
    'input.__proto__',
    'input["__proto__"]',
    'input.constructor',
    'input.m.toString',
    'input.m.hasOwnProperty',
    'input.xs.map(x, input.constructor)',
    'nodes.ask.output.__proto__.constructor',
    'nodes.ask.output["constructor"]["prototype"]',
  ])('%s is a missing key', (source) => {
    expect(codeOf(() => evaluate(source))).toBe('EXPRESSION_MISSING_KEY');
  });

  test.each(['input.xs.length', 'input.xs["length"]', 'input.s.length', 'input.s[0]'])(
    '%s reads nothing of a list or text',
    (source) => {
      expect(codeOf(() => evaluate(source))).toBe('EXPRESSION_TYPE');
    },
  );

  test.each(['__proto__', 'constructor', 'globalThis', 'prototype', 'nodes.__proto__.output'])(
    '%s is no name',
    (source) => {
      expect(codeOf(() => evaluate(source))).toBe('EXPRESSION_UNKNOWN_NAME');
    },
  );

  test('has() does not see it, and an own key of that name is an ordinary key', () => {
    expect(evaluate('has(input.__proto__) || has(input.constructor)')).toBe(false);
    const own: ExpressionValues = { input: JSON.parse('{"__proto__": 1, "constructor": 2}') };
    const read = compileExpression('input.__proto__ + input.constructor', scope);
    expect(read.evaluate(own)).toBe(3);
    const made = evaluate('{"__proto__": 1}');
    expect(Object.keys(Object(made))).toStrictEqual(['__proto__']);
  });

  test('a class instance has no keys to read', () => {
    const date = compileExpression('input.getTime', scope);
    // A host that breaks the contract of JSON values must not open its objects to an expression.
    const broken = { input: new Date(0) } as unknown as ExpressionValues;
    expect(codeOf(() => date.evaluate(broken))).toBe('EXPRESSION_TYPE');
  });
});

describe('found before a run', () => {
  test.each([
    ['inptu.a', 'EXPRESSION_UNKNOWN_NAME', 1],
    ['1 + inptu.a', 'EXPRESSION_UNKNOWN_NAME', 5],
    ['nodes["nobody"].output', 'EXPRESSION_UNKNOWN_NAME', 1],
    ['nodes.nobody.output', 'EXPRESSION_UNKNOWN_NAME', 7],
    ['nodes.ask.outptu', 'EXPRESSION_UNKNOWN_NAME', 11],
    ['loop.iteratoin', 'EXPRESSION_UNKNOWN_NAME', 6],
    ['nodes[input.s].output', 'EXPRESSION_UNKNOWN_NAME', 1],
    ['size(nodes)', 'EXPRESSION_UNKNOWN_NAME', 6],
    ['input.xs.exists(nodes, true) && nodes == 1', 'EXPRESSION_UNKNOWN_NAME', 33],
    ['input.xs.map(x, y)', 'EXPRESSION_UNKNOWN_NAME', 17],
    ['input.xs.map(x, x) == x', 'EXPRESSION_UNKNOWN_NAME', 23],
    ['nosuch(1)', 'EXPRESSION_UNKNOWN_NAME', 1],
    ['input.s.matches("a+")', 'EXPRESSION_UNKNOWN_NAME', 1],
    ['timestamp("2020-01-01T00:00:00Z")', 'EXPRESSION_UNKNOWN_NAME', 1],
    ['now()', 'EXPRESSION_UNKNOWN_NAME', 1],
    ['1 + "a"', 'EXPRESSION_TYPE', 1],
    ['true && (1 + "a" == 2)', 'EXPRESSION_TYPE', 10],
    ['"a" == 1', 'EXPRESSION_TYPE', 1],
    ['input.a == (1 < "a")', 'EXPRESSION_TYPE', 13],
    ['!1', 'EXPRESSION_TYPE', 2],
    ['-"a"', 'EXPRESSION_TYPE', 2],
    ['1 && true', 'EXPRESSION_TYPE', 1],
    ['"a" ? 1 : 2', 'EXPRESSION_TYPE', 1],
    ['"a".b', 'EXPRESSION_TYPE', 5],
    ['[1]["a"]', 'EXPRESSION_TYPE', 1],
    ['{"a": 1}[1]', 'EXPRESSION_TYPE', 1],
    ['{1: "a"}', 'EXPRESSION_TYPE', 2],
    ['1 in {"a": 1}', 'EXPRESSION_TYPE', 1],
    ['1 in 2', 'EXPRESSION_TYPE', 1],
    ['(1).map(x, x)', 'EXPRESSION_TYPE', 2],
    ['input.xs.filter(x, 1)', 'EXPRESSION_TYPE', 20],
    ['input.xs.map(x, 1, 2)', 'EXPRESSION_TYPE', 17],
    ['size(1)', 'EXPRESSION_TYPE', 1],
    ['"a".substring()', 'EXPRESSION_TYPE', 1],
    ['1u', 'EXPRESSION_TYPE', 1],
    ['b"a"', 'EXPRESSION_TYPE', 1],
    ['1 +', 'EXPRESSION_SYNTAX', 4],
    ['1 + $', 'EXPRESSION_SYNTAX', 5],
    ['"abc', 'EXPRESSION_SYNTAX', 1],
    ['', 'EXPRESSION_SYNTAX', 1],
    ['has(input)', 'EXPRESSION_SYNTAX', 1],
    ['input.map(1, 2)', 'EXPRESSION_SYNTAX', 11],
    ['input.all(x, true, true)', 'EXPRESSION_SYNTAX', 1],
    ['"\ud83e"', 'EXPRESSION_SYNTAX', 1],
  ] as const)('%s is %s at column %i', (source, code, column) => {
    const [issue] = checkExpression(source, 'value', scope);
    expect([issue?.code, issue?.column]).toStrictEqual([code, column]);
    const thrown = errorOf(source);
    expect([thrown.code, thrown.column]).toStrictEqual([code, column]);
  });

  test('all problems are listed, and none is thrown', () => {
    const issues = checkExpression('foo + bar.x > 1 && nodes.zz.output == 2', 'condition', scope);
    expect(issues.map(({ column }) => column)).toStrictEqual([1, 7, 26]);
  });

  test('an expression that may be used has none', () => {
    expect(checkExpression('nodes.ask.output.age / 2 > 3', 'condition', scope)).toStrictEqual([]);
  });

  test.each([
    'input.xs.map(nodes, nodes.a)',
    'input.xs.map(loop, loop.any)',
    'input.xs.map(x, input.xs.map(y, x + y))',
    'has(input.any)',
    'input.loop + input["if"]',
    '// only loop\n1',
  ])('%s may be used', (source) => {
    expect(checkExpression(source, 'value', scope)).toStrictEqual([]);
  });

  test('a reserved word is an ordinary key, also after a comment', () => {
    const key = compileExpression('input. // the key\n loop', scope);
    expect(key.evaluate({ input: { loop: 1 } })).toBe(1);
  });

  test('the column is that of the original source, with reserved words in it', () => {
    expect(errorOf('loop.iteration + loop.iteration + oops').column).toBe(35);
    expect(errorOf('"loop" + \n  loop.iteration').line).toBe(1);
    const late = errorOf('true &&\n  nodes.ask.output.oops');
    expect([late.line, late.column]).toStrictEqual([2, 20]);
  });

  test('the error names the node, the field, the source and what to do', () => {
    const at = { nodeId: 'decide', field: '/expression' };
    const work = () => compileExpression('input.a + oops', scope, { at });
    expect(work).toThrow(/"oops".*line 1, column 11 of node "decide", field "\/expression"/);
    expect(work).toThrow(expect.objectContaining({ excerpt: 'input.a + oops', at }));
    const compiled = compileExpression('input.a', scope, { at: { edgeId: 'e1' } });
    expect(() => compiled.evaluate({ input: {} })).toThrow(/edge "e1".*Test with has\(\)/);
  });

  test('a long line is shown around the column only', () => {
    const error = errorOf(`${'1 + '.repeat(60)}oops${' + 1'.repeat(60)}`);
    expect(error.excerpt).toContain('oops');
    expect(error.excerpt.length).toBeLessThan(130);
  });
});

describe('kinds', () => {
  test('a condition gives a boolean, or is refused before or in a run', () => {
    expect(codeOf(() => compileCondition('1 + 1', scope))).toBe('EXPRESSION_TYPE');
    const condition = compileCondition('input.flag', scope);
    expect(condition.evaluate({ input: { flag: false } })).toBe(false);
    expect(codeOf(() => condition.evaluate({ input: { flag: 'true' } }))).toBe('EXPRESSION_TYPE');
    expect(codeOf(() => condition.evaluate({ input: { flag: null } }))).toBe('EXPRESSION_TYPE');
  });

  test('a list gives a list, or is refused', () => {
    expect(compileList('input', scope).evaluate({ input: [1] })).toStrictEqual([1]);
    expect(codeOf(() => compileList('input', scope).evaluate({ input: {} }))).toBe(
      'EXPRESSION_TYPE',
    );
    expect(checkExpression('"a"', 'list', scope)).toHaveLength(1);
  });
});

describe('references', () => {
  test.each([
    ['1 + input.a', []],
    ['nodes["b"].output + nodes.a.output + nodes["b"].status', ['b', 'a']],
    ['input.xs.map(x, nodes.deep.output + x)', ['deep']],
    ['input.xs.map(nodes, nodes.a)', []],
    ['nodes.a.output.map(nodes, nodes.b)', ['a']],
    ['has(nodes["a b"].output.x)', ['a b']],
    ['loop.nodes.a', []],
    ['"nodes.a"', []],
  ])('%s reads %j', (source, expected) => {
    expect(expressionReferences(source)).toStrictEqual(expected);
  });

  test('a compiled expression knows its own', () => {
    expect(compileExpression('nodes.ask.output', scope).references).toStrictEqual(['ask']);
  });
});

describe('the scope is data', () => {
  const state: ExpressionScope = { variables: new Set(['goal', 'package', 'nodes', 'loop']) };

  test('a state graph has its own names, reserved words of CEL among them', () => {
    const run = (source: string) =>
      compileExpression(source, state).evaluate({ goal: 'x', package: 1, nodes: [2], loop: 3 });
    expect(run('package + nodes[0] + loop')).toBe(6);
    expect(run('goal + "package"')).toBe('xpackage');
    expect(codeOf(() => run('input'))).toBe('EXPRESSION_UNKNOWN_NAME');
  });

  test('a flow expression knows its nodes, and whether it stands in a loop', () => {
    const nodeIds = new Set(['a']);
    const source = 'nodes.a.output > loop.iteration';
    expect(checkFlowExpression(source, 'condition', { nodeIds, inLoop: true })).toStrictEqual([]);
    const [issue] = checkFlowExpression(source, 'condition', { nodeIds, inLoop: false });
    expect([issue?.code, issue?.column]).toStrictEqual(['EXPRESSION_UNKNOWN_NAME', 23]);
    expect(checkFlowExpression('nodes.b', 'value', { nodeIds, inLoop: true })).toHaveLength(1);
  });

  test('what nodes have can be said', () => {
    const own: ExpressionScope = { ...state, nodeIds: new Set(['a']), nodeFields: ['result'] };
    expect(checkExpression('nodes.a.result', 'value', own)).toStrictEqual([]);
    expect(checkExpression('nodes.a.output', 'value', own)).toHaveLength(1);
  });
});

describe('inputs and results', () => {
  test('inputs are neither changed nor shared', () => {
    const inner = [1, 2];
    const before = { input: { inner } };
    const result = compileExpression('[input.inner, input.inner + [3]]', scope).evaluate(before);
    expect(before).toStrictEqual({ input: { inner: [1, 2] } });
    inner.push(9);
    expect(result).toStrictEqual([
      [1, 2],
      [1, 2, 3],
    ]);
    expect(Object.isFrozen(result)).toBe(true);
    expect(Object.isFrozen(inner)).toBe(false);
  });

  test('a result that is not JSON is refused', () => {
    const broken = { input: { big: 1n, nan: Number.NaN } } as unknown as ExpressionValues;
    for (const source of ['input.big', 'input.nan', '[input.big]', 'input']) {
      const compiled = compileExpression(source, scope);
      expect(codeOf(() => compiled.evaluate(broken))).toBe('EXPRESSION_TYPE');
    }
  });

  test('the order of keys in a value does not change a result', () => {
    const keys = compileExpression('input.map(k, k)', scope);
    expect(keys.evaluate({ input: { b: 1, a: 2 } })).toStrictEqual(['a', 'b']);
    const equal = compileExpression('input.x == input.y', scope);
    expect(equal.evaluate({ input: { x: { a: 1, b: 2 }, y: { b: 2, a: 1 } } })).toBe(true);
  });
});
