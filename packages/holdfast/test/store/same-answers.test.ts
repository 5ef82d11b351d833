/** Any sequence of operations gets the same answers from the memory and the local store. */
import fc from 'fast-check';
import {
  createSystemClock,
  defaultStoragePolicy,
  type LeaseGrant,
  type RunStorage,
} from 'holdfast';
import type { StorageFactory } from 'holdfast/testing';
import { expect, it } from 'vitest';
import { localFactory, memoryFactory } from './backings.ts';
import { event, time } from './events.ts';

const small = { min: 0, max: 4 };
const runs = fc.constantFrom('a', 'b', 'a_b');
const ids = fc.option(fc.constantFrom('x', 'y', 'z', 'a@2'), { nil: undefined, freq: 3 });
const events = fc.array(fc.record({ id: ids, payload: fc.constantFrom(1, 'é\0', null) }), {
  maxLength: 3,
});
const index = fc.option(
  fc.record(
    {
      status: fc.constantFrom('running', 'paused', 'complete', 'cancelled'),
      wakeAt: fc.constantFrom(null, time, '2027-01-01T00:00:00.000Z'),
      graphId: fc.constantFrom('g', 'h'),
    },
    { requiredKeys: [] },
  ),
  { nil: undefined },
);

const operations = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('append' as const),
      run: runs,
      /** Added to the end. */
      shift: fc.constantFrom(0, 0, 0, 0, -1, -2, 1),
      events,
      fence: fc.option(fc.bigInt({ min: 0n, max: 4n }), { nil: undefined }),
      snapshot: fc.option(fc.integer({ min: 1, max: 6 }), { nil: undefined, freq: 3 }),
      index,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('end' as const), run: runs, events, index }),
  },
  fc.record({ kind: fc.constant('repeat' as const) }),
  fc.record({ kind: fc.constant('compact' as const), run: runs, through: fc.nat(8) }),
  fc.record({ kind: fc.constant('save' as const), run: runs, sequence: fc.nat(8) }),
  fc.record({ kind: fc.constant('acquire' as const), run: runs, owner: fc.integer(small) }),
  fc.record({ kind: fc.constant('renew' as const), release: fc.boolean() }),
  fc.record({ kind: fc.constant('pass' as const), ms: fc.constantFrom(500, 1000) }),
);
type Operation = typeof operations extends fc.Arbitrary<infer Value> ? Value : never;

/** One store with what the operations refer back to. */
class Player {
  readonly #storage: RunStorage;
  readonly #time: { now: number };
  #last: (() => Promise<unknown>) | null = null;
  #grant: LeaseGrant | null = null;

  constructor(storage: RunStorage, clock: { now: number }) {
    this.#storage = storage;
    this.#time = clock;
  }

  /** The answer, or the code of the refusal, and all that can be read afterwards. */
  async play(operation: Operation): Promise<unknown> {
    const answer = await this.#answer(operation).catch((error: unknown) =>
      error instanceof Error && 'code' in error ? error.code : error,
    );
    return [answer, await this.#seen()];
  }

  async #answer(operation: Operation): Promise<unknown> {
    const { eventStore, snapshotStore, leaseStore } = this.#storage;
    const stream = { namespace: 'tests', streamId: 'run' in operation ? operation.run : 'a' };
    switch (operation.kind) {
      case 'append':
      case 'end': {
        const at =
          operation.kind === 'end'
            ? 'end'
            : Math.max(0, (await eventStore.end(stream)) + operation.shift);
        const batch = operation.events.map(({ id, payload }) =>
          event(payload, id === undefined ? {} : { id }),
        );
        const {
          fence,
          snapshot,
          index: row,
        } = { fence: undefined, snapshot: undefined, ...operation };
        this.#last = () =>
          eventStore.append(stream, at, batch, {
            ...(fence === undefined ? {} : { fence }),
            ...(snapshot === undefined ? {} : { snapshot: { sequence: snapshot, body: 'in it' } }),
            ...(row === undefined ? {} : { index: row }),
          } as Parameters<typeof eventStore.append>[3]);
        return this.#last();
      }
      case 'repeat':
        return this.#last?.();
      case 'compact':
        return eventStore.compact(stream, operation.through);
      case 'save':
        return snapshotStore.save(stream, { sequence: operation.sequence, body: 'saved' });
      case 'acquire': {
        const owner = { id: `o${operation.owner}`, host: 'h', bootId: 'b', pidNamespace: 'p' };
        const full = { ...owner, pid: 1, startTime: '1' };
        const outcome = await leaseStore.acquire(operation.run, full, 1_000, { takeover: 'never' });
        if ('fence' in outcome) this.#grant = outcome;
        return outcome;
      }
      case 'renew':
        if (this.#grant === null) return null;
        return operation.release
          ? leaseStore.release(this.#grant)
          : leaseStore.renew(this.#grant, 1_000);
      case 'pass':
        this.#time.now += operation.ms;
        return null;
    }
  }

  async #seen(): Promise<unknown> {
    const { eventStore, snapshotStore, runIndex } = this.#storage;
    const now = new Date(this.#time.now).toISOString();
    const streams = [];
    for (const streamId of ['a', 'b', 'a_b']) {
      const stream = { namespace: 'tests', streamId };
      const found = [];
      for await (const each of eventStore.read(stream)) found.push(each);
      streams.push([await eventStore.end(stream), found, await snapshotStore.newest(stream)]);
    }
    const lists = [
      runIndex.due(now),
      runIndex.claimable(now),
      runIndex.list({ runIdPrefix: 'a_' }),
    ];
    return [streams, await runIndex.list(), ...(await Promise.all(lists))];
  }
}

async function answersOf(
  factory: StorageFactory,
  played: readonly Operation[],
): Promise<readonly unknown[]> {
  const backing = await factory();
  const moment = { now: Date.parse(time) };
  const storage = await backing.open({
    namespace: 'tests',
    policy: defaultStoragePolicy,
    knownSecrets: [],
    clock: { ...createSystemClock(), now: () => moment.now },
  });
  const player = new Player(storage, moment);
  const answers: unknown[] = [];
  for (const operation of played) answers.push(await player.play(operation));
  await storage.close();
  await backing.dispose?.();
  return answers;
}

const sequences = fc.array(operations, { minLength: 10, maxLength: 30 });

it('answers are the same for any sequence of operations', async () => {
  await fc.assert(
    fc.asyncProperty(sequences, async (played) => {
      expect(await answersOf(localFactory, played)).toEqual(await answersOf(memoryFactory, played));
    }),
    { numRuns: 60 },
  );
}, 120_000);

/** Of a fixed seed: chance alone does not reach every refusal each time. */
it('such sequences reach the refusals of a store', async () => {
  const codes = new Set<unknown>();
  for (const played of fc.sample(sequences, { numRuns: 200, seed: 1 })) {
    for (const answer of await answersOf(memoryFactory, played)) {
      codes.add((answer as readonly unknown[])[0]);
    }
  }
  const wanted = ['SEQUENCE_CONFLICT', 'STALE_FENCE', 'DUPLICATE_EVENT_ID', 'SNAPSHOT_AHEAD'];
  expect([...codes]).toEqual(expect.arrayContaining(wanted));
});
