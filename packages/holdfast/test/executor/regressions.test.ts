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

test('looking, answering and sending at the same time do not disturb each other', async () => {
  const world = await worldOf({ a: waitNode({ kind: 'approval', prompt: 'Go on?' }) });
  const owner = await world.open();
  await owner.run();
  const desk = await world.open();
  await Promise.all([
    desk.pauses(),
    desk.answer(`${RUN}@4`, 'yes', { by: 'ann' }),
    desk.signal('other', null, { signalId: 's1' }),
    desk.pauses(),
  ]);
  expect(await desk.pauses()).toEqual([]);
  expect(await owner.run()).toEqual({ kind: 'complete', output: { nodes: { a: 'yes' } } });
});

test('B73: a signal sent in the moment in which the run is started is kept', async () => {
  const world = await worldOf({ a: waitNode({ kind: 'signal', name: 'paid' }) });
  const owner = await world.open();
  const running = owner.run();
  await owner.signal('paid', 7, { signalId: 's1' });
  expect(await running).toEqual({ kind: 'complete', output: { nodes: { a: 7 } } });
});

test('a refused answer of an onlooker leaves the run due', async () => {
  const world = await worldOf({ a: waitNode({ kind: 'signal', name: 'paid' }) });
  await (await world.open()).run();
  const desk = await world.open();
  await desk.signal('paid', 7, { signalId: 's1' });
  await expect(desk.answer(`${RUN}@1`, 'yes', { by: 'ann' })).rejects.toMatchObject({
    code: 'PAUSE_MISMATCH',
  });
  expect((await world.storage.runIndex.due(LATER)).map(({ runId }) => runId)).toEqual([RUN]);
});
