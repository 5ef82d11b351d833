/** What many nodes leave behind on the one signal that they run under: nothing. */
import { getEventListeners } from 'node:events';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createGraphExecutor, dataNode } from 'holdfast';
import { createMemoryRunStorage } from 'holdfast/storage/memory';
import { expect, test } from 'vitest';
import { fanOut, policy, storeAll } from './workloads.ts';

const WIDTH = 10_000;

test('W10: 10,000 nodes under one signal leave no listener on it, and at most 5 MB', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  /** What a run leaves to the next turns of the event loop is no leak. */
  const heapUsed = async () => {
    collect();
    await new Promise((resolve) => setImmediate(resolve));
    collect();
    return process.memoryUsage().heapUsed;
  };
  const listening = dataNode((_input, { signal }) => {
    signal.addEventListener('abort', () => {});
  });
  const program = fanOut(WIDTH, listening);
  const halt = new AbortController();
  const run = async () => {
    const storage = createMemoryRunStorage({ namespace: 'gates', policy });
    await storeAll(storage, program, ['run']);
    const options = { runId: 'run', storage, maxConcurrentAttempts: WIDTH, ...program };
    const executor = await createGraphExecutor(options);
    expect(await executor.run(halt.signal)).toMatchObject({ kind: 'complete' });
  };
  await run();
  const before = await heapUsed();
  await run();
  const growth = (await heapUsed()) - before;
  expect(getEventListeners(halt.signal, 'abort')).toHaveLength(0);
  expect(growth).toBeLessThanOrEqual(5 * 1024 * 1024);
}, 60_000);
