/** Section F: timers, clocks, signals. Timers run on every store (B82). */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Clock, dataNode, type RunResult, type RunStorage, runDue, waitNode } from 'holdfast';
import { createLocalRunStorage } from 'holdfast/storage/local';
import { createMemoryRunStorage } from 'holdfast/storage/memory';
import { createSeededRandom } from 'holdfast/testing';
import { afterAll, describe, expect, test } from 'vitest';
import { carefulDraftReview } from '../executor/draft-review.ts';
import { dagOf, gate } from '../executor/world.ts';
import { flowOf } from '../nodes/flow-world.ts';
import { flowScene, type HandClock, handClock, pausesOf, sceneOf, someTurns } from './world.ts';

const base = mkdtempSync(path.join(tmpdir(), 'holdfast-timing-'));
afterAll(() => rmSync(base, { recursive: true, force: true }));

const stores: readonly (readonly [string, (clock: Clock) => RunStorage])[] = [
  ['memory', (clock) => createMemoryRunStorage({ namespace: 'test', clock })],
  [
    'sqlite',
    (clock) => {
      // The store's own retries and polls go by the machine's time.
      const directory = mkdtempSync(path.join(base, 'run-'));
      return createLocalRunStorage({ directory, namespace: 'test', clock: storeClock(clock) });
    },
  ],
];

/** The scene's time with the machine's timers: a store must not stand still while tests do. */
function storeClock(clock: Clock): Clock {
  return {
    now: () => clock.now(),
    after: (delayMs, callback) => {
      const timer = setTimeout(callback, delayMs).unref();
      return { cancel: () => clearTimeout(timer) };
    },
    soon: (callback) => void setImmediate(callback),
  };
}

interface WatchedStorage {
  readonly storage: RunStorage;
  /** Resolves once nobody waits for the store, however slow it is, and nobody goes on to it. */
  isStill(): Promise<void>;
}

function watchedStorage(storage: RunStorage, clock: HandClock): WatchedStorage {
  let calls = 0;
  let open = 0;
  const watched = <Port extends object>(port: Port): Port =>
    new Proxy(port, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name, target);
        if (typeof member !== 'function') return member;
        return (...args: unknown[]): unknown => {
          const answer: unknown = Reflect.apply(member, target, args);
          calls += 1;
          if (!(answer instanceof Promise)) return answer;
          open += 1;
          const over = () => {
            open -= 1;
          };
          answer.then(over, over);
          return answer;
        };
      },
    });
  return {
    storage: {
      ...storage,
      eventStore: watched(storage.eventStore),
      snapshotStore: watched(storage.snapshotStore),
      leaseStore: watched(storage.leaseStore),
      runIndex: watched(storage.runIndex),
    },
    isStill: async () => {
      for (let before = -1; open > 0 || calls !== before; ) {
        before = calls;
        await clock.rest();
      }
    },
  };
}

const sleepThenWork = flowOf(
  [
    ['sleep', 'delay', { delayMs: 60_000 }],
    ['work', 'task', { function: 'work' }],
  ],
  ['start>sleep', 'sleep>work'],
);

describe.each(stores)('on the %s store', (_name, storageOf) => {
  test('B70 B82: a delay of 60 s, left at 20 s, taken up at 90 s, is over once', async () => {
    const clock = handClock();
    const storage = storageOf(clock);
    let works = 0;
    const scene = await flowScene(sleepThenWork, { work: () => void works++ }, { clock, storage });
    const asleep = await scene.run({ maxIdleMs: 0 });
    expect(asleep).toEqual({
      kind: 'waiting',
      positions: [],
      wakeAt: '2026-01-01T00:01:00.000Z',
    });
    clock.pass(20_000);
    expect(await scene.run({ maxIdleMs: 0 })).toEqual(asleep);
    expect(works).toBe(0);
    clock.pass(70_000);
    expect(await scene.run({ maxIdleMs: 0 })).toMatchObject({ kind: 'complete' });
    expect(works).toBe(1);
    expect(await scene.positions()).toEqual(['flow/start#1', 'flow/sleep#1', 'flow/work#1']);
    await scene.verify();
    await storage.close();
  });

  test('B82: a deadline that passes in the middle of a run ends its wait on time', async () => {
    const clock = handClock();
    const storage = storageOf(clock);
    const finish = gate();
    const nodes = {
      ask: waitNode({
        kind: 'approval',
        prompt: 'ok?',
        deadlineMs: 5_000,
        onDeadline: { result: 'late' },
      }),
      slow: dataNode(() => finish.opened),
      after: dataNode(() => finish.open()),
    };
    const graph = dagOf(['ask', 'slow', 'after'], { edges: ['ask>after'] });
    const scene = await sceneOf(graph, nodes, { clock, storage });
    const executor = await scene.open();
    const running = executor.run();
    await pausesOf(executor);
    clock.pass(4_999);
    // The owner answers in a turn of its own: had the wait ended early, this would tell.
    expect(await executor.pauses()).toHaveLength(1);
    expect(await scene.types()).not.toContain('timer-fired');
    clock.pass(1);
    expect(await running).toMatchObject({ output: { nodes: { ask: 'late' } } });
    await scene.verify();
    await storage.close();
  });

  test('B82: a host that stays fires what is due by itself', async () => {
    const clock = handClock();
    const { storage, isStill } = watchedStorage(storageOf(clock), clock);
    let works = 0;
    const scene = await flowScene(sleepThenWork, { work: () => void works++ }, { clock, storage });
    const halt = new AbortController();
    const ended = gate<RunResult>();
    const host = runDue(storage, () => ({ graph: scene.graph, nodes: scene.nodes }), {
      clock,
      signal: halt.signal,
      onResult: (_runId, result) => {
        if (result.kind === 'complete') ended.open(result);
      },
    });
    let isOver = false;
    void ended.opened.then(() => {
      isOver = true;
    });
    while (!isOver) {
      // Time must not run away from the store's own work, or the host would lose its lease.
      await isStill();
      expect(works === 0 || clock.now() >= Date.UTC(2026, 0, 1) + 60_000).toBe(true);
      clock.pass(1_000);
    }
    expect(await ended.opened).toMatchObject({ kind: 'complete' });
    halt.abort();
    await host;
    expect(works).toBe(1);
    await storage.close();
  });
});

test('B71: a deadline that has passed and was not taken in survives restores', async () => {
  const clock = handClock();
  const nodes = {
    ask: waitNode({
      kind: 'approval',
      prompt: 'ok?',
      deadlineMs: 60_000,
      onDeadline: { result: 'late' },
    }),
  };
  const scene = await sceneOf(dagOf(['ask']), nodes, { clock });
  await scene.run();
  clock.pass(61_000);
  // Opened, looked at, and let go of again: nothing is consumed by looking.
  for (let restore = 0; restore < 3; restore += 1) {
    const executor = await scene.open();
    expect(await executor.pauses()).toHaveLength(1);
    await executor.view();
  }
  expect(await scene.run()).toMatchObject({ output: { nodes: { ask: 'late' } } });
  expect((await scene.types()).filter((type) => type === 'timer-fired')).toHaveLength(1);
});

test('a timer of a lost race does not stay: no timer waits once the run has ended', async () => {
  const clock = handClock();
  const nodes = {
    quick: dataNode(() => 'quick', { timeoutMs: 3_600_000 }),
    wait: waitNode({ kind: 'signal', name: 'go', deadlineMs: 3_600_000 }),
  };
  const scene = await sceneOf(dagOf(['quick', 'wait']), nodes, { clock });
  const executor = await scene.open();
  await executor.run();
  await executor.signal('go', 1, { signalId: 'one' });
  expect(await executor.run()).toMatchObject({ kind: 'complete' });
  expect(clock.waiting).toBe(0);
});

test('B73: a signal sent within one moment of its wait is never lost, in any order', async () => {
  for (let seed = 0; seed < 1_000; seed += 1) {
    const random = createSeededRandom(seed);
    const turns = Math.floor(random.next() * 8);
    const nodes = { wait: waitNode({ kind: 'signal', name: 'go', deadlineMs: 60_000 }) };
    const clock = handClock();
    const scene = await sceneOf(dagOf(['wait']), nodes, { clock });
    const owner = await scene.open();
    const sender = random.next() < 0.5 ? owner : await scene.open();
    const sending = async () => {
      await someTurns(turns);
      await sender.signal('go', seed, { signalId: 'one' });
    };
    const [, first] =
      random.next() < 0.5
        ? await Promise.all([sending(), owner.run()])
        : (await Promise.all([owner.run(), sending()])).reverse();
    const result = (first as RunResult).kind === 'complete' ? first : await owner.run();
    expect(result, `seed ${seed}`).toEqual({ kind: 'complete', output: { nodes: { wait: seed } } });
  }
});

test('B74: a signal without a waiter is kept until one comes, each for one wait', async () => {
  const nodes = {
    first: waitNode({ kind: 'signal', name: 'go' }),
    second: waitNode({ kind: 'signal', name: 'go' }),
    other: waitNode({
      kind: 'signal',
      name: 'stop',
      deadlineMs: 1_000,
      onDeadline: { result: null },
    }),
  };
  const clock = handClock();
  const edges = ['first>second', 'second>other'];
  const scene = await sceneOf(dagOf(Object.keys(nodes), { edges }), nodes, { clock });
  const sender = await scene.open();
  for (const id of ['a', 'b', 'c']) await sender.signal('go', id, { signalId: id });
  expect(await scene.run()).toMatchObject({ kind: 'pause', pauses: [{ nodeId: 'other' }] });
  clock.pass(1_000);
  expect(await scene.run()).toEqual({
    kind: 'complete',
    output: { nodes: { first: 'a', second: 'b', other: null } },
  });
});

describe('B74: a signal that the graph takes no notice of', () => {
  test.each(['the owner', 'another process'])('stops no run: sent by %s', async (sender) => {
    const finish = gate();
    const begun = gate();
    const nodes = {
      draft: dataNode(() => {
        begun.open();
        return finish.opened;
      }),
      review: dataNode(() => null),
    };
    const scene = await sceneOf(carefulDraftReview, nodes);
    const owner = await scene.open();
    const running = owner.run();
    await begun.opened;
    const from = sender === 'the owner' ? owner : await scene.open();
    await from.signal('go', 1, { signalId: 'one' });
    await from.signal('go', 2, { signalId: 'two' });
    // The owner answers once it has taken in what the stream holds.
    await owner.view();
    finish.open();
    expect(await running).toEqual({ kind: 'complete', output: { approved: true } });
    expect(await scene.positions()).toEqual(['work/draft', 'work/review']);
    await scene.verify();
  });
});

describe('B76: an event against a timer', () => {
  const nodes = {
    wait: waitNode({
      kind: 'signal',
      name: 'go',
      deadlineMs: 1_000,
      onDeadline: { result: 'timer' },
    }),
  };

  test('the one that stands in the log first wins, now and in every replay', async () => {
    for (const moment of [999, 1_000, 1_001]) {
      const clock = handClock();
      const scene = await sceneOf(dagOf(['wait']), nodes, { clock });
      await scene.run();
      clock.pass(moment);
      await (await scene.open()).signal('go', 'event', { signalId: 'one' });
      const result = await scene.run();
      expect(result).toMatchObject({ output: { nodes: { wait: 'event' } } });
      clock.pass(10_000);
      expect(await scene.run()).toEqual(result);
      await scene.verify();
    }
  });

  test('a timer that has fired is not undone by a signal that comes after it', async () => {
    const clock = handClock();
    const scene = await sceneOf(dagOf(['wait']), nodes, { clock });
    await scene.run();
    clock.pass(1_000);
    const result = await scene.run();
    expect(result).toMatchObject({ output: { nodes: { wait: 'timer' } } });
    await (await scene.open()).signal('go', 'event', { signalId: 'one' });
    expect(await scene.run()).toEqual(result);
  });
});

describe('B77: a conflict on append', () => {
  test('makes the decision again on what the log then says, with ids from positions', async () => {
    const results: unknown[] = [];
    for (const conflicts of [[], [1], [2], [1, 2, 3], [3, 5]]) {
      const storage = createMemoryRunStorage({ namespace: 'test' });
      const ran: string[] = [];
      const node = (id: string) => dataNode(() => void ran.push(id));
      const scene = await sceneOf(
        dagOf(['a', 'b', 'c'], { edges: ['a>b', 'b>c'] }),
        { a: node('a'), b: node('b'), c: node('c') },
        { storage: interrupted(storage, conflicts) },
      );
      expect(await scene.run()).toMatchObject({ kind: 'complete' });
      expect(ran).toEqual(['a', 'b', 'c']);
      const noises = (await scene.types()).filter((type) => type === 'signal-received');
      expect(noises).toHaveLength(conflicts.length);
      const started = (await scene.events()).filter(({ type }) => type.endsWith('started'));
      results.push(started.flatMap(({ payload }) => attemptOf(payload)));
      await scene.verify();
    }
    for (const ids of results) expect(ids).toEqual(results[0]);
  });
});

function attemptOf(payload: unknown): readonly string[] {
  const { identity } = payload as { identity?: { attemptId: string } };
  return identity === undefined ? [] : [identity.attemptId];
}

/** Somebody else's signal comes first at the n-th append of the run's owner. */
function interrupted(storage: RunStorage, appends: readonly number[]): RunStorage {
  const { eventStore } = storage;
  let count = 0;
  return {
    ...storage,
    eventStore: {
      append: async (stream, expected, events, options) => {
        if (expected !== 'end' && expected > 0) {
          count += 1;
          if (appends.includes(count)) await strangersSignal(storage, stream, count);
        }
        return eventStore.append(stream, expected, events, options);
      },
      read: (...args) => eventStore.read(...args),
      readAt: (...args) => eventStore.readAt(...args),
      end: (...args) => eventStore.end(...args),
      compact: (...args) => eventStore.compact(...args),
      // Told of nothing: the conflict is the first that the owner hears.
      subscribe: () => () => {},
      sync: () => eventStore.sync(),
    },
  };
}

async function strangersSignal(
  { eventStore }: RunStorage,
  stream: Parameters<RunStorage['eventStore']['append']>[0],
  count: number,
): Promise<void> {
  const at = '2026-01-01T00:00:00.000Z' as never;
  const payload = { name: 'noise', signalId: `noise-${count}`, payload: null, at };
  const event = { id: `noise-${count}`, type: 'graph:signal-received', version: 1, timestamp: at };
  await eventStore.append(stream, 'end', [{ ...event, payload }]);
}
