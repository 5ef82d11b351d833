/** Results beside the limits of a storage: a small failure is recorded, the run is never stuck. */
import { dataNode, defaultStoragePolicy } from 'holdfast';
import { createMemoryRunStorage } from 'holdfast/storage/memory';
import { expect, test } from 'vitest';
import { worldOf } from './world.ts';

/** A storage whose batches hold `ratio` payloads. */
function storageOf(ratio: number) {
  const maxEventPayloadBytes = 16_384;
  const maxAppendBatchBytes = maxEventPayloadBytes * ratio;
  const policy = { ...defaultStoragePolicy, maxEventPayloadBytes, maxAppendBatchBytes };
  return createMemoryRunStorage({ namespace: 'test', policy });
}

test.each([1, 1.5, 2, 4])(
  'a batch of %d payloads holds every outcome or refuses it',
  async (ratio) => {
    const nodes = Object.fromEntries(
      [1_000, 7_000, 9_000, 15_000, 16_000, 20_000].map((length) => [
        `n${length}`,
        dataNode(() => 'x'.repeat(length)),
      ]),
    );
    const world = await worldOf(nodes, {}, storageOf(ratio));
    const result = await (await world.open()).run();
    const settled = (await world.events()).filter(({ type }) =>
      /node-(completed|failed)$/.test(type),
    );
    expect(settled).toHaveLength(6);
    expect(result).toMatchObject({ kind: 'fail', code: 'DAG_NODE_FAILED' });
    const failed = settled.filter(({ type }) => type.endsWith('failed'));
    expect(failed.map(({ payload }) => (payload as { code: string }).code)).toEqual(
      failed.map(() => 'RESULT_TOO_LARGE'),
    );
  },
);
