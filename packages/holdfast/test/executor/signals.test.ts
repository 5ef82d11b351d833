/** What becomes of a message from outside: in a run that nobody drives, and in a tree of runs. */
import {
  dataNode,
  type GraphEvent,
  graphNode,
  isHoldfastError,
  type JsonObject,
  type RunResult,
  type RunStorage,
  StorageError,
  waitNode,
} from 'holdfast';
import { createMemoryRunStorage } from 'holdfast/storage/memory';
import { describe, expect, test } from 'vitest';
import { nextTurn } from '../scenarios/world.ts';
import { complete, dispatch, scripted, scriptWorld, settled, type Told } from '../seeds/world.ts';
import { eventsOf, typesOf } from '../support/stored-events.ts';
import { dagOf, gate, RUN, worldOf } from './world.ts';

const codeOf = async (promise: Promise<unknown>) =>
  promise.then(
    () => null,
    (error: unknown) => (isHoldfastError(error) ? error.code : error),
  );

/** Waits at `w`; its fold demands an order that lists items. */
const orders = {
  nodes: { w: null },
  reduce: ({ type, payload }: GraphEvent) => {
    const { name, payload: order } = payload as JsonObject;
    if (type !== 'signal-received' || name !== 'order') return;
    const { items } = order as { readonly items: readonly string[] };
    if (items.length === 0) throw new Error('An order lists something.');
  },
  decide: (told: readonly Told[]) => {
    if (settled(told, 'p')) return complete('done');
    const isOpen = told.some(({ type }) => type === 'node-dispatched');
    return isOpen ? [] : [dispatch('w', 'p')];
  },
};

/** A storage in which appends at a numbered place of these streams fail. */
function withAppend(
  storage: RunStorage,
  code: 'SEQUENCE_CONFLICT' | 'STORE_BUSY',
  streams: RegExp,
): RunStorage {
  const { eventStore } = storage;
  return {
    ...storage,
    eventStore: {
      append: async (stream, expected, events, options) => {
        if (expected !== 'end' && streams.test(stream.streamId))
          throw new StorageError(code, 'No.');
        return eventStore.append(stream, expected, events, options);
      },
      read: (...given) => eventStore.read(...given),
      readAt: (...given) => eventStore.readAt(...given),
      end: (...given) => eventStore.end(...given),
      compact: (...given) => eventStore.compact(...given),
      sync: () => eventStore.sync(),
      subscribe: (...given) => eventStore.subscribe(...given),
    },
  };
}

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
  const busy = withAppend(storage, 'SEQUENCE_CONFLICT', /./);
  const sender = await world.open({ storage: busy });
  await sender.signal('paid', 7, { signalId: 'p-1' });
  await sender.signal('paid', 7, { signalId: 'p-1' });
  expect(await (await world.open()).run()).toEqual({
    kind: 'complete',
    output: { nodes: { w: 7 } },
  });
});

describe('a signal in a tree of runs', () => {
  const child = (...names: readonly string[]) => {
    const nodes = Object.fromEntries(names.map((name, place) => [`d${place}`, waitFor(name)]));
    return graphNode({ graph: dagOf(Object.keys(nodes)), nodes });
  };
  const nodesOf = (result: RunResult) =>
    result.kind === 'complete' ? (result.output as JsonObject)['nodes'] : result.kind;

  test('is taken by one child; its repeat by no other', async () => {
    const world = await worldOf({ c1: child('paid'), c2: child('paid') });
    await (await world.open()).run();
    await (await world.open()).signal('paid', 1, { signalId: 'p-1' });
    expect((await (await world.open()).run()).kind).toBe('pause');
    await (await world.open()).signal('paid', 1, { signalId: 'p-1' });
    const executor = await world.open();
    expect(await executor.run()).toMatchObject({ kind: 'pause', pauses: [{ nodeId: 'd0' }] });
    await executor.signal('paid', 2, { signalId: 'p-2' });
    const taken = [{ nodes: { d0: 1 } }, { nodes: { d0: 2 } }];
    expect(await executor.run()).toEqual({
      kind: 'complete',
      output: { nodes: { c1: taken[0], c2: taken[1] } },
    });
  });

  test('is taken once when it is sent twice before anybody drives', async () => {
    const world = await worldOf({ c1: child('paid'), own: waitFor('paid') });
    const executor = await world.open();
    await executor.run();
    await executor.signal('paid', 7, { signalId: 'p-1' });
    await executor.signal('paid', 7, { signalId: 'p-1' });
    expect(await executor.run()).toMatchObject({ kind: 'pause', pauses: [{}] });
  });

  test.each([1, 2, 3])('that comes early reaches a child at depth %s', async (depth) => {
    let node = child('go');
    for (let level = 1; level < depth; level += 1) {
      node = graphNode({ graph: dagOf(['c']), nodes: { c: node } });
    }
    const world = await worldOf({ c: node });
    const executor = await world.open();
    await executor.signal('go', 7, { signalId: 's1' });
    await executor.signal('go', 7, { signalId: 's1' });
    expect((await executor.run()).kind).toBe('complete');
  });

  test('goes to the run itself first, then to its children, each once', async () => {
    const world = await worldOf({ c1: child('go'), c2: child('go', 'go'), own: waitFor('go') });
    const executor = await world.open();
    for (const id of [1, 2, 3, 4]) await executor.signal('go', id, { signalId: `s${id}` });
    const result = await executor.run();
    expect(nodesOf(result)).toMatchObject({ own: expect.any(Number) });
    expect(
      JSON.stringify(nodesOf(result))
        .match(/[1-4](?=[,}])/g)
        ?.sort(),
    ).toEqual(['1', '2', '3', '4']);
  });

  test('is handed on by the next owner when its sender died first', async () => {
    const storage = createMemoryRunStorage({ namespace: 'test' });
    const world = await worldOf({ c: child('paid') }, {}, storage);
    await (await world.open()).run();
    const dying = await world.open({ storage: withAppend(storage, 'STORE_BUSY', /^r1\./) });
    await codeOf(dying.signal('paid', 7, { signalId: 'p-1' }));
    expect((await world.types()).at(-1)).toBe('signal-received');
    await (await world.open()).signal('paid', 7, { signalId: 'p-1' });
    expect(nodesOf(await (await world.open()).run())).toEqual({ c: { nodes: { d0: 7 } } });
  });

  test('reaches a child that waits in one branch while another one works', async () => {
    const [working, done] = [gate(), gate()];
    const nodes = {
      w: waitFor('paid'),
      after: dataNode(() => working.open()),
      long: dataNode(async () => done.opened),
    };
    const graph = dagOf(Object.keys(nodes), { edges: ['w>after'] });
    const world = await worldOf({ c: graphNode({ graph, nodes }) });
    const executor = await world.open();
    const result = executor.run();
    const isPaused = async () => {
      const child = (await world.storage.runIndex.list({})).runs.find(({ runId }) => runId !== RUN);
      const events = child === undefined ? [] : await eventsOf(world.storage, child.runId);
      return typesOf(events).includes('node-paused');
    };
    while (!(await isPaused())) await nextTurn();
    await executor.signal('paid', 7, { signalId: 'p-1' });
    await working.opened;
    done.open();
    expect((await result).kind).toBe('complete');
  });
});
