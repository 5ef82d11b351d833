import fc from 'fast-check';
import { flowPosition, parseFlowPosition, stepKey } from 'holdfast/flow';
import { expect, test } from 'vitest';

const nodeId = fc.oneof(
  fc.string({ minLength: 1 }),
  fc.stringMatching(/^[#/a1]{1,8}$/),
  fc.constantFrom('a#1', 'a#1/2', 'flow/a#1', '#', '/', '__proto__', '🚀', 'a\nb'),
);

test('a position is parsed back to exactly the occurrence it was made of', () => {
  fc.assert(
    fc.property(nodeId, fc.integer({ min: 1 }), fc.integer({ min: 1 }), (id, runs, attempt) => {
      const position = flowPosition(id, runs, attempt);
      expect(parseFlowPosition(position)).toEqual({ nodeId: id, runs, attempt });
    }),
  );
});

test('positions and step keys read as the seed writes them', () => {
  expect(stepKey('charge', 2)).toBe('charge#2');
  expect(flowPosition('charge', 2)).toBe('flow/charge#2');
  expect(flowPosition('charge', 2, 3)).toBe('flow/charge#2/3');
});

test.each(['charge#2', 'flow/charge', 'flow/#1', 'flow/a#0', 'flow/a#01', 'undo/flow/a#1'])(
  '%s is no flow position',
  (text) => {
    expect(parseFlowPosition(text)).toBeNull();
  },
);
