/** Runs that stand for an attempt of another: who may write to them, and where they go on. */
import {
  type FlowFile,
  flowNodes,
  type GraphExecutor,
  type JsonValue,
  type LeaseGrant,
  type RunResult,
  type RunStorage,
  runDue,
} from 'holdfast';
import { createMemoryRunStorage } from 'holdfast/storage/memory';
import { describe, expect, test } from 'vitest';
import { gate } from '../executor/world.ts';
import { flowScene, type HandClock, handClock, pauseIdOf } from '../scenarios/world.ts';
import { flowOf } from './flow-world.ts';

const outer = flowOf([['sub', 'subflow', { flow: 'inner', input: '{{ input }}' }]], ['start>sub']);

describe('two owners of a parent', () => {
  test('the one whose lease was taken writes nothing more to the child', async () => {
    const storage = createMemoryRunStorage({ namespace: 'test' });
    const done = gate<void>();
    const reached = gate<void>();
    let started = 0;
    const work = async () => {
      started += 1;
      reached.open();
      await done.opened;
    };
    const flows = {
      inner: flowOf([['work', 'task', { function: 'work', retrySafe: true }]], ['start>work']),
    };
    const scene = await flowScene(outer, { work }, { storage, flows });
    const held = holdingChildren(storage);
    const old = await scene.open({ storage: held.storage, lease: await leaseOf(storage, 'old') });
    const lost = old.run().catch((error: unknown) => error);
    await held.asked;
    const next = await scene.open({ lease: await leaseOf(storage, 'new') });
    const ended = toRest(next);
    await reached.opened;
    held.letGo();
    expect(await lost).toMatchObject({ code: 'OWNERSHIP_LOST' });
    done.open();
    expect(await ended).toMatchObject({ kind: 'complete' });
    expect(started).toBe(1);
  });
});

describe('a child that continues as new', () => {
  /** Counts to `last`, and asks before each new run when `asks`. */
  const counting = (asks: boolean) =>
    flowOf(
      [
        ['n', 'task', { function: 'n' }],
        ...(asks ? [['ask', 'approval', { prompt: 'on?' }] as const] : []),
        ['more', 'control.condition', { expression: 'input < 3' }],
        ['next', 'continue-as-new', { input: '{{ input + 1 }}' }],
        ['done', 'end', {}],
      ],
      [
        ...(asks ? ['start>n', 'n>ask', 'ask.approved>more'] : ['start>n', 'n>more']),
        'more.true>next',
        'more.false>done',
      ],
    );

  async function counted(asks: boolean, storage = createMemoryRunStorage({ namespace: 'test' })) {
    const seen: JsonValue[] = [];
    const n = (_given: unknown, { runInput }: { readonly runInput: JsonValue }) => {
      seen.push(runInput);
      return runInput;
    };
    const options = { storage, input: 1, flows: { inner: counting(asks) } };
    return { scene: await flowScene(outer, { n }, options), seen };
  }

  const childrenIn = async (storage: RunStorage) => {
    const { runs } = await storage.runIndex.list();
    const children = runs.filter(({ runId }) => runId !== 'r1');
    return children.map(({ runId, status }) => `${runId.split('.')[2] ?? 'c1'} ${status}`).sort();
  };
  const all = ['c1 complete', 'c2 complete', 'c3 complete'];

  test('goes on in its successors, and the output is the last one’s', async () => {
    const { scene, seen } = await counted(false);
    expect(await scene.run()).toMatchObject({
      kind: 'complete',
      output: { nodes: { sub: { nodes: { n: 3 } } } },
    });
    expect(seen).toEqual([1, 2, 3]);
    expect(await childrenIn(scene.storage)).toEqual(all);
    expect(await scene.storage.runIndex.due('2999-01-01T00:00:00.000Z' as never)).toEqual([]);
  });

  test('lists each successor’s pauses, answered and resumed in new processes', async () => {
    const { scene, seen } = await counted(true);
    let result = await scene.run();
    for (const own of [1, 2, 3]) {
      expect(result).toMatchObject({ kind: 'pause', pauses: [{ nodeId: 'ask' }] });
      expect(seen.at(-1)).toBe(own);
      const other = await scene.open();
      await other.answer(pauseIdOf(result), true, { by: 'ada' });
      result = await scene.run();
    }
    expect(result).toMatchObject({ output: { nodes: { sub: { nodes: { n: 3 } } } } });
    expect(seen).toEqual([1, 2, 3]);
  });

  test('is answered by the process that drives its parent', async () => {
    const { scene } = await counted(true);
    const executor = await scene.open();
    let result = await executor.run();
    for (const _own of [1, 2, 3]) {
      await executor.answer(pauseIdOf(result), true, { by: 'ada' });
      result = await executor.run();
    }
    expect(result).toMatchObject({ output: { nodes: { sub: { nodes: { n: 3 } } } } });
  });

  test('is cancelled in the successor that is open', async () => {
    const { scene, seen } = await counted(true);
    await (await scene.open()).answer(pauseIdOf(await scene.run()), true, { by: 'ada' });
    await scene.run();
    const other = await scene.open();
    await other.cancel({ by: 'ada', reason: 'enough' });
    expect(await scene.run()).toMatchObject({ kind: 'fail', code: 'CANCELLED' });
    expect(await childrenIn(scene.storage)).toEqual(['c1 complete', 'c2 cancelled']);
    expect(seen).toEqual([1, 2]);
  });

  test('is found again by whoever goes on after a crash, wherever it came', async () => {
    let crashAt = 1;
    for (; ; crashAt += 1) {
      const backing = createMemoryRunStorage({ namespace: 'test' });
      const { scene, seen } = await counted(false, backing);
      const dying = dyingAt(backing, crashAt);
      const old = await scene.open({ storage: dying.storage });
      const ended = old.run().catch(() => undefined);
      if (!(await Promise.race([dying.died.then(() => true), ended.then(() => false)]))) break;
      let result = await toRest(await scene.open());
      if (result.kind === 'pause') {
        // The crash fell into the task itself: somebody says that it may run again.
        const next = await scene.open();
        const again = { kind: 'retry', by: 'ada', reason: 'crashed' } as const;
        await next.reconcile(pauseIdOf(result), again);
        result = await toRest(next);
      }
      expect(result, `crash at ${crashAt}`).toMatchObject({
        output: { nodes: { sub: { nodes: { n: 3 } } } },
      });
      expect(await childrenIn(backing)).toEqual(all);
      expect([...new Set(seen)]).toEqual([1, 2, 3]);
    }
    expect(crashAt).toBeGreaterThan(20);
  });
});

describe('a parent that fails', () => {
  const failing = flowOf(
    [
      ['sub', 'subflow', { flow: 'inner', input: null }],
      ['ask', 'approval', { prompt: 'go?' }],
      ['bad', 'task', { function: 'bad' }],
    ],
    ['start>sub', 'start>ask', 'ask.approved>bad'],
  );
  const functions = {
    bad: () => {
      throw new Error('no luck');
    },
  };

  /** A stored run whose next drive fails while its child waits. */
  async function aboutToFail(inner: FlowFile, clock: HandClock) {
    const storage = createMemoryRunStorage({ namespace: 'test', clock });
    const scene = await flowScene(failing, functions, { storage, clock, flows: { inner } });
    const first = await scene.run();
    const pauses = first.kind === 'pause' ? first.pauses : [];
    const asked = pauses.find(({ request }) => request['prompt'] === 'go?')?.pauseId ?? '';
    await (await scene.open()).answer(asked, true, { by: 'ada' });
    return scene;
  }

  const statusesIn = async (storage: RunStorage) =>
    (await storage.runIndex.list()).runs.map(({ status }) => status).sort();

  test('and dies before its child is ended is found by a host that stays', async () => {
    const inner = flowOf([['wait', 'approval', { prompt: 'on?' }]], ['start>wait']);
    let leftOpen = 0;
    for (let crashAt = 1; ; crashAt += 1) {
      const clock = handClock();
      const scene = await aboutToFail(inner, clock);
      const dying = dyingAt(scene.storage, crashAt);
      const old = await scene.open({ storage: dying.storage });
      const ended = old.run().catch(() => undefined);
      if (!(await Promise.race([dying.died.then(() => true), ended.then(() => false)]))) break;
      const statuses = await statusesIn(scene.storage);
      if (statuses.includes('fail') && !statuses.includes('cancelled')) leftOpen += 1;
      const halt = new AbortController();
      const { storage, graph, nodes } = scene;
      const host = runDue(storage, () => ({ graph, nodes }), { clock, signal: halt.signal });
      for (let looks = 0; looks < 5; looks += 1) {
        await clock.rest();
        clock.pass(1_000);
      }
      await clock.rest();
      halt.abort();
      await host;
      // A crash inside of the bad task is for a person to decide, and leaves nobody behind.
      const after = await statusesIn(storage);
      if (after.includes('paused')) expect(after).toEqual(['paused', 'paused']);
      else expect(after, `crash at ${crashAt}`).toEqual(['cancelled', 'fail']);
      const due = await storage.runIndex.due('2999-01-01T00:00:00.000Z' as never);
      expect(due, `crash at ${crashAt}`).toEqual([]);
    }
    expect(leftOpen).toBeGreaterThan(0);
  });

  test('and whose child cannot be ended here is tried ever more seldom', async () => {
    const clock = handClock();
    const inner = flowOf([['wait', 'approval', { prompt: 'on?' }]], ['start>wait']);
    const scene = await aboutToFail(inner, clock);
    const { storage, graph } = scene;
    const unknown = flowNodes(failing, functions, { flows: {} });
    const tries: number[] = [];
    const halt = new AbortController();
    const host = runDue(storage, () => ({ graph, nodes: unknown }), {
      clock,
      signal: halt.signal,
      onResult: () => tries.push(clock.now()),
    });
    for (let looks = 0; looks < 16; looks += 1) {
      await clock.rest();
      clock.pass(1_000);
    }
    halt.abort();
    await host;
    const waits = tries.slice(1).map((at, index) => (at - (tries[index] ?? 0)) / 1_000);
    expect(waits).toEqual([2, 4, 8]);
    expect(await statusesIn(storage)).toEqual(['fail', 'paused']);
    expect(await scene.run()).toMatchObject({ code: 'FLOW_NODE_FAILED' });
    expect(await statusesIn(storage)).toEqual(['cancelled', 'fail']);
    expect(await storage.runIndex.due('2999-01-01T00:00:00.000Z' as never)).toEqual([]);
  });

  test.each([
    ['paused', ['wait', 'approval', { prompt: 'on?' }]],
    ['asleep', ['wait', 'delay', { delayMs: 3_600_000 }]],
  ] as const)('ends its child that is %s', async (_how, wait) => {
    const flow = flowOf(
      [
        ['sub', 'subflow', { flow: 'inner', input: null }],
        ['ask', 'approval', { prompt: 'go?' }],
        ['bad', 'task', { function: 'bad' }],
      ],
      ['start>sub', 'start>ask', 'ask.approved>bad'],
    );
    const bad = () => {
      throw new Error('no luck');
    };
    const inner = flowOf([wait], ['start>wait']);
    const scene = await flowScene(flow, { bad }, { flows: { inner } });
    const first = await scene.run({ maxIdleMs: 1_000 });
    const pauses = first.kind === 'pause' ? first.pauses : [];
    const asked = pauses.find(({ request }) => request['prompt'] === 'go?')?.pauseId ?? '';
    await (await scene.open()).answer(asked, true, { by: 'ada' });
    expect(await scene.run({ maxIdleMs: 1_000 })).toMatchObject({ code: 'FLOW_NODE_FAILED' });
    const { runs } = await scene.storage.runIndex.list();
    expect(runs.map(({ status }) => status).sort()).toEqual(['cancelled', 'fail']);
  });
});

/** A storage whose process dies before its write of this number: nothing comes back any more. */
function dyingAt(storage: RunStorage, crashAt: number) {
  const died = gate<void>();
  let writes = 0;
  const append: RunStorage['eventStore']['append'] = (...args) => {
    writes += 1;
    if (writes < crashAt) return storage.eventStore.append(...args);
    died.open();
    return new Promise(() => undefined);
  };
  const eventStore = withOwn(storage.eventStore, { append });
  return { storage: { ...storage, eventStore }, died: died.opened };
}

/** A storage that says nothing of child runs until it is let go. */
function holdingChildren(storage: RunStorage) {
  const asked = gate<void>();
  const free = gate<void>();
  const get = async (runId: string) => {
    if (runId !== 'r1') {
      asked.open();
      await free.opened;
    }
    return storage.runIndex.get(runId);
  };
  // It is not told of what others write either, as a process that sleeps is not.
  const eventStore = withOwn(storage.eventStore, { subscribe: () => () => undefined });
  const runIndex = withOwn(storage.runIndex, { get });
  return {
    storage: { ...storage, eventStore, runIndex },
    asked: asked.opened,
    letGo: () => free.open(),
  };
}

/** A port with some calls replaced. */
function withOwn<Port extends object>(port: Port, own: Partial<Port>): Port {
  return new Proxy(port, {
    get: (target, key) => {
      if (Object.hasOwn(own, key)) return Reflect.get(own, key);
      const value: unknown = Reflect.get(target, key);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

/** The lease of `r1`, taken from whoever had it. */
async function leaseOf(storage: RunStorage, id: string): Promise<LeaseGrant> {
  const owner = { id, host: 'h', bootId: 'b', pidNamespace: 'n', pid: 1, startTime: 's' };
  const grant = await storage.leaseStore.acquire('r1', owner, 60_000, { takeover: 'never' });
  if ('heldBy' in grant) throw new Error('the lease is held');
  await storage.leaseStore.release(grant);
  return grant;
}

/** Runs, re-opening what another owner has left in flight. */
async function toRest(executor: GraphExecutor): Promise<RunResult> {
  const result = await executor.run();
  return result.kind === 'waiting' ? executor.resume(result.positions) : result;
}
