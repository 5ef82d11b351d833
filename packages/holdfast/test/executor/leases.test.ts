/** The hold on a run that an executor is given is one, and is on that run. */
import {
  type AcquireOptions,
  createGraphExecutor,
  currentOwner,
  dataNode,
  type LeaseGrant,
  type LeaseHeld,
  startRun,
} from 'holdfast';
import { createMemoryRunStorage } from 'holdfast/storage/memory';
import { expect, test } from 'vitest';
import { dagOf } from './world.ts';

const graph = dagOf(['a']);
const nodes = { a: dataNode(() => 1) };

async function leased(key: string) {
  const storage = createMemoryRunStorage({ namespace: 'test' });
  await startRun(storage, { runId: 'r1', graph, input: null });
  const acquire = (id: string) =>
    storage.leaseStore.acquire(key, currentOwner(id), 30_000, { takeover: 'never' });
  const open = (lease: LeaseGrant | LeaseHeld) =>
    createGraphExecutor({ runId: 'r1', graph, storage, nodes, lease: lease as LeaseGrant });
  return { storage, acquire, open };
}

test('a hold on the run is taken', async () => {
  const { acquire, open } = await leased('r1');
  expect(await (await open(await acquire('mine'))).run()).toMatchObject({ kind: 'complete' });
});

test('a hold on another run is refused', async () => {
  const { acquire, open } = await leased('other');
  await expect(open(await acquire('mine'))).rejects.toMatchObject({
    code: 'INVALID_OPTION',
    message: 'lease must be what leaseStore.acquire grants for run r1, not a hold on other.',
  });
});

test('the answer that somebody else holds the run is refused', async () => {
  const { acquire, open } = await leased('r1');
  await acquire('mine');
  await expect(open(await acquire('yours'))).rejects.toMatchObject({
    code: 'INVALID_OPTION',
    message: expect.stringContaining('somebody else holds it'),
  });
});

test.each([{ takeover: 'when-dead' }, {}, undefined])(
  'a hold is not acquired with %o',
  async (options) => {
    const { storage } = await leased('r1');
    const unknown = options as AcquireOptions;
    await expect(
      storage.leaseStore.acquire('r1', currentOwner(), 1_000, unknown),
    ).rejects.toMatchObject({ code: 'INVALID_OPTION' });
  },
);
