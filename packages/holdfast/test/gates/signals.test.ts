/** What many nodes leave behind on the one signal that they run under: nothing. */
import { getEventListeners } from 'node:events';
import { dataNode } from 'holdfast';
import { expect, test } from 'vitest';
import { worldOf } from '../executor/world.ts';

test('2,000 nodes under one signal leave no listener on it', async () => {
  const listening = dataNode((_input, { signal }) => {
    signal.addEventListener('abort', () => {});
  });
  const names = Array.from({ length: 2_000 }, (_none, place) => `n${place}`);
  const nodes = Object.fromEntries(names.map((name) => [name, listening]));
  const world = await worldOf(nodes, { concurrency: 2_000 });
  const halt = new AbortController();
  const executor = await world.open({ maxConcurrentAttempts: 2_000 });
  expect(await executor.run(halt.signal)).toMatchObject({ kind: 'complete' });
  expect(getEventListeners(halt.signal, 'abort')).toHaveLength(0);
});
