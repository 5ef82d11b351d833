/** Each kit must catch stores that are wrong in one way, by the case that is about it. */
import {
  type EventStore,
  isHoldfastError,
  type LeaseStore,
  type NewEvent,
  Redactor,
  type SnapshotStore,
  StorageError,
} from 'holdfast';
import {
  runEventStoreConformance,
  runLeaseStoreConformance,
  runSnapshotStoreConformance,
} from 'holdfast/testing';
import { describe, expect, it } from 'vitest';
import { failedCases, type Mutant, mutated } from './mutated-store.ts';

const eventMutants: Readonly<Record<string, Mutant<EventStore>>> = {
  'checks the end, waits, then appends': {
    caught: 'exactly one wins',
    port: (real) => ({
      append: async (stream, expected, events, options) => {
        const end = await real.end(stream);
        if (expected !== 'end' && end !== expected) return real.append(stream, expected, events);
        await new Promise((resolve) => setImmediate(resolve));
        return real.append(stream, end === 0 ? 0 : 'end', events, options);
      },
    }),
  },
  'appends at the end after a conflict': {
    caught: 'another end than the stream has',
    port: (real) => ({
      append: async (stream, expected, events, options) => {
        try {
          return await real.append(stream, expected, events, options);
        } catch (error) {
          if (!isHoldfastError(error, 'SEQUENCE_CONFLICT')) throw error;
          return real.append(stream, await real.end(stream), events, options);
        }
      },
    }),
  },
  'writes a batch event by event': {
    caught: 'with one bad event',
    port: (real) => ({
      append: async (stream, expected, events, options) => {
        let receipt = { sequence: 0 };
        for (const [place, event] of events.entries()) {
          const at = expected === 'end' ? expected : expected + place;
          receipt = await real.append(stream, at, [event], options);
        }
        return events.length === 0 ? real.append(stream, expected, events, options) : receipt;
      },
    }),
  },
  'reads from the sequence given': {
    caught: 'begins behind the sequence given',
    port: (real) => ({
      read: (stream, options) =>
        real.read(stream, { after: Math.max(0, (options?.after ?? 0) - 1) }),
    }),
  },
  'copies the events too late': {
    caught: 'what the caller does to its events later',
    port: (real) => ({
      append: async (stream, expected, events, options) => {
        await Promise.resolve();
        return real.append(stream, expected, events, options);
      },
    }),
  },
  'knows no repeats': {
    caught: 'identical batch again',
    port: (real) => ({
      append: async (stream, expected, events, options) => {
        const end = await real.end(stream);
        if (expected !== 'end' && expected < end) {
          throw new StorageError('SEQUENCE_CONFLICT', 'mutant');
        }
        return real.append(stream, expected, events, options);
      },
    }),
  },
  'takes every batch of the same length for a repeat': {
    caught: 'identical batch again',
    port: (real) => ({
      append: async (stream, expected, events, options) => {
        const end = await real.end(stream);
        if (expected !== 'end' && end === expected + events.length && end > 0) {
          return { sequence: end };
        }
        return real.append(stream, expected, events, options);
      },
    }),
  },
  'ignores fences': {
    caught: 'an older fence is refused',
    port: (real) => ({
      append: (stream, expected, events, options) => {
        const { fence: _, ...rest } = options ?? {};
        return real.append(stream, expected, events, rest);
      },
    }),
  },
  'counts characters, not bytes': {
    caught: 'over the limits',
    options: ({ policy }) => ({
      policy: { ...policy, maxEventPayloadBytes: policy.maxAppendBatchBytes },
    }),
  },
  'looks for plain secrets only': {
    caught: 'in every form',
    options: () => ({ knownSecrets: [] }),
    port: (real) => ({
      append: async (stream, expected, events, options) => {
        if (JSON.stringify(events).includes('pass word')) {
          throw new StorageError('KNOWN_SECRET', 'mutant');
        }
        return real.append(stream, expected, events, options);
      },
    }),
  },
  'reads nothing that is over a new limit': {
    caught: 'leave what is stored readable',
    port: (real, { record }) => ({
      async *read(stream, options) {
        for await (const event of real.read(stream, options)) {
          if (JSON.stringify(event.payload).length > record.policy.maxEventPayloadBytes) {
            throw new StorageError('INVALID_STORED_VALUE', 'mutant');
          }
          yield event;
        }
      },
    }),
  },
  'searches payloads only': {
    caught: 'in every form',
    options: () => ({ knownSecrets: [] }),
    port: (real) => {
      const redactor = new Redactor(['pass word/\n"ü€"+?']);
      return {
        append: async (stream, expected, events, options) => {
          const isHarmless = ({ payload }: NewEvent) =>
            JSON.stringify(redactor.json(payload)) === JSON.stringify(payload);
          if (Array.isArray(events) && !events.every(isHarmless)) {
            throw new StorageError('KNOWN_SECRET', 'mutant');
          }
          return real.append(stream, expected, events, options);
        },
      };
    },
  },
  'puts all namespaces together': {
    caught: 'streams and namespaces are apart',
    port: (real) => ({
      append: (stream, expected, events, options) =>
        real.append({ ...stream, namespace: 'kit' }, expected, events, options),
      read: (stream, options) => real.read({ ...stream, namespace: 'kit' }, options),
    }),
  },
  'takes an id a second time': {
    caught: 'an explicit id stands in a stream once',
    port: (real) => ({
      append: async (stream, expected, events, options) => {
        try {
          return await real.append(stream, expected, events, options);
        } catch (error) {
          if (!isHoldfastError(error, 'DUPLICATE_EVENT_ID')) throw error;
          const named = events.map(({ id: _, ...event }) => event);
          return real.append(stream, expected, named, options);
        }
      },
    }),
  },
  'compacts without a snapshot': {
    caught: 'a compaction keeps',
    port: (real, { snapshotStore }) => ({
      compact: async (stream, through) => {
        await snapshotStore.save(stream, { sequence: await real.end(stream), body: null });
        return real.compact(stream, through);
      },
    }),
  },
  'forgets the end with the events': {
    caught: 'a compaction keeps',
    port: (real) => ({
      end: async (stream) => {
        let last = 0;
        for await (const event of real.read(stream)) last = event.sequence;
        return last;
      },
    }),
  },
  'tells listeners twice': {
    caught: 'a listener gets every append once',
    port: (real) => ({
      subscribe: (stream, after, listener) =>
        real.subscribe(stream, after, (events) => {
          listener(events);
          listener(events);
        }),
    }),
  },
  'tells listeners event by event': {
    caught: 'a listener gets every append once',
    port: (real) => ({
      subscribe: (stream, after, listener) =>
        real.subscribe(stream, after, (events) => {
          for (const event of events) listener([event]);
        }),
    }),
  },
  'cuts text at NUL': {
    caught: 'every text and number comes back',
    port: (real) => ({
      async *read(stream, options) {
        for await (const event of real.read(stream, options)) {
          const { payload } = event;
          yield {
            ...event,
            payload: typeof payload === 'string' ? (payload.split('\0')[0] ?? '') : payload,
          };
        }
      },
    }),
  },
  'normalises text': {
    caught: 'every text and number comes back',
    port: (real) => ({
      async *read(stream, options) {
        for await (const event of real.read(stream, options)) {
          yield { ...event, id: event.id.normalize('NFC') };
        }
      },
    }),
  },
  'saves the snapshot of a lost append': {
    caught: 'stand or fall with their append',
    port: (real, { snapshotStore }) => ({
      append: async (stream, expected, events, options) => {
        const { snapshot, ...rest } = options ?? {};
        if (snapshot !== undefined) {
          await snapshotStore.save(stream, { ...snapshot, sequence: await real.end(stream) });
        }
        return real.append(stream, expected, events, rest);
      },
    }),
  },
  'forgets the index': {
    caught: 'stand or fall with their append',
    port: (real) => ({
      append: (stream, expected, events, options) => {
        const { index: _, ...rest } = options ?? {};
        return real.append(stream, expected, events, rest);
      },
    }),
  },
};

const snapshotMutants: Readonly<Record<string, Mutant<SnapshotStore>>> = {
  'gives the last one saved': {
    caught: 'the newest snapshot by sequence',
    port: (real) => {
      let last: Awaited<ReturnType<SnapshotStore['newest']>> = null;
      return {
        save: async (stream, snapshot) => {
          await real.save(stream, snapshot);
          last = snapshot;
        },
        newest: async (stream) => last ?? real.newest(stream),
      };
    },
  },
  'accepts what is ahead': {
    caught: 'past the end is refused',
    port: (real) => ({
      save: async (stream, snapshot) => {
        try {
          await real.save(stream, snapshot);
        } catch (error) {
          if (!isHoldfastError(error, 'SNAPSHOT_AHEAD')) throw error;
        }
      },
    }),
  },
  'copies too late': {
    caught: 'a body is copied',
    port: (real) => ({
      save: async (stream, snapshot) => {
        await Promise.resolve();
        await real.save(stream, snapshot);
      },
    }),
  },
};

const leaseMutants: Readonly<Record<string, Mutant<LeaseStore>>> = {
  'grants to everybody': {
    caught: 'a lease has one holder',
    port: (real) => ({
      acquire: async (key, owner, ttlMs, options) => {
        const outcome = await real.acquire(key, owner, ttlMs, options);
        if ('fence' in outcome) return outcome;
        return { key, owner, fence: 1n, expiresAt: outcome.expiresAt };
      },
    }),
  },
  'never frees what has run out': {
    caught: 'an expiry frees',
    options: ({ clock }) => ({ clock: { ...clock, now: () => 0 } }),
  },
  'takes over the living': {
    caught: 'a lease has one holder',
    memory: { isProvenDead: () => true },
  },
  'renews what is lost': {
    caught: 'a release frees',
    port: (real) => ({
      renew: async (grant, ttlMs) => {
        try {
          return await real.renew(grant, ttlMs);
        } catch {
          return { ...grant, expiresAt: grant.expiresAt + ttlMs };
        }
      },
    }),
  },
  'begins its fences anew': {
    caught: 'the fence grows',
    port: (real) => ({
      acquire: async (key, owner, ttlMs, options) => {
        const outcome = await real.acquire(key, owner, ttlMs, options);
        return 'fence' in outcome ? { ...outcome, fence: 1n } : outcome;
      },
      renew: async (grant) => grant,
    }),
  },
  'never takes over': {
    caught: 'a holder proven dead is replaced',
    port: (real) => ({
      acquire: (key, owner, ttlMs) => real.acquire(key, owner, ttlMs, { takeover: 'never' }),
    }),
  },
};

describe('the kit of events catches a store that', () => {
  it.each(Object.entries(eventMutants))('%s', async (_, mutant) => {
    const failed = await failedCases(runEventStoreConformance, mutated('eventStore', mutant));
    expect(failed).toContainEqual(expect.stringContaining(mutant.caught));
  });
});

describe('the kit of snapshots catches a store that', () => {
  it.each(Object.entries(snapshotMutants))('%s', async (_, mutant) => {
    const failed = await failedCases(runSnapshotStoreConformance, mutated('snapshotStore', mutant));
    expect(failed).toContainEqual(expect.stringContaining(mutant.caught));
  });
});

describe('the kit of leases catches a store that', () => {
  it.each(Object.entries(leaseMutants))('%s', async (_, mutant) => {
    const failed = await failedCases(runLeaseStoreConformance, mutated('leaseStore', mutant));
    expect(failed).toContainEqual(expect.stringContaining(mutant.caught));
  });
});
