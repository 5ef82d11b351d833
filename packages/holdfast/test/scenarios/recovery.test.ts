/** Section C: crash, double execution, recovery. Crashes of real processes are in `../kills`. */
import {
  createGraphExecutor,
  dataNode,
  driveRun,
  type OwnerIdentity,
  type RunResult,
  type RunStorage,
  runDue,
  startRun,
  waitNode,
} from 'holdfast';
import { createMemoryRunStorage } from 'holdfast/storage/memory';
import { describe, expect, test } from 'vitest';
import { dagOf, gate } from '../executor/world.ts';
import { flowOf } from '../nodes/flow-world.ts';
import { flowScene, handClock, nextTurn, pauseIdOf, sceneOf } from './world.ts';

const owner = (id: string): OwnerIdentity => ({
  id,
  host: 'here',
  bootId: 'boot',
  pidNamespace: 'namespace',
  pid: 1,
  startTime: '1',
});

/** Takes the lease of run r1 for a minute. */
async function leaseOf(storage: RunStorage, id: string) {
  const grant = await storage.leaseStore.acquire('r1', owner(id), 60_000, { takeover: 'never' });
  if ('heldBy' in grant) throw new Error(`held by ${grant.heldBy.id}`);
  return grant;
}

/** One node that is held in flight by its first start and returns at once by its second. */
function heldNode(retrySafe: boolean) {
  const begun = gate();
  const finish = gate();
  let starts = 0;
  const node = dataNode(
    async () => {
      starts += 1;
      if (starts > 1) return 'second';
      begun.open();
      await finish.opened;
      return 'first';
    },
    { retrySafe },
  );
  return { node, begun, finish, starts: () => starts };
}

describe('B34: a worker that lost its lease while its node still runs', () => {
  test('the next owner starts nothing unasked, and the late write is refused', async () => {
    const clock = handClock();
    const held = heldNode(false);
    const scene = await sceneOf(dagOf(['a']), { a: held.node }, { clock });
    const first = (await scene.open({ lease: await leaseOf(scene.storage, 'one') })).run();
    await held.begun.opened;
    clock.pass(240_000);
    const lease = await leaseOf(scene.storage, 'two');
    const second = await scene.open({ lease });
    expect(await second.run()).toEqual({ kind: 'waiting', positions: ['dag/a/1'] });
    expect(held.starts()).toBe(1);
    const before = await scene.types();
    held.finish.open();
    await expect(first).rejects.toMatchObject({ code: 'OWNERSHIP_LOST' });
    expect(await scene.types()).toEqual(before);
  });

  test('while the lease is held, nobody else is given it', async () => {
    const clock = handClock();
    const held = heldNode(true);
    const scene = await sceneOf(dagOf(['a']), { a: held.node }, { clock });
    const running = (await scene.open({ lease: await leaseOf(scene.storage, 'one') })).run();
    await held.begun.opened;
    clock.pass(50_000);
    const bound = { graph: scene.graph, nodes: scene.nodes };
    await expect(driveRun(scene.storage, bound, { runId: 'r1', clock })).rejects.toMatchObject({
      code: 'RUN_OWNED',
    });
    held.finish.open();
    expect(await running).toMatchObject({ output: { nodes: { a: 'first' } } });
    expect(held.starts()).toBe(1);
  });

  test('a host renews its lease for as long as its node runs', async () => {
    const clock = handClock();
    const held = heldNode(true);
    const scene = await sceneOf(dagOf(['a']), { a: held.node }, { clock });
    const bound = { graph: scene.graph, nodes: scene.nodes };
    const running = driveRun(scene.storage, bound, { runId: 'r1', clock });
    await held.begun.opened;
    for (let tens = 0; tens < 24; tens += 1) {
      clock.pass(10_000);
      await clock.rest();
    }
    await expect(leaseOf(scene.storage, 'two')).rejects.toThrow('held by');
    held.finish.open();
    expect(await running).toMatchObject({ result: { output: { nodes: { a: 'first' } } } });
  });
});

test('B35: an error handler whose result was stored is not run again on resume', async () => {
  let handled = 0;
  const begun = gate();
  const flow = flowOf(
    [
      ['bad', 'task', { function: 'bad' }],
      ['mend', 'task', { function: 'mend' }],
      ['slow', 'task', { function: 'slow', retrySafe: true }],
    ],
    ['start>bad', 'bad.error>mend', 'start>slow'],
  );
  let slowStarts = 0;
  const functions = {
    bad: () => {
      throw new Error('no luck');
    },
    mend: () => {
      handled += 1;
      return 'mended';
    },
    slow: () => {
      slowStarts += 1;
      if (slowStarts > 1) return 'slow';
      begun.open();
      return new Promise(() => {});
    },
  };
  const scene = await flowScene(flow, functions);
  void scene.run();
  await begun.opened;
  while (!JSON.stringify(await scene.events()).includes('mended')) await nextTurn();
  const waiting = await scene.run();
  expect(waiting).toMatchObject({ kind: 'waiting', positions: ['flow/slow#1'] });
  expect(await scene.resume('flow/slow#1')).toMatchObject({
    output: { nodes: { mend: 'mended', slow: 'slow' } },
  });
  expect(handled).toBe(1);
  await scene.verify();
});

test('B37: a step beside a faster one runs once, also while the faster goes on', async () => {
  const finish = gate();
  const counts = { a: 0, b: 0, c: 0 };
  const flow = flowOf(
    [
      ['a', 'task', { function: 'a' }],
      ['b', 'task', { function: 'b' }],
      ['c', 'task', { function: 'c' }],
    ],
    ['start>a', 'start>c', 'a>b'],
  );
  const functions = {
    a: () => void counts.a++,
    b: () => {
      counts.b += 1;
      finish.open();
    },
    c: async () => {
      counts.c += 1;
      await finish.opened;
    },
  };
  const scene = await flowScene(flow, functions);
  expect(await scene.run()).toMatchObject({ kind: 'complete' });
  expect(counts).toEqual({ a: 1, b: 1, c: 1 });
});

describe('B38: two recoverers of one run', () => {
  test('under leases one owns it, the other is told by whom', async () => {
    const held = heldNode(true);
    const scene = await sceneOf(dagOf(['a']), { a: held.node });
    const bound = { graph: scene.graph, nodes: scene.nodes };
    const first = driveRun(scene.storage, bound, { runId: 'r1' });
    await held.begun.opened;
    const second = driveRun(scene.storage, bound, { runId: 'r1' });
    await expect(second).rejects.toMatchObject({ code: 'RUN_OWNED' });
    await expect(second).rejects.toThrow(`process ${process.pid}`);
    held.finish.open();
    expect(await first).toMatchObject({ result: { output: { nodes: { a: 'first' } } } });
    expect(held.starts()).toBe(1);
  });

  test('without leases no node runs twice, and all results agree', async () => {
    for (let round = 0; round < 50; round += 1) {
      const starts = new Map<string, number>();
      const node = (id: string) =>
        dataNode(async () => {
          starts.set(id, (starts.get(id) ?? 0) + 1);
          if (round % 2 === 0) await nextTurn();
          return id;
        });
      const ids = ['a', 'b', 'c', 'd'];
      const nodes = Object.fromEntries(ids.map((id) => [id, node(id)]));
      const scene = await sceneOf(dagOf(ids, { edges: ['a>b', 'a>c', 'b>d', 'c>d'] }), nodes);
      const executors = await Promise.all([scene.open(), scene.open(), scene.open()]);
      const ended = await Promise.all(executors.map(outcomeOf));
      expect([...starts.values()]).toEqual([1, 1, 1, 1]);
      const complete = ended.filter((outcome) => outcome === 'complete');
      expect(complete.length).toBeGreaterThan(0);
      for (const outcome of ended) {
        expect(['complete', 'waiting', 'OWNERSHIP_LOST']).toContain(outcome);
      }
      await scene.verify();
    }
  });
});

function outcomeOf(executor: { run(): Promise<RunResult> }): Promise<string> {
  return executor.run().then(
    ({ kind }) => kind,
    (error: { code: string }) => error.code,
  );
}

/** A storage whose calls fail as long as `isDown` says so. */
function failing(
  storage: RunStorage,
  isDown: (call: string, runId: string) => boolean,
): RunStorage {
  const down = (call: string, runId: string) => {
    if (!isDown(call, runId)) return;
    throw Object.assign(new Error('the store is down'), { code: 'ECONNREFUSED' });
  };
  const { eventStore, runIndex } = storage;
  return {
    ...storage,
    eventStore: {
      append: async (stream, ...rest) => {
        down('append', stream.streamId);
        return eventStore.append(stream, ...rest);
      },
      read: (...args) => eventStore.read(...args),
      readAt: async (stream, sequences) => {
        down('readAt', stream.streamId);
        return eventStore.readAt(stream, sequences);
      },
      end: (...args) => eventStore.end(...args),
      compact: (...args) => eventStore.compact(...args),
      subscribe: (...args) => eventStore.subscribe(...args),
      sync: () => eventStore.sync(),
    },
    runIndex: {
      list: (...args) => runIndex.list(...args),
      get: (...args) => runIndex.get(...args),
      due: async (now) => {
        down('due', '');
        return runIndex.due(now);
      },
      claimable: (...args) => runIndex.claimable(...args),
    },
  };
}

describe('B41: the store is down while runs are recovered', () => {
  test.each(['due', 'readAt', 'append'])(
    '%s fails at first: every run ends',
    async (failingCall) => {
      const clock = handClock();
      const storage = createMemoryRunStorage({ namespace: 'test', clock });
      const graph = dagOf(['a', 'b'], { edges: ['a>b'] });
      const runIds = ['r1', 'r2', 'r3', 'r4', 'r5'];
      for (const runId of runIds) await startRun(storage, { runId, graph, input: null, clock });
      const starts: string[] = [];
      const node = dataNode((_input, { runId, nodeId }) => void starts.push(`${runId} ${nodeId}`));
      const failures = new Map([['r3', 2]]);
      const unsteady = failing(storage, (call, runId) => {
        const left = failures.get(call === 'due' ? 'r3' : runId) ?? 0;
        if (call !== failingCall || left === 0) return false;
        failures.set('r3', left - 1);
        return true;
      });
      const ended = new Map<string, string>();
      const told: unknown[] = [];
      const halt = new AbortController();
      const host = runDue(unsteady, () => ({ graph, nodes: { a: node, b: node } }), {
        clock,
        signal: halt.signal,
        onResult: (runId, { kind }) => ended.set(runId, kind),
        onError: (_runId, error) => told.push(error),
      });
      while (ended.size < runIds.length) {
        await clock.rest();
        clock.pass(1_000);
      }
      halt.abort();
      await host;
      expect([...ended.keys()].sort()).toEqual(runIds);
      expect(told.length).toBeGreaterThan(0);
      expect(new Set(starts).size).toBe(10);
      expect(starts).toHaveLength(10);
    },
  );
});

test.each([
  ['nothing', ''],
  ['a space', ' '],
  ['a path', '../r1'],
  ['NUL', 'r\u00001'],
  ['a lone surrogate', 'r\ud83e'],
  ['10 kB', 'r'.repeat(10_000)],
  ['no text', 7 as unknown as string],
])('B43: a run id of %s is refused at the door', async (_what, runId) => {
  const storage = createMemoryRunStorage({ namespace: 'test' });
  const graph = dagOf(['a']);
  const options = { runId, graph, input: null };
  await expect(startRun(storage, options)).rejects.toMatchObject({ code: 'INVALID_ID' });
  const opened = createGraphExecutor({ runId, graph, storage, nodes: { a: dataNode(() => 1) } });
  await expect(opened).rejects.toMatchObject({ code: 'INVALID_ID' });
  expect(await storage.runIndex.list()).toEqual({ runs: [] });
});

test('B46: runs cancelled in their back-off start no attempt any more', async () => {
  const clock = handClock();
  const storage = createMemoryRunStorage({ namespace: 'test', clock });
  const retry = { max: 100, delayMs: 60_000 };
  const flow = flowOf([['a', 'task', { function: 'fail', retry }]], ['start>a']);
  let starts = 0;
  const functions = {
    fail: () => {
      starts += 1;
      throw new Error('not yet');
    },
  };
  const scenes = [];
  for (let run = 0; run < 200; run += 1) {
    scenes.push(await flowScene(flow, functions, { storage, clock, runId: `r${run}` }));
  }
  for (const scene of scenes) await scene.run({ maxIdleMs: 0 });
  expect(starts).toBe(200);
  for (const scene of scenes) await (await scene.open()).cancel({ by: 'ada', reason: 'enough' });
  clock.pass(3_600_000);
  for (const scene of scenes) {
    expect(await scene.run()).toMatchObject({ kind: 'fail', code: 'CANCELLED' });
  }
  clock.pass(3_600_000);
  for (const scene of scenes) await scene.run();
  expect(starts).toBe(200);
  expect((await storage.runIndex.due('2030-01-01T00:00:00.000Z' as never)).length).toBe(0);
});

test('B47: what a slow worker reports after another has finished is dropped', async () => {
  const clock = handClock();
  const held = heldNode(true);
  const scene = await sceneOf(dagOf(['a']), { a: held.node }, { clock });
  const first = (await scene.open({ lease: await leaseOf(scene.storage, 'one') })).run();
  await held.begun.opened;
  clock.pass(61_000);
  const second = await scene.open({ lease: await leaseOf(scene.storage, 'two') });
  expect(await second.run()).toMatchObject({ kind: 'waiting' });
  const done = { kind: 'complete', output: { nodes: { a: 'second' } } };
  expect(await second.resume('dag/a/1')).toEqual(done);
  const before = await scene.events();
  held.finish.open();
  await expect(first).rejects.toMatchObject({ code: 'OWNERSHIP_LOST' });
  expect(await scene.events()).toEqual(before);
  expect(await scene.run()).toEqual(done);
});

test('B47: a late report is not taken for that of the attempt that was resumed since', async () => {
  const begun = [gate(), gate()];
  const finish = [gate<string>(), gate<string>()];
  let starts = 0;
  const node = dataNode(
    () => {
      const start = starts;
      starts += 1;
      begun[start]?.open();
      return finish[start]?.opened;
    },
    { retrySafe: true },
  );
  const scene = await sceneOf(dagOf(['a']), { a: node });
  const first = scene.run();
  await begun[0]?.opened;
  const second = scene.resume('dag/a/1');
  await begun[1]?.opened;
  finish[0]?.open('first');
  await expect(first).rejects.toMatchObject({ code: 'OWNERSHIP_LOST' });
  expect(await scene.types()).not.toContain('node-completed');
  finish[1]?.open('second');
  expect(await second).toMatchObject({ output: { nodes: { a: 'second' } } });
  await scene.verify();
});

describe('B50: a step left in flight by a worker that is gone', () => {
  test('a host takes it up once the lease has run out, and not before', async () => {
    const clock = handClock();
    const held = heldNode(true);
    const scene = await sceneOf(dagOf(['a']), { a: held.node }, { clock });
    void (await scene.open({ lease: await leaseOf(scene.storage, 'gone') })).run().catch(() => {});
    await held.begun.opened;
    const ended: RunResult[] = [];
    const halt = new AbortController();
    const host = runDue(scene.storage, () => ({ graph: scene.graph, nodes: scene.nodes }), {
      clock,
      signal: halt.signal,
      onResult: (_runId, result) => ended.push(result),
    });
    await clock.rest();
    clock.pass(30_000);
    await clock.rest();
    expect(held.starts()).toBe(1);
    clock.pass(31_000);
    await clock.rest();
    halt.abort();
    await host;
    expect(ended).toEqual([{ kind: 'complete', output: { nodes: { a: 'second' } } }]);
  });

  test('a step parked on a child is not taken for abandoned', async () => {
    const inner = flowOf([['ask', 'approval', { prompt: 'ok?' }]], ['start>ask']);
    const outer = flowOf([['sub', 'subflow', { flow: 'inner', input: null }]], ['start>sub']);
    const scene = await flowScene(outer, {}, { flows: { inner } });
    const paused = await scene.run();
    const before = await scene.types();
    expect(await scene.run()).toEqual(paused);
    expect(await scene.types()).toEqual(before);
    const executor = await scene.open();
    await executor.answer(pauseIdOf(paused), true, { by: 'ada' });
    expect(await executor.run()).toMatchObject({ kind: 'complete' });
    await scene.verify();
  });
});

test('B52: the input is in the first event, and recovery needs nothing else', async () => {
  const flow = flowOf([['a', 'task', { function: 'a', input: '{{ input }}' }]], ['start>a']);
  const scene = await flowScene(flow, { a: (given) => given }, { input: { a: 1 } });
  const [first] = await scene.events();
  expect(first).toMatchObject({
    type: 'graph:run-started',
    payload: { definition: { resolvedInputs: { value: { a: 1 } } } },
  });
  expect(await scene.run()).toMatchObject({ output: { nodes: { a: { a: 1 } } } });
});

test('B53: steps written in one turn beside a pause are all kept', async () => {
  const both = gate();
  let resumed = 0;
  const nodes = {
    a: dataNode(
      async (_input, { step }) => {
        resumed += 1;
        const results = await Promise.all([step('one', () => 1), step('two', () => 2)]);
        if (resumed > 1) return results;
        both.open();
        return new Promise(() => {});
      },
      { retrySafe: true },
    ),
    ask: waitNode({ kind: 'approval', prompt: 'ok?' }),
  };
  const scene = await sceneOf(dagOf(['a', 'ask']), nodes);
  void scene.run();
  await both.opened;
  const executor = await scene.open();
  expect(await executor.run()).toMatchObject({ kind: 'waiting', positions: ['dag/a/1'] });
  const paused = await executor.resume('dag/a/1');
  await executor.answer(pauseIdOf(paused), 'yes', { by: 'ada' });
  expect(await executor.run()).toEqual({
    kind: 'complete',
    output: { nodes: { a: [1, 2], ask: 'yes' } },
  });
  const recorded = (await scene.types()).filter((type) => type === 'node-step-recorded');
  expect(recorded).toHaveLength(2);
  await scene.verify();
});
