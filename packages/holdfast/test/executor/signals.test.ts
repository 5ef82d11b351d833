/** What becomes of a message from outside: in a run that nobody drives, and in a tree of runs. */
import { graphNode, isHoldfastError, type RunStorage, StorageError, waitNode } from 'holdfast';
import { createMemoryRunStorage } from 'holdfast/storage/memory';
import { describe, expect, test } from 'vitest';
import { complete, dispatch, scripted, scriptWorld, settled, type Told } from '../seeds/world.ts';
import { worldOf } from './world.ts';

const codeOf = async (promise: Promise<unknown>) =>
  promise.then(
    () => null,
    (error: unknown) => (isHoldfastError(error) ? error.code : error),
  );

/** Waits at `w`; its fold demands an order that lists items. */
const orders = {
  nodes: { w: null },
  reduce: ({ type, payload }: Told) => {
    if (type !== 'signal-received' || payload['name'] !== 'order') return;
    const { items } = payload['payload'] as { readonly items: readonly string[] };
    if (items.length === 0) throw new Error('An order lists something.');
  },
  decide: (told: readonly Told[]) => {
    if (settled(told, 'p')) return complete('done');
    const isOpen = told.some(({ type }) => type === 'node-dispatched');
    return isOpen ? [] : [dispatch('w', 'p')];
  },
};

const approval = waitNode({ kind: 'approval', prompt: 'Go on?' });
const waitFor = (name: string) => waitNode({ kind: 'signal', name });

describe('a signal that the graph cannot fold, sent while nobody drives the run', () => {
  const resting = async () => {
    const world = await scriptWorld(orders, { nodes: { w: approval } });
    const executor = await world.open();
    await executor.run();
    return world;
  };

  test('is refused, and nothing of it is recorded', async () => {
    const world = await resting();
    const before = await world.types();
    const sent = (await world.open()).signal('order', 'oops', { signalId: 's' });
    expect(await codeOf(sent)).toBe('RESULT_INVALID');
    expect(await world.types()).toEqual(before);
  });

  test('leaves the run as it was: it lists its pauses, takes an answer and ends', async () => {
    const world = await resting();
    const executor = await world.open();
    await codeOf(executor.signal('order', 'oops', { signalId: 's' }));
    const [pause] = await executor.pauses();
    await executor.answer(pause?.pauseId ?? '', true, { by: 'ada' });
    expect(await executor.run()).toEqual({ kind: 'complete', output: 'done' });
  });

  test('may be sent again as it should be, with the same id', async () => {
    const world = await resting();
    const executor = await world.open();
    await codeOf(executor.signal('order', 'oops', { signalId: 's' }));
    await executor.signal('order', { items: ['tea'] }, { signalId: 's' });
    expect((await world.types()).filter((type) => type === 'signal-received')).toHaveLength(1);
  });

  test('is refused by a child run too, through its parent', async () => {
    const child = graphNode({ graph: scripted(orders), nodes: { w: waitFor('order') } });
    const world = await worldOf({ c: child });
    const executor = await world.open();
    await executor.run();
    const sent = (await world.open()).signal('order', 'oops', { signalId: 's' });
    expect(await codeOf(sent)).toBe('RESULT_INVALID');
    await executor.signal('order', { items: ['tea'] }, { signalId: 's2' });
    expect(await executor.run()).toMatchObject({ kind: 'complete' });
  });
});

test('a run whose graph code throws is cancelled by whoever runs it with better code', async () => {
  const storage = createMemoryRunStorage({ namespace: 'test' });
  const host = { storage, nodes: { w: approval } };
  const world = await scriptWorld({ nodes: orders.nodes, decide: orders.decide }, host);
  await (await world.open()).run();
  await (await world.open()).signal('order', 'oops', { signalId: 's' });
  const throwing = await world.open({ graph: scripted(orders) });
  expect(await codeOf(throwing.run())).toBe('GRAPH_CODE_FAILED');
  await throwing.cancel({ by: 'ada', reason: 'It cannot go on.' });
  await throwing.cancel({ by: 'ada', reason: 'It cannot go on.' });
  expect((await world.types()).filter((type) => type === 'cancel-requested')).toHaveLength(1);
  expect(await (await world.open()).run()).toMatchObject({ kind: 'fail', code: 'CANCELLED' });
});

test('a signal whose sender never catches up with the end goes to whatever that is', async () => {
  const storage = createMemoryRunStorage({ namespace: 'test' });
  const world = await worldOf({ w: waitFor('paid') }, {}, storage);
  await (await world.open()).run();
  const { eventStore } = storage;
  const busy: RunStorage = {
    ...storage,
    eventStore: {
      append: async (stream, expected, events, options) => {
        if (expected === 'end') return eventStore.append(stream, expected, events, options);
        throw new StorageError('SEQUENCE_CONFLICT', 'Somebody else was faster.');
      },
      read: (...given) => eventStore.read(...given),
      readAt: (...given) => eventStore.readAt(...given),
      end: (...given) => eventStore.end(...given),
      compact: (...given) => eventStore.compact(...given),
      sync: () => eventStore.sync(),
      subscribe: (...given) => eventStore.subscribe(...given),
    },
  };
  const sender = await world.open({ storage: busy });
  await sender.signal('paid', 7, { signalId: 'p-1' });
  await sender.signal('paid', 7, { signalId: 'p-1' });
  expect(await (await world.open()).run()).toEqual({
    kind: 'complete',
    output: { nodes: { w: 7 } },
  });
});
