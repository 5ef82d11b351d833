/** Cases of the event store kit: what an append stores, refuses and repeats. */
import { expectSame, expectTrue } from './expectation.ts';
import {
  expectRefusal,
  kitEvent,
  kitStream,
  kitTime,
  payloadsOf,
  readAll,
  type StorageCase,
} from './storage-fixture.ts';

const stream = kitStream();

export const appendCases: readonly StorageCase[] = [
  {
    name: 'an append is stored with its place, and read again by another handle',
    async run(bench) {
      const storage = await bench.open();
      const cause = { causationId: 'cause-1', correlationId: 'other-run', version: 2 };
      const first = await storage.eventStore.append(stream, 0, [
        kitEvent({ n: 1 }),
        kitEvent({ n: 2 }, { ...cause, id: 'own-id', timestamp: '2026-11-30T11:00:00.001Z' }),
      ]);
      const second = await storage.eventStore.append(stream, 2, [kitEvent({ n: 3 })]);
      expectSame('the receipts', [first.sequence, second.sequence], [2, 3]);
      const wanted = {
        stream: { namespace: 'kit', streamId: 'run-1' },
        type: 'kit:happened',
        version: 1,
        timestamp: kitTime,
        correlationId: 'run-1',
        causationId: null,
      };
      const own = { ...cause, id: 'own-id', timestamp: '2026-11-30T11:00:00.001Z' };
      expectSame('the events', await readAll(await bench.open(), stream), [
        { ...wanted, id: 'run-1@1', sequence: 1, payload: { n: 1 } },
        { ...wanted, ...own, sequence: 2, payload: { n: 2 } },
        { ...wanted, id: 'run-1@3', sequence: 3, payload: { n: 3 } },
      ]);
    },
  },
  {
    name: 'what the caller does to its events later changes nothing',
    async run(bench) {
      const storage = await bench.open();
      const payload = { list: [1], deep: { value: 'a' } };
      const events = [kitEvent(payload)];
      const append = storage.eventStore.append(stream, 0, events);
      payload.list.push(2);
      payload.deep.value = 'b';
      events.push(kitEvent('late'));
      await append;
      const [event] = await readAll(storage, stream);
      expectSame('the payload', event?.payload, { list: [1], deep: { value: 'a' } });
      expectTrue('a payload read is not frozen', Object.isFrozen(event?.payload));
      expectSame('how many events', await storage.eventStore.end(stream), 1);
    },
  },
  {
    name: 'an append with another end than the stream has is refused whole',
    async run(bench) {
      const storage = await bench.open();
      const { eventStore } = storage;
      await eventStore.append(stream, 0, [kitEvent(1), kitEvent(2), kitEvent(3)]);
      for (const expected of [0, 1, 2, 4, 100]) {
        await expectRefusal(`behind ${expected}`, 'SEQUENCE_CONFLICT', () =>
          eventStore.append(stream, expected, [kitEvent('x'), kitEvent('y')]),
        );
      }
      await expectRefusal('past an unknown stream', 'SEQUENCE_CONFLICT', () =>
        eventStore.append(kitStream('run-2'), 1, [kitEvent('x')]),
      );
      await expectRefusal("at the 'end' of an unknown stream", 'SEQUENCE_CONFLICT', () =>
        eventStore.append(kitStream('run-2'), 'end', [kitEvent('x', { id: 'x' })]),
      );
      expectSame('the stream', await payloadsOf(storage, stream), [1, 2, 3]);
      expectSame('the unknown stream', await eventStore.end(kitStream('run-2')), 0);
    },
  },
  {
    name: 'the identical batch again returns its sequence and writes nothing',
    async run(bench) {
      const [storage, other] = [await bench.open(), await bench.open()];
      const batch = [kitEvent({ a: 1, b: [2] }), kitEvent({ c: 3 }, { id: 'signal-1' })];
      await storage.eventStore.append(stream, 0, batch);
      await storage.eventStore.append(stream, 2, [kitEvent('later')]);
      const reordered = [kitEvent({ b: [2], a: 1 }), kitEvent({ c: 3 }, { id: 'signal-1' })];
      for (const again of [batch, reordered]) {
        const receipt = await other.eventStore.append(stream, 0, again);
        expectSame('the sequence of the repeat', receipt.sequence, 2);
      }
      for (const [what, changed] of Object.entries({
        'another payload': [kitEvent({ a: 1, b: [3] }), batch[1]],
        'another time': [
          kitEvent({ a: 1, b: [2] }, { timestamp: '2026-01-01T00:00:00.000Z' }),
          batch[1],
        ],
        'another id': [batch[0], kitEvent({ c: 3 }, { id: 'signal-2' })],
        'its beginning': [batch[0]],
        'its end': [batch[1]],
        'more than it': [...batch, kitEvent('later')],
      })) {
        await expectRefusal(what, 'SEQUENCE_CONFLICT', () =>
          other.eventStore.append(
            stream,
            0,
            changed.map((event) => event ?? kitEvent(null)),
          ),
        );
      }
      expectSame('the stream', await payloadsOf(storage, stream), [
        { a: 1, b: [2] },
        { c: 3 },
        'later',
      ]);
    },
  },
  {
    name: "an 'end' append goes to the end, and its repeat is recognised by its ids",
    async run(bench) {
      const storage = await bench.open();
      const { eventStore } = storage;
      await eventStore.append(stream, 0, [kitEvent(1)]);
      const signal = [kitEvent('hello', { id: 'signal-1' })];
      expectSame('the end', (await eventStore.append(stream, 'end', signal)).sequence, 2);
      await eventStore.append(stream, 2, [kitEvent(3)]);
      expectSame('the repeat', (await eventStore.append(stream, 'end', signal)).sequence, 2);
      await expectRefusal('a batch repeated in part', 'DUPLICATE_EVENT_ID', () =>
        eventStore.append(stream, 'end', [kitEvent('new', { id: 'signal-2' }), ...signal]),
      );
      const unnamed = await eventStore.append(stream, 'end', [kitEvent('hello')]);
      expectSame('without an id nothing is a repeat', unnamed.sequence, 4);
      expectSame('the stream', await payloadsOf(storage, stream), [1, 'hello', 3, 'hello']);
    },
  },
  {
    name: 'an explicit id stands in a stream once, and its refusal leaves nothing',
    async run(bench) {
      const storage = await bench.open();
      const { eventStore } = storage;
      await eventStore.append(stream, 0, [kitEvent(1, { id: 'one' })]);
      await expectRefusal('an id of the stream', 'DUPLICATE_EVENT_ID', () =>
        eventStore.append(stream, 1, [
          kitEvent('x', { id: 'fresh' }),
          kitEvent('y', { id: 'one' }),
        ]),
      );
      await expectRefusal('an id of the batch', 'DUPLICATE_EVENT_ID', () =>
        eventStore.append(stream, 1, [kitEvent('x', { id: 'two' }), kitEvent('y', { id: 'two' })]),
      );
      await expectRefusal('the derived id of another place', 'INVALID_STORED_VALUE', () =>
        eventStore.append(stream, 1, [kitEvent('x', { id: 'run-1@7' })]),
      );
      await eventStore.append(stream, 1, [kitEvent(2, { id: 'fresh' })]);
      await eventStore.append(kitStream('run-2'), 0, [kitEvent('other', { id: 'one' })]);
      expectSame('the stream', await payloadsOf(storage, stream), [1, 2]);
    },
  },
  {
    name: 'an older fence is refused, a lease fences at once, and no fence needs no token',
    async run(bench) {
      const storage = await bench.open();
      const { eventStore, leaseStore } = storage;
      await eventStore.append(stream, 0, [kitEvent(1)], { fence: 5n });
      await eventStore.append(stream, 1, [kitEvent(2)], { fence: 5n });
      const other = (await bench.open()).eventStore;
      await expectRefusal('an older token', 'STALE_FENCE', () =>
        other.append(stream, 2, [kitEvent('x')], { fence: 4n }),
      );
      await expectRefusal('the repeat of an old owner', 'STALE_FENCE', () =>
        other.append(stream, 1, [kitEvent(2)], { fence: 4n }),
      );
      await other.append(stream, 2, [kitEvent(3)], { fence: 2n ** 60n });
      await expectRefusal('a token that was the newest', 'STALE_FENCE', () =>
        eventStore.append(stream, 3, [kitEvent('x')], { fence: 5n }),
      );
      await eventStore.append(stream, 3, [kitEvent(4)]);
      const owner = { id: 'o', host: 'h', bootId: 'b', pidNamespace: 'p', pid: 1, startTime: '1' };
      const grant = await leaseStore.acquire('run-1', owner, 1000, { takeover: 'never' });
      expectTrue('the lease was not granted', 'fence' in grant);
      expectTrue('its token is not the greatest', 'fence' in grant && grant.fence > 2n ** 60n);
      await expectRefusal('the owner before the lease', 'STALE_FENCE', () =>
        eventStore.append(stream, 4, [kitEvent('x')], { fence: 2n ** 60n }),
      );
      expectSame('the stream', await payloadsOf(storage, stream), [1, 2, 3, 4]);
    },
  },
  {
    name: 'a lease that came before the first append fences the new stream',
    async run(bench) {
      const storage = await bench.open();
      const owner = { id: 'o', host: 'h', bootId: 'b', pidNamespace: 'p', pid: 1, startTime: '1' };
      const grant = await storage.leaseStore.acquire('run-1', owner, 1000, { takeover: 'never' });
      const fence = 'fence' in grant ? grant.fence : 0n;
      await expectRefusal('an older token', 'STALE_FENCE', () =>
        storage.eventStore.append(stream, 0, [kitEvent('x')], { fence: fence - 1n }),
      );
      expectSame('the stream', await storage.eventStore.end(stream), 0);
      await storage.eventStore.append(stream, 0, [kitEvent(1)], { fence });
    },
  },
  {
    name: 'snapshot and index row stand or fall with their append',
    async run(bench) {
      const { eventStore, snapshotStore, runIndex } = await bench.open();
      const index = { status: 'paused', wakeAt: kitTime, graphId: 'graph' } as const;
      await eventStore.append(stream, 0, [kitEvent(1)], { index });
      const snapshot = { sequence: 2, body: { state: 2 } };
      await expectRefusal('a lost append', 'SEQUENCE_CONFLICT', () =>
        eventStore.append(stream, 5, [kitEvent('x')], { snapshot, index: { status: 'fail' } }),
      );
      await expectRefusal('a snapshot ahead', 'SNAPSHOT_AHEAD', () =>
        eventStore.append(stream, 1, [kitEvent('x')], { snapshot: { sequence: 3, body: null } }),
      );
      expectSame('no snapshot', await snapshotStore.newest(stream), null);
      expectSame('the status', (await runIndex.get('run-1'))?.status, 'paused');
      await eventStore.append(stream, 1, [kitEvent(2)], {
        snapshot,
        index: { status: 'complete' },
      });
      expectSame('the snapshot', await snapshotStore.newest(stream), snapshot);
      expectSame('the row', await runIndex.get('run-1'), {
        namespace: 'kit',
        runId: 'run-1',
        graphId: 'graph',
        status: 'complete',
        wakeAt: kitTime,
        createdAt: kitTime,
        updatedAt: kitTime,
        sequence: 2,
        isMarkedDue: false,
      });
    },
  },
  {
    name: 'a batch without events may change the index row at the known end, nothing else',
    async run(bench) {
      const { eventStore, runIndex } = await bench.open();
      await expectRefusal('no stream', 'SEQUENCE_CONFLICT', () =>
        eventStore.append(stream, 0, [], { index: { status: 'paused' } }),
      );
      await eventStore.append(stream, 0, [kitEvent(1)], { index: { status: 'running' } });
      await expectRefusal('no change', 'INVALID_STORED_VALUE', () =>
        eventStore.append(stream, 1, []),
      );
      await expectRefusal('another end', 'SEQUENCE_CONFLICT', () =>
        eventStore.append(stream, 0, [], { index: { status: 'fail' } }),
      );
      await eventStore.append(stream, 'end', [kitEvent(2, { id: 'signal' })]);
      expectSame('marked due', (await runIndex.due(kitTime)).length, 1);
      expectSame('the mark', (await runIndex.get('run-1'))?.isMarkedDue, true);
      const receipt = await eventStore.append(stream, 2, [], { index: { status: 'paused' } });
      expectSame('the end', receipt.sequence, 2);
      expectSame('the status', (await runIndex.get('run-1'))?.status, 'paused');
      expectSame('no longer due', (await runIndex.due(kitTime)).length, 0);
    },
  },
];
