/** GraphBindings: a required memory must be bound, an unused one must not. */
import type { GraphBindings, Memory } from 'holdfast';
import { expect, expectTypeOf, test } from 'vitest';

const memory: Memory = {
  scope: 'team',
  execute: async ({ command }) => ({ ok: true, command, value: null }),
};

test('the requirement decides over the binding, by type', () => {
  expectTypeOf<GraphBindings<{ readonly memory: 'required' }>>().toEqualTypeOf<{
    readonly memory: Memory;
  }>();
  const required: GraphBindings<{ readonly memory: 'required' }> = { memory };
  const unused: GraphBindings<{ readonly memory: 'unused' }> = {};
  // @ts-expect-error a required memory must be there
  const missing: GraphBindings<{ readonly memory: 'required' }> = {};
  // @ts-expect-error an unused memory must not be there
  const extra: GraphBindings<{ readonly memory: 'unused' }> = { memory };
  expect([required, unused, missing, extra].map((bindings) => 'memory' in bindings)).toEqual([
    true,
    false,
    false,
    true,
  ]);
});
