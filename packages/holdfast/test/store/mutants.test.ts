/** Each kit must catch stores that are wrong in one way, by the case that is about it. */
import {
  type ArtifactReference,
  type ArtifactStore,
  defaultStoragePolicy,
  type EventStore,
  isHoldfastError,
  type LeaseStore,
  type NewArtifact,
  type NewEvent,
  Redactor,
  type RunStorage,
  type SnapshotStore,
  StorageError,
} from 'holdfast';
import {
  createMemoryBacking,
  createMemoryRunStorage,
  type MemoryRunStorageOptions,
} from 'holdfast/storage/memory';
import {
  runArtifactStoreConformance,
  runEventStoreConformance,
  runLeaseStoreConformance,
  runSnapshotStoreConformance,
  type StorageFactory,
  type StorageKitOptions,
} from 'holdfast/testing';
import { describe, expect, it } from 'vitest';

interface Mutant<Port> {
  /** Part of the name of a case that must fail. */
  readonly caught: string;
  readonly options?: (options: StorageKitOptions) => Partial<StorageKitOptions>;
  readonly memory?: Partial<MemoryRunStorageOptions>;
  readonly port?: (real: Port, storage: RunStorage) => Partial<Port>;
}

type PortName = 'eventStore' | 'snapshotStore' | 'leaseStore' | 'artifactStore';

function mutated<Name extends PortName>(
  name: Name,
  mutant: Mutant<RunStorage[Name]>,
): StorageFactory {
  return () => {
    const backing = createMemoryBacking();
    return {
      open: (options) => {
        const given = { ...options, ...mutant.options?.(options), ...mutant.memory, backing };
        const storage = createMemoryRunStorage(given);
        const real = storage[name];
        const changed = mutant.port?.(real, storage) ?? {};
        return { ...storage, [name]: delegate(real, changed) };
      },
    };
  };
}

/** `real`, but for the methods that `changed` has. */
function delegate<Port extends object>(real: Port, changed: Partial<Port>): Port {
  return new Proxy(real, {
    get: (target, key) => {
      const own: unknown = Reflect.get(changed, key);
      const value: unknown = own ?? Reflect.get(target, key);
      return typeof value === 'function' ? value.bind(own === undefined ? target : changed) : value;
    },
  });
}

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

/** What any handle of a mutant is writing. */
const writing = new Set<string>();

function exactly(artifact: NewArtifact): NewArtifact {
  return { ...artifact, contentMode: 'exact' };
}

const artifactMutants: Readonly<Record<string, Mutant<ArtifactStore>>> = {
  'keeps the bytes of the caller': {
    caught: 'copied in and copied out',
    port: (real) => ({
      write: async (scope, artifact) => {
        await Promise.resolve();
        return real.write(scope, artifact);
      },
    }),
  },
  'gives its own bytes away': {
    caught: 'copied in and copied out',
    port: (real) => {
      const given = new Map<string, Uint8Array>();
      return {
        read: async (scope, reference) => {
          const bytes = given.get(reference.digest) ?? (await real.read(scope, reference));
          given.set(reference.digest, bytes);
          return bytes;
        },
      };
    },
  },
  'charges the same bytes for each purpose': {
    caught: 'a content counts once',
    port: (real) => ({
      write: async (scope, artifact) => {
        const reference = await real.write(scope, artifact);
        if (artifact.purpose === 'a third') throw new StorageError('STORAGE_LIMIT_EXCEEDED', '');
        return reference;
      },
    }),
  },
  'keeps the first receipt of a content only': {
    caught: 'a content counts once',
    port: (real) => {
      const first = new Map<string, ArtifactReference>();
      return {
        write: async (scope, artifact) => {
          const [reference] = await real.preflightWrite(scope, [artifact]);
          const known = first.get(reference?.digest ?? '');
          if (known !== undefined && reference !== undefined) return reference;
          const written = await real.write(scope, artifact);
          first.set(written.digest, written);
          return written;
        },
      };
    },
  },
  'deletes nothing': {
    caught: 'a deleted run is gone',
    port: () => ({ deleteRun: async () => {} }),
  },
  'shares artifacts between runs': {
    caught: 'runs and namespaces are apart',
    port: (real) => ({
      read: (scope, reference) => real.read({ ...scope, runId: 'run-1' }, reference),
      write: (scope, artifact) => real.write({ ...scope, runId: 'run-1' }, artifact),
    }),
  },
  'asks for no receipt': {
    caught: 'a reference that is not the one returned',
    port: (real) => {
      const given = new Map<string, ArtifactReference>();
      return {
        write: async (scope, artifact) => {
          const reference = await real.write(scope, artifact);
          given.set(reference.digest, reference);
          return reference;
        },
        read: (scope, reference) => {
          const { byteLength } = reference;
          return real.read(scope, { ...reference, ...given.get(reference.digest), byteLength });
        },
      };
    },
  },
  'believes the length of a reference': {
    caught: 'a reference that is not the one returned',
    port: (real) => ({
      read: async (scope, reference) => {
        for (let byteLength = 0; byteLength <= 64; byteLength += 1) {
          try {
            return await real.read(scope, { ...reference, byteLength });
          } catch (error) {
            if (!isHoldfastError(error, 'ARTIFACT_NOT_ADMITTED')) throw error;
          }
        }
        return real.read(scope, reference);
      },
    }),
  },
  'keeps the receipts of a deleted run': {
    caught: 'a deleted run is gone',
    port: (real) => {
      const given: ArtifactReference[] = [];
      return {
        write: async (scope, artifact) => {
          for (const { mediaType, purpose } of given) {
            await real.write(scope, { ...artifact, mediaType, purpose });
          }
          const reference = await real.write(scope, artifact);
          given.push(reference);
          return reference;
        },
      };
    },
  },
  'writes what it should only check': {
    caught: 'writes nothing',
    port: (real) => ({
      preflightWrite: (scope, artifacts) =>
        Promise.all(artifacts.map((artifact) => real.write(scope, artifact))),
    }),
  },
  'checks a batch one by one': {
    caught: 'counts as a whole',
    port: (real) => ({
      preflightWrite: async (scope, artifacts) => {
        const references: ArtifactReference[] = [];
        for (const artifact of artifacts) {
          references.push(...(await real.preflightWrite(scope, [artifact])));
        }
        return artifacts.length === 0 ? real.preflightWrite(scope, []) : references;
      },
    }),
  },
  'counts a content twice in a batch': {
    caught: 'counts as a whole',
    port: (real) => ({
      preflightWrite: async (scope, artifacts) => {
        const references = await real.preflightWrite(scope, artifacts);
        const bytes = references.reduce((sum, { byteLength }) => sum + byteLength, 0);
        if (bytes > 128) throw new StorageError('STORAGE_LIMIT_EXCEEDED', 'mutant');
        return references;
      },
    }),
  },
  'checks the quota, waits, then writes': {
    caught: 'exactly one gets it',
    options: ({ policy }) => ({ policy: { ...policy, maxTotalArtifactBytesPerRun: 4096 } }),
    port: (real) => {
      const quota = createMemoryRunStorage({
        namespace: 'kit',
        policy: { ...defaultStoragePolicy, maxArtifactBytes: 64, maxTotalArtifactBytesPerRun: 128 },
      }).artifactStore;
      return {
        write: async (scope, artifact) => {
          await quota.preflightWrite(scope, [artifact]);
          await new Promise((resolve) => setImmediate(resolve));
          const reference = await real.write(scope, artifact);
          await quota.write(scope, artifact);
          return reference;
        },
      };
    },
  },
  'refuses whoever comes second with a content': {
    caught: 'race with one content',
    port: (real) => ({
      write: async (scope, artifact) => {
        const copy = { ...artifact, bytes: Uint8Array.from(artifact.bytes) };
        const text = String(copy.bytes);
        if (writing.has(text)) throw new StorageError('STORE_BUSY', 'mutant');
        writing.add(text);
        await new Promise((resolve) => setImmediate(resolve));
        writing.delete(text);
        return real.write(scope, copy);
      },
    }),
  },
  'keeps what is sensitive': {
    caught: 'marked as sensitive',
    port: (real) => ({
      write: (scope, { sensitive: _, ...artifact }) => real.write(scope, artifact),
    }),
  },
  'takes state for exact bytes': {
    caught: 'searched as it is decoded',
    port: (real) => ({
      write: (scope, artifact) => {
        const { contentMode } = artifact;
        return real.write(scope, contentMode === 'state' ? exactly(artifact) : artifact);
      },
    }),
  },
  'searches the parsed value of state only': {
    caught: 'searched as it is decoded',
    port: (real) => ({
      write: (scope, artifact) => {
        if (artifact.contentMode !== 'state') return real.write(scope, artifact);
        try {
          const text = new TextDecoder('utf-8', { fatal: true }).decode(artifact.bytes);
          const bytes = new TextEncoder().encode(JSON.stringify(JSON.parse(text)));
          return real.preflightWrite(scope, [{ ...artifact, bytes }]).then(() => {
            return real.write(scope, exactly(artifact));
          });
        } catch {
          return real.write(scope, artifact);
        }
      },
    }),
  },
  'refuses free text in place of redacting it': {
    caught: 'free text is redacted',
    port: (real) => ({
      write: (scope, artifact) => real.write(scope, exactly(artifact)),
    }),
  },
  'says the length before redaction': {
    caught: 'free text is redacted',
    port: (real) => ({
      write: async (scope, artifact) => {
        const reference = await real.write(scope, artifact);
        return { ...reference, byteLength: artifact.bytes.byteLength };
      },
    }),
  },
  'looks for no secrets': {
    caught: 'are refused in every form',
    options: () => ({ knownSecrets: [] }),
  },
  'reads nothing that holds a new secret': {
    caught: 'leave what is stored readable',
    port: (real, { knownSecrets }) => ({
      read: async (scope, reference) => {
        const bytes = await real.read(scope, reference);
        const text = new TextDecoder().decode(bytes);
        if (knownSecrets.some((secret) => text.includes(secret))) {
          throw new StorageError('KNOWN_SECRET', 'mutant');
        }
        return bytes;
      },
    }),
  },
};

async function failedCases(
  run: (factory: StorageFactory) => ReturnType<typeof runEventStoreConformance>,
  factory: StorageFactory,
): Promise<readonly string[]> {
  return (await run(factory)).failures.map((failure) => failure.case);
}

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

describe('the kit of artifacts catches a store that', () => {
  it.each(Object.entries(artifactMutants))('%s', async (_, mutant) => {
    const failed = await failedCases(runArtifactStoreConformance, mutated('artifactStore', mutant));
    expect(failed).toContainEqual(expect.stringContaining(mutant.caught));
  });
});
