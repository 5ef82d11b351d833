import {
  branchesOf,
  configSources,
  isNodeType,
  nodeTypes,
  outputsOf,
  type TypedNode,
  validateConfig,
} from 'holdfast/flow';
import { describe, expect, test } from 'vitest';

const fullest: readonly TypedNode[] = [
  { type: 'trigger', config: {} },
  {
    type: 'task',
    config: {
      function: 'charge',
      input: { amount: '{{ input.amount }}', list: ['{{ input.a }}', 1, null] },
      retry: { max: 3, delayMs: 0, factor: 1.5, maxDelayMs: 10 },
      timeoutMs: 1,
      graceMs: 0,
      retrySafe: true,
      largeResult: 'artifact',
      undo: { function: 'refund', input: '{{ nodes["t"].output }}' },
    },
  },
  { type: 'control.condition', config: { expression: 'input.big' } },
  {
    type: 'control.switch',
    config: {
      cases: [
        { output: 'eu', expression: 'input.eu' },
        { output: 'us', expression: 'input.us' },
        { output: 'eu', expression: 'input.ch' },
      ],
      otherwise: 'rest',
    },
  },
  { type: 'control.loop', config: { maxIterations: 0, while: 'input.again' } },
  {
    type: 'control.map',
    config: {
      items: 'input.list',
      function: 'each',
      maxConcurrency: 1,
      retrySafe: false,
      onError: 'collect',
    },
  },
  {
    type: 'approval',
    config: { prompt: 'Ship {{ input.id }}?', deadlineMs: 1, onDeadline: 'fail' },
  },
  { type: 'delay', config: { delayMs: 0 } },
  { type: 'signal', config: { name: 'paid', deadlineMs: 1 } },
  { type: 'subflow', config: { flow: 'child', input: ['{{ input.x }}'] } },
  { type: 'end', config: {} },
  { type: 'continue-as-new', config: { input: '{{ input.n }}' } },
];

const node = (type: TypedNode['type'], config: object = {}) => ({ type, config: { ...config } });

test('every type accepts its fullest configuration', () => {
  expect(fullest.map(({ type }) => type)).toEqual([...nodeTypes]);
  for (const { type, config } of fullest)
    expect([type, validateConfig(type, config)]).toEqual([type, []]);
});

describe('outputs', () => {
  test.each([
    ['trigger', ['out'], ['out']],
    ['task', ['out'], ['out', 'error']],
    ['control.condition', ['true', 'false'], ['true', 'false']],
    ['control.loop', ['body', 'done'], ['body', 'done']],
    ['control.map', ['out'], ['out', 'error']],
    ['approval', ['approved', 'rejected'], ['approved', 'rejected']],
    ['delay', ['out'], ['out']],
    ['signal', ['out', 'timeout'], ['out', 'timeout']],
    ['subflow', ['out'], ['out', 'error']],
    ['end', [], []],
    ['continue-as-new', [], []],
  ] as const)('%s', (type, branches, outputs) => {
    expect(branchesOf(node(type))).toEqual(branches);
    expect(outputsOf(node(type))).toEqual(outputs);
  });

  test('a switch has those that its cases name, each once, and otherwise', () => {
    const config = fullest.find(({ type }) => type === 'control.switch')?.config ?? {};
    expect(outputsOf(node('control.switch', config))).toEqual(['eu', 'us', 'rest']);
    expect(outputsOf(node('control.switch', { cases: 'none' }))).toEqual([]);
  });

  test('unknown types have none, not even inherited names', () => {
    expect(isNodeType('constructor')).toBe(false);
    expect(outputsOf({ type: 'toString', config: {} })).toEqual([]);
  });
});

describe('validateConfig', () => {
  test.each([
    ['task', {}, 'MISSING_FIELD', '/function'],
    ['task', { function: '' }, 'INVALID_FIELD', '/function'],
    ['task', { function: 'f', retries: 3 }, 'UNKNOWN_FIELD', '/retries'],
    ['task', { function: 'f', retry: { max: -1 } }, 'INVALID_FIELD', '/retry/max'],
    ['task', { function: 'f', retry: { max: 1.5 } }, 'INVALID_FIELD', '/retry/max'],
    ['task', { function: 'f', retry: { max: 1, factor: 0.5 } }, 'INVALID_FIELD', '/retry/factor'],
    ['task', { function: 'f', timeoutMs: 0 }, 'INVALID_FIELD', '/timeoutMs'],
    ['task', { function: 'f', graceMs: -1 }, 'INVALID_FIELD', '/graceMs'],
    ['task', { function: 'f', largeResult: 'refuse' }, 'INVALID_FIELD', '/largeResult'],
    ['task', { function: 'f', retrySafe: 'yes' }, 'INVALID_FIELD', '/retrySafe'],
    ['task', { function: 'f', undo: {} }, 'MISSING_FIELD', '/undo/function'],
    ['control.condition', { expression: 1 }, 'INVALID_FIELD', '/expression'],
    ['control.switch', { cases: [] }, 'INVALID_FIELD', '/cases'],
    ['control.switch', { cases: [{ output: 'a' }] }, 'MISSING_FIELD', '/cases/0/expression'],
    [
      'control.switch',
      { cases: [{ output: 'error', expression: 'x' }] },
      'INVALID_FIELD',
      '/cases',
    ],
    ['control.loop', { maxIterations: Number.NaN }, 'INVALID_FIELD', '/maxIterations'],
    ['control.map', { items: 'a', function: 'f', onError: 'skip' }, 'INVALID_FIELD', '/onError'],
    [
      'control.map',
      { items: 'a', function: 'f', maxConcurrency: 0 },
      'INVALID_FIELD',
      '/maxConcurrency',
    ],
    ['approval', { prompt: '?', onDeadline: 'approved' }, 'INVALID_FIELD', '/onDeadline'],
    ['delay', { delayMs: 1e15 }, 'INVALID_FIELD', '/delayMs'],
    ['trigger', { cron: '* * * * *' }, 'UNKNOWN_FIELD', '/cron'],
    ['end', null, 'INVALID_FIELD', ''],
    ['nothing', {}, 'INVALID_FIELD', ''],
  ])('%s %j: %s at %s', (type, config, code, path) => {
    const issues = validateConfig(type, config);
    expect(issues.map((issue) => [issue.code, issue.path])).toEqual([[code, path]]);
  });

  test('tells everything at once', () => {
    const issues = validateConfig('task', { timeoutMs: -1, x: 1 });
    expect(issues.map((issue) => issue.path)).toEqual(['/x', '/function', '/timeoutMs']);
  });
});

test('configSources finds every expression and template with its place', () => {
  const found = fullest.flatMap(({ type, config }) =>
    configSources(node(type, config)).map(({ kind, source, path }) => [type, kind, path, source]),
  );
  expect(found).toEqual([
    ['task', 'template', '/input/amount', '{{ input.amount }}'],
    ['task', 'template', '/input/list/0', '{{ input.a }}'],
    ['task', 'template', '/undo/input', '{{ nodes["t"].output }}'],
    ['control.condition', 'condition', '/expression', 'input.big'],
    ['control.switch', 'condition', '/cases/0/expression', 'input.eu'],
    ['control.switch', 'condition', '/cases/1/expression', 'input.us'],
    ['control.switch', 'condition', '/cases/2/expression', 'input.ch'],
    ['control.loop', 'condition', '/while', 'input.again'],
    ['control.map', 'list', '/items', 'input.list'],
    ['approval', 'template', '/prompt', 'Ship {{ input.id }}?'],
    ['signal', 'template', '/name', 'paid'],
    ['subflow', 'template', '/input/0', '{{ input.x }}'],
    ['continue-as-new', 'template', '/input', '{{ input.n }}'],
  ]);
});
