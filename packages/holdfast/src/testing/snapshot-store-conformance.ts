/** The kit of snapshot stores. */
import { type ConformanceReport, requireConformance } from './conformance-report.ts';
import { expectSame, expectTrue } from './expectation.ts';
import {
  expectRefusal,
  kitEvent,
  kitStream,
  reportOfStorage,
  type StorageCase,
  type StorageFactory,
} from './storage-fixture.ts';

const stream = kitStream();

/**
 * Checks a snapshot store against its port. Never throws for what the store does wrong.
 *
 * @example await runSnapshotStoreConformance(factory)
 */
export function runSnapshotStoreConformance(factory: StorageFactory): Promise<ConformanceReport> {
  return reportOfStorage(cases, factory);
}

/**
 * Like `runSnapshotStoreConformance`, but throws `CONFORMANCE_FAILED` naming every failure.
 *
 * @example await assertSnapshotStoreConformance(() => ({ open: openMyStorage }));
 */
export async function assertSnapshotStoreConformance(factory: StorageFactory): Promise<void> {
  requireConformance(await runSnapshotStoreConformance(factory));
}

const cases: readonly StorageCase[] = [
  {
    name: 'the newest snapshot by sequence is read, by every handle',
    async run(bench) {
      const storage = await bench.open();
      const { eventStore, snapshotStore } = storage;
      expectSame('an unknown stream', await snapshotStore.newest(stream), null);
      await eventStore.append(stream, 0, [kitEvent(1), kitEvent(2), kitEvent(3), kitEvent(4)]);
      expectSame('none', await snapshotStore.newest(stream), null);
      for (const sequence of [2, 4, 3, 1]) {
        await snapshotStore.save(stream, { sequence, body: { sequence } });
      }
      const other = await bench.open();
      const newest = await other.snapshotStore.newest(stream);
      expectSame('the newest', newest, { sequence: 4, body: { sequence: 4 } });
      await other.snapshotStore.save(stream, { sequence: 4, body: 'again' });
      expectSame('replaced', (await snapshotStore.newest(stream))?.body, 'again');
    },
  },
  {
    name: 'a snapshot past the end is refused',
    async run(bench) {
      const { eventStore, snapshotStore } = await bench.open();
      const save = (sequence: number) => () => snapshotStore.save(stream, { sequence, body: null });
      await expectRefusal('an unknown stream', 'SNAPSHOT_AHEAD', save(1));
      await eventStore.append(stream, 0, [kitEvent(1)]);
      await expectRefusal('past the end', 'SNAPSHOT_AHEAD', save(2));
      for (const sequence of [0, -1, 1.5, Number.NaN]) {
        await expectRefusal(`sequence ${sequence}`, 'INVALID_STORED_VALUE', save(sequence));
      }
      expectSame('none', await snapshotStore.newest(stream), null);
    },
  },
  {
    name: 'a body is copied, frozen, and any JSON',
    async run(bench) {
      const storage = await bench.open();
      await storage.eventStore.append(stream, 0, [kitEvent(1)]);
      const proto: unknown = JSON.parse('{"__proto__":{"polluted":true},"a\\u0000b":"😀"}');
      const body = { list: [1], proto } as { list: number[]; proto: never };
      const saved = storage.snapshotStore.save(stream, { sequence: 1, body });
      body.list.push(2);
      await saved;
      const found = await (await bench.open()).snapshotStore.newest(stream);
      expectSame('the body', JSON.stringify(found?.body), JSON.stringify({ list: [1], proto }));
      expectTrue('the body is not frozen', Object.isFrozen(found?.body));
      await expectRefusal('no JSON', 'INVALID_STORED_VALUE', () =>
        storage.snapshotStore.save(stream, { sequence: 1, body: Number.NaN }),
      );
    },
  },
  {
    name: 'a known secret is refused',
    async run(bench) {
      const storage = await bench.open({ knownSecrets: ['s3cret-value'] });
      await storage.eventStore.append(stream, 0, [kitEvent(1)]);
      await expectRefusal('a secret', 'KNOWN_SECRET', () =>
        storage.snapshotStore.save(stream, { sequence: 1, body: ['a s3cret-value here'] }),
      );
      expectSame('none', await storage.snapshotStore.newest(stream), null);
    },
  },
  {
    name: 'streams and namespaces are apart',
    async run(bench) {
      const storage = await bench.open();
      const streams = [stream, kitStream('run-2'), kitStream('run-1', 'other')];
      for (const [place, target] of streams.entries()) {
        await storage.eventStore.append(target, 0, [kitEvent(place)]);
        expectSame('none yet', await storage.snapshotStore.newest(target), null);
        await storage.snapshotStore.save(target, { sequence: 1, body: place });
      }
      for (const [place, target] of streams.entries()) {
        expectSame('its own', (await storage.snapshotStore.newest(target))?.body, place);
      }
    },
  },
];
