/** A host that stays: whose turn it is, and how often. */
import {
  dataNode,
  type NodeBindings,
  type RunDueOptions,
  type RunIndexRow,
  runDue,
  startRun,
} from 'holdfast';
import { createMemoryRunStorage } from 'holdfast/storage/memory';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { dagOf, gate } from '../executor/world.ts';
import { handClock } from '../scenarios/world.ts';

const graph = dagOf(['a']);
const POLL_MS = 1_000;

afterEach(() => void vi.restoreAllMocks());

/** A host over these runs, whose looks are made one by one. */
async function hostOf(
  runIds: readonly string[],
  bind: (row: RunIndexRow) => NodeBindings | null,
  options: RunDueOptions = {},
) {
  const clock = handClock();
  const storage = createMemoryRunStorage({ namespace: 'test', clock });
  for (const runId of runIds) {
    await startRun(storage, { runId, graph, input: null, clock });
    clock.pass(1);
  }
  const halt = new AbortController();
  const bound = (row: RunIndexRow) => {
    const nodes = bind(row);
    return nodes === null ? null : { graph, nodes };
  };
  const ended = runDue(storage, bound, { ...options, clock, signal: halt.signal });
  return {
    storage,
    clock,
    /** Lets the look under way and so many more be made. */
    looks: async (count: number) => {
      await clock.rest();
      for (let look = 0; look < count; look += 1) {
        clock.pass(POLL_MS);
        await clock.rest();
      }
    },
    stop: async () => {
      halt.abort();
      await ended;
    },
  };
}

const works: NodeBindings = { a: dataNode(() => 1) };
const many = (name: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${name}-${index}`);

describe('runs that this host cannot drive', () => {
  test('leave their turn to later ones when they are left to somebody else', async () => {
    const results: string[] = [];
    const host = await hostOf(
      [...many('other', 20), 'mine'],
      ({ runId }) => (runId === 'mine' ? works : null),
      { onResult: (runId) => results.push(runId) },
    );
    await host.looks(2);
    await host.stop();
    expect(results).toEqual(['mine']);
  });

  test('leave their turn to later ones when they fail at once', async () => {
    const results: string[] = [];
    const host = await hostOf(
      [...many('broken', 40), 'mine'],
      ({ runId }) => (runId === 'mine' ? works : {}),
      { onResult: (runId) => results.push(runId) },
    );
    await host.looks(4);
    await host.stop();
    expect(results).toEqual(['mine']);
  });

  test('are tried ever more seldom, at least once a minute, and told of once a try', async () => {
    const tries: number[] = [];
    let errors = 0;
    const host = await hostOf(
      ['broken'],
      () => {
        tries.push(host.clock.now());
        return {};
      },
      { onError: () => errors++ },
    );
    await host.looks(260);
    await host.stop();
    const waits = tries.slice(1).map((at, index) => (at - (tries[index] ?? 0)) / POLL_MS);
    expect(waits).toEqual([2, 4, 8, 16, 32, 60, 60, 60]);
    expect(errors).toBe(tries.length);
  });

  test('are tried at once when somebody has written to them', async () => {
    let isKnown = false;
    const results: string[] = [];
    const host = await hostOf(['r'], () => (isKnown ? works : null), {
      onResult: (runId) => results.push(runId),
    });
    // Passed over at 0, 2 and 6 s, and then until 14 s.
    await host.looks(7);
    isKnown = true;
    await host.looks(2);
    expect(results).toEqual([]);
    const stream = { namespace: 'test', streamId: 'r' };
    const payload = { name: 'n', signalId: 's', payload: null, at: '2026-01-01T00:00:00.000Z' };
    await host.storage.eventStore.append(stream, 'end', [
      { type: 'graph:signal-received', version: 1, timestamp: payload.at as never, payload },
    ]);
    await host.looks(1);
    await host.stop();
    expect(results).toEqual(['r']);
  });
});

test('one listener stands on the signal, however many runs are driven', async () => {
  const add = vi.spyOn(AbortSignal.prototype, 'addEventListener');
  const done = gate<void>();
  let running = 0;
  const node = dataNode(() => {
    running += 1;
    return done.opened;
  });
  const host = await hostOf(many('r', 16), () => ({ a: node }));
  await host.looks(3);
  const perSignal = new Map<unknown, number>();
  for (const signal of add.mock.contexts) perSignal.set(signal, (perSignal.get(signal) ?? 0) + 1);
  done.open();
  await host.stop();
  expect(running).toBe(16);
  expect(Math.max(...perSignal.values())).toBeLessThan(5);
});
