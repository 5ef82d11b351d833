/** Faults that the simulation has found, each by the shortest way to it. */
import {
  dataNode,
  type JsonValue,
  type NodeContext,
  NodeFailure,
  type RunStorage,
  waitNode,
} from 'holdfast';
import { createFakeClock } from 'holdfast/testing';
import { expect, test } from 'vitest';
import { dagOf, gate, RUN, worldOf } from './world.ts';

const LATER = '2100-01-01T00:00:00.000Z';

test('a run that an outside signal has marked due is not due once it was driven', async () => {
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

test('B122: a cancel that comes in the middle of a turn is not left to the next', async () => {
  const world = await worldOf({
    a: dataNode((_input, { signal }) => {
      return new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
      });
    }),
  });
  const desk = await world.open();
  let appends = 0;
  const storage = withAppend(world.storage, async (append) => {
    const receipt = await append();
    appends += 1;
    if (appends === 1) await desk.cancel({ by: 'ann', reason: 'Enough.' });
    return receipt;
  });
  const owner = await world.open({ storage });
  expect(await owner.run()).toMatchObject({ kind: 'fail', code: 'CANCELLED' });
}, 5_000);

test('what an answer allowed is not forgotten by an owner that shuts down at once', async () => {
  const ask = { decideAction: () => ({ kind: 'wait' as const, reason: 'May it?', request: {} }) };
  const world = await worldOf({ a: dataNode(() => 1, ask) });
  const owner = await world.open();
  await owner.run();
  await (await world.open()).answer(`${RUN}@4`, { decision: 'allow' }, { by: 'ann' });
  const running = owner.run();
  await owner.shutdown();
  expect(await running).toEqual({ kind: 'waiting', positions: [] });
  expect((await world.storage.runIndex.due(LATER)).map(({ runId }) => runId)).toEqual([RUN]);
});

test('a run that has failed has no open pauses, and an answer to one says so', async () => {
  const nodes = {
    a: waitNode({ kind: 'approval', prompt: 'Go on?' }),
    b: dataNode(() => {
      throw new Error('no');
    }),
  };
  const world = await worldOf(nodes, { retries: 1 });
  const owner = await world.open({ maxDispatches: 2 });
  expect(await owner.run()).toMatchObject({ kind: 'fail', code: 'BUDGET_STOP' });
  const before = await world.events();
  const pause = before.find(({ type }) => type === 'graph:node-paused');
  await expect(owner.answer(pause?.id ?? '', 'yes', { by: 'ann' })).rejects.toMatchObject({
    code: 'PAUSE_MISMATCH',
  });
  expect(await owner.pauses()).toEqual([]);
  expect(await world.events()).toEqual(before);
});

test('an event that the record refuses is never written', async () => {
  const world = await worldOf(
    {
      // The step holds its attempt until the time is over; whoever came next would start it again.
      a: dataNode(
        async (_input, context) => {
          void context.step('pay', () => new Promise(() => {}));
          await new Promise((resolve) => setImmediate(resolve));
          await new Promise((resolve) => setImmediate(resolve));
          throw new Error('The step was not waited for.');
        },
        { retrySafe: true, timeoutMs: 1, graceMs: 0 },
      ),
    },
    { retries: 1 },
  );
  expect(await (await world.open()).run()).toMatchObject({ kind: 'fail' });
  const started = (await world.types()).filter((type) => type === 'node-step-started');
  expect(started).toHaveLength(1);
  expect(await (await world.open()).run()).toMatchObject({ kind: 'fail' });
});

test('a step of an attempt that a person calls failed runs again in the retry', async () => {
  const started = gate();
  let pays = 0;
  const nodes = {
    a: dataNode(
      (_input, { step }) =>
        step('pay', () => {
          pays += 1;
          if (pays > 1) return 'paid';
          started.open();
          return new Promise(() => {});
        }),
      { retrySafe: true },
    ),
  };
  const world = await worldOf(nodes, { retries: 1 });
  void (await world.open()).run();
  await started.opened;
  const next = await world.open();
  const paused = await next.resume('dag/a/1');
  const pauseId = paused.kind === 'pause' ? (paused.pauses[0]?.pauseId ?? '') : '';
  await next.reconcile(pauseId, { kind: 'failed', code: 'LOST', by: 'ann', reason: 'No trace.' });
  expect(await next.run()).toEqual({ kind: 'complete', output: { nodes: { a: 'paid' } } });
});

test('B121: a halt ends a cancelled run too whose node never stops', async () => {
  const started = gate();
  const node = () => {
    started.open();
    return new Promise(() => {});
  };
  const world = await worldOf({ a: dataNode(node, { graceMs: 20 }) });
  const owner = await world.open();
  const halt = new AbortController();
  const running = owner.run(halt.signal);
  await started.opened;
  await owner.cancel({ by: 'ann', reason: 'Enough.' });
  halt.abort();
  await expect(running).rejects.toMatchObject({ code: 'ABORTED' });
}, 5_000);

test('a graph that fails to decide leaves nothing behind of the turn in which it did', async () => {
  const ask = { decideAction: () => ({ kind: 'wait' as const, reason: 'May it?', request: {} }) };
  let runs = 0;
  const node = dataNode(() => {
    runs += 1;
  }, ask);
  const world = await worldOf({ a: node });
  await (await world.open()).run();
  await (await world.open()).answer(`${RUN}@4`, { decision: 'allow' }, { by: 'ann' });
  const graph = dagOf(['a']);
  const broken = {
    ...graph,
    open: (saved?: JsonValue) => {
      const cursor = graph.open(saved);
      return {
        ...cursor,
        decide: () => {
          throw new Error('The code of the graph is broken.');
        },
      };
    },
  };
  const before = await world.types();
  const owner = await world.open({ graph: broken });
  // Whether this graph is asked or not, nobody must be left in flight by it.
  await owner.run().catch(() => {});
  if (runs === 0) expect(await world.types()).toEqual(before);
  expect(await (await world.open()).run()).toMatchObject({ kind: 'complete' });
  expect(runs).toBe(1);
});

test('an attempt that a halt has given up is not taken for the work of another owner', async () => {
  const started = gate();
  const waits = waitNode({ kind: 'signal', name: 'paid' });
  const node = () => {
    started.open();
    return new Promise(() => {});
  };
  const world = await worldOf({ a: dataNode(node, { graceMs: 0 }), b: waits });
  const halt = new AbortController();
  const owner = await world.open();
  const running = owner.run(halt.signal);
  await started.opened;
  const stopped = expect(running).rejects.toMatchObject({ code: 'ABORTED' });
  const desk = await world.open();
  halt.abort();
  // A message from outside makes the owner read the log again before it has stopped.
  await desk.signal('other', null, { signalId: 's1' });
  await stopped;
});

test('a cancel that gives up an attempt is not taken for the work of another owner', async () => {
  const started = gate();
  const node = () => {
    started.open();
    return new Promise(() => {});
  };
  const world = await worldOf({ a: dataNode(node, { graceMs: 5 }) });
  const desk = await world.open();
  let appends = 0;
  const storage = withAppend(world.storage, async (append) => {
    appends += 1;
    // The end of the run is decided; a message comes first.
    if (appends === 3) await desk.signal('other', null, { signalId: 's1' });
    return append();
  });
  const owner = await world.open({ storage });
  const running = owner.run();
  await started.opened;
  await owner.cancel({ by: 'ann', reason: 'Enough.' });
  expect(await running).toMatchObject({ kind: 'fail', code: 'CANCELLED' });
});

test('a grace that ends in the middle of a turn is not forgotten', async () => {
  const clock = createFakeClock();
  const deaf = () => new Promise(() => {});
  const obedient = (_input: JsonValue, { signal }: NodeContext) =>
    new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason));
    });
  const nodes = { a: dataNode(deaf, { graceMs: 5 }), b: dataNode(obedient) };
  const world = await worldOf(nodes);
  // Recording that one has stopped takes longer than the grace of the other.
  const storage = withAppend(world.storage, async (append) => {
    await new Promise<void>((resolve) => {
      clock.after(50, resolve);
    });
    return append();
  });
  const owner = await world.open({ clock, storage });
  const running = owner.run();
  await clock.advance(1_000);
  const cancelled = owner.cancel({ by: 'ann', reason: 'Enough.' });
  await clock.advance(1_000);
  await cancelled;
  expect(await running).toMatchObject({ kind: 'fail', code: 'CANCELLED' });
}, 5_000);

type AppendReceipt = Awaited<ReturnType<RunStorage['eventStore']['append']>>;

/** The storage with `around` every append. */
function withAppend(
  storage: RunStorage,
  around: (append: () => Promise<AppendReceipt>) => Promise<AppendReceipt>,
): RunStorage {
  const append = (...given: Parameters<RunStorage['eventStore']['append']>) =>
    around(() => storage.eventStore.append(...given));
  const eventStore = new Proxy(storage.eventStore, {
    get: (store, name) => {
      const method = Reflect.get(store, name);
      if (name === 'append') return append;
      return typeof method === 'function' ? method.bind(store) : method;
    },
  });
  return { ...storage, eventStore };
}

test(
  'code that calls itself aborted fails like any other, and is not ' + 'repeated for ever',
  async () => {
    const world = await worldOf({
      a: dataNode(() => {
        throw new NodeFailure('ABORTED', 'nobody told me to stop');
      }),
    });
    expect(await (await world.open()).run()).toMatchObject({ kind: 'fail' });
    const failed = (await world.events()).find(({ type }) => type === 'graph:node-failed');
    expect(failed?.payload).toMatchObject({ code: 'EFFECT_FAILED' });
  },
);
