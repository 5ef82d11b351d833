/** Commands: seed 003, "Implement GraphType". */
import { type GraphCommand, validateDecision } from 'holdfast/graph';
import { expect, test } from 'vitest';
import { issuesOf } from './issues.ts';

const isNode = (nodeId: string): boolean => nodeId === 'one' || nodeId === 'two';
const dispatch = { kind: 'dispatch', nodeId: 'one', input: {}, position: 'p' };
const issuesIn = (decision: unknown): readonly string[] =>
  issuesOf(() => validateDecision(decision, isNode)).map((issue) =>
    issue.replace('INVALID_GRAPH_COMMAND ', ''),
  );

const allowed: readonly (readonly [string, readonly unknown[]])[] = [
  ['nothing', []],
  ['a dispatch', [dispatch]],
  ['one node twice at different positions', [dispatch, { ...dispatch, position: 'q' }]],
  ['a delayed retry', [{ ...dispatch, delayMs: 0, retryOf: 'first' }]],
  ['the longest position', [{ ...dispatch, position: 'é'.repeat(512) }]],
  ['a pause', [{ kind: 'pause', reason: 'no one is here' }]],
  ['a completion with null', [{ kind: 'complete', output: null }]],
  ['a failure', [{ kind: 'fail', code: 'NO', message: 'It did not work.' }]],
];

test.each(allowed)('%s is allowed and comes back frozen', (_title, decision) => {
  const valid: readonly GraphCommand[] = validateDecision(decision, isNode);
  expect(valid).toEqual(decision);
  expect(Object.isFrozen(valid)).toBe(true);
  for (const command of valid) expect(Object.isFrozen(command)).toBe(true);
  expect(validateDecision(valid, isNode)).toBe(valid);
});

const refused: readonly (readonly [string, unknown, readonly string[]])[] = [
  ['no array', dispatch, ['']],
  ['undefined', undefined, ['']],
  ['no command', ['dispatch', null], ['/0', '/1']],
  ['an unknown kind', [{ kind: 'wait' }], ['/0/kind']],
  ['an unknown node', [{ ...dispatch, nodeId: 'three' }], ['/0/nodeId']],
  ['a node id that is no text', [{ ...dispatch, nodeId: 1 }], ['/0/nodeId']],
  ['an extra field', [{ ...dispatch, priority: 1 }], ['/0/priority']],
  ['missing fields', [{ kind: 'dispatch' }], ['/0/nodeId', '/0/input', '/0/position']],
  ['a blank position', [{ ...dispatch, position: ' ' }], ['/0/position']],
  [
    'a position of 1,025 bytes',
    [{ ...dispatch, position: `${'é'.repeat(512)}x` }],
    ['/0/position'],
  ],
  ['a control character', [{ ...dispatch, position: 'a\nb' }], ['/0/position']],
  ['a negative delay', [{ ...dispatch, delayMs: -1 }], ['/0/delayMs']],
  ['half a millisecond', [{ ...dispatch, delayMs: 0.5 }], ['/0/delayMs']],
  ['a retry of nothing', [{ ...dispatch, retryOf: '' }], ['/0/retryOf']],
  ['a delay on a pause', [{ kind: 'pause', reason: 'r', delayMs: 1 }], ['/0/delayMs']],
  ['a pause without a reason', [{ kind: 'pause', reason: '' }], ['/0/reason']],
  ['a failure without texts', [{ kind: 'fail', code: '', message: 1 }], ['/0/code', '/0/message']],
  ['a completion without output', [{ kind: 'complete' }], ['/0/output']],
  ['an input that is no JSON', [{ ...dispatch, input: { at: new Date(0) } }], ['/0/input/at']],
  ['the same position twice', [dispatch, { ...dispatch, nodeId: 'two' }], ['/1/position']],
  ['an end among others', [dispatch, { kind: 'complete', output: 1 }], ['/1']],
  [
    'two ends',
    [
      { kind: 'pause', reason: 'r' },
      { kind: 'pause', reason: 's' },
    ],
    ['/0', '/1'],
  ],
];

test.each(refused)('%s is refused with its place', (_title, decision, paths) => {
  expect(issuesIn(decision)).toEqual(paths);
});
