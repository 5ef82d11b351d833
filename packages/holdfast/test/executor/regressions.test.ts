/** Faults that the simulation has found, each by the shortest way to it. */
import { waitNode } from 'holdfast';
import { expect, test } from 'vitest';
import { RUN, worldOf } from './world.ts';

const LATER = '2100-01-01T00:00:00.000Z';

test('a run that an outside signal has marked due is no longer due once it was driven', async () => {
  const world = await worldOf({ a: waitNode({ kind: 'approval', prompt: 'Go on?' }) });
  const owner = await world.open();
  await owner.run();
  await (await world.open()).signal('other', null, { signalId: 's1' });
  expect((await world.storage.runIndex.due(LATER)).map(({ runId }) => runId)).toEqual([RUN]);
  expect(await owner.run()).toMatchObject({ kind: 'pause' });
  expect(await world.storage.runIndex.due(LATER)).toEqual([]);
});
