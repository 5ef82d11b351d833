/** Faults that the simulation has found, each by the shortest way to it. */
import { dataNode, waitNode } from 'holdfast';
import { createFakeClock } from 'holdfast/testing';
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

test('B38: two owners that write the same at the same moment stay two', async () => {
  const clock = createFakeClock();
  let runs = 0;
  const count = () => {
    runs += 1;
    return runs;
  };
  const world = await worldOf({ a: dataNode(count) });
  const owners = await Promise.all([world.open({ clock }), world.open({ clock })]);
  const ends = Promise.allSettled(owners.map((owner) => owner.run()));
  await clock.runUntilIdle();
  await ends;
  expect(runs).toBe(1);
});

test('attempts that are re-opened keep to the cap too', async () => {
  let inFlight = 0;
  let most = 0;
  const work = async () => {
    inFlight += 1;
    most = Math.max(most, inFlight);
    await new Promise((resolve) => setImmediate(resolve));
    inFlight -= 1;
  };
  const ask = { decideAction: () => ({ kind: 'wait' as const, reason: 'May it?', request: {} }) };
  const world = await worldOf({ a: dataNode(work, ask), b: dataNode(work, ask) });
  const owner = await world.open({ maxConcurrentAttempts: 1 });
  await owner.run();
  const desk = await world.open();
  for (const { pauseId } of await desk.pauses()) {
    await desk.answer(pauseId, { decision: 'allow' }, { by: 'ann' });
  }
  expect(await owner.run()).toMatchObject({ kind: 'complete' });
  expect(most).toBe(1);
});

test('B122: a cancel that arrives in the middle of a turn is not left to the next one', async () => {
  const world = await worldOf({
    a: dataNode((_input, { signal }) => {
      return new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
      });
    }),
  });
  const { eventStore } = world.storage;
  const desk = await world.open();
  let appends = 0;
  const append = async (...given: Parameters<typeof eventStore.append>) => {
    const receipt = await eventStore.append(...given);
    appends += 1;
    if (appends === 1) await desk.cancel({ by: 'ann', reason: 'Enough.' });
    return receipt;
  };
  const slow = new Proxy(eventStore, {
    get: (store, name) => {
      const method = Reflect.get(store, name);
      if (name === 'append') return append;
      return typeof method === 'function' ? method.bind(store) : method;
    },
  });
  const owner = await world.open({ storage: { ...world.storage, eventStore: slow } });
  expect(await owner.run()).toMatchObject({ kind: 'fail', code: 'CANCELLED' });
}, 5_000);
