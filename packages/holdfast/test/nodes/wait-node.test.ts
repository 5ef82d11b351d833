/** How long a wait may be. */
import { waitNode } from 'holdfast';
import { createMemoryRunStorage } from 'holdfast/storage/memory';
import { expect, test } from 'vitest';
import { worldOf } from '../executor/world.ts';

const HUNDRED_YEARS = 3_155_760_000_000;

test.each([HUNDRED_YEARS + 1, 9e15, -1, 1.5, Number.POSITIVE_INFINITY, Number.NaN, '5' as never])(
  'a deadline of %d ms is refused when the node is bound',
  (deadlineMs) => {
    expect(() => waitNode({ kind: 'signal', name: 's', deadlineMs })).toThrow(
      expect.objectContaining({
        code: 'INVALID_OPTION',
        message: expect.stringContaining(`from 0 to ${HUNDRED_YEARS}`),
      }),
    );
  },
);

test('a wait of a hundred years is recorded with its end', async () => {
  const a = waitNode({ kind: 'signal', name: 's', deadlineMs: HUNDRED_YEARS });
  const world = await worldOf({ a }, {}, createMemoryRunStorage({ namespace: 'test' }));
  const executor = await world.open();
  expect(await executor.run()).toMatchObject({ kind: 'pause' });
  const [pause] = await executor.pauses();
  const years = new Date(pause?.dueAt ?? 0).getUTCFullYear() - new Date().getUTCFullYear();
  expect(years).toBeGreaterThanOrEqual(99);
});
