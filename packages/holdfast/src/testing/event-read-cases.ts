/** Cases of the event store kit: reading, compaction and subscriptions. */
import type { EventEnvelope, StreamRef } from '../history/envelope.ts';
import type { RunStorage } from '../store/storage.ts';
import { expectSame, expectTrue, withinTime } from './expectation.ts';
import {
  expectRefusal,
  kitEvent,
  kitStream,
  payloadsOf,
  readAll,
  type StorageCase,
} from './storage-fixture.ts';

const stream = kitStream();

export const readCases: readonly StorageCase[] = [
  {
    name: 'a read begins behind the sequence given, also inside an append',
    async run(bench) {
      const storage = await bench.open();
      await appendPairs(storage, 300);
      const events = await readAll(storage, stream);
      expectSame('all', events.length, 600);
      expectTrue(
        'the order',
        events.every((event, place) => event.sequence === place + 1),
      );
      for (const after of [0, 1, 2, 3, 299, 598, 599]) {
        const rest = await readAll(storage, stream, after);
        expectSame(`after ${after}`, [rest[0]?.sequence, rest.length], [after + 1, 600 - after]);
      }
      for (const after of [600, 601, 10_000]) {
        expectSame(`after ${after}`, (await readAll(storage, stream, after)).length, 0);
      }
      expectSame('an unknown stream', await readAll(storage, kitStream('none')), []);
    },
  },
  {
    name: 'streams and namespaces are apart',
    async run(bench) {
      const storage = await bench.open();
      const streams = [stream, kitStream('run-2'), kitStream('run-1', 'other')];
      for (const [place, target] of streams.entries()) {
        await storage.eventStore.append(target, 0, [kitEvent(place, { id: 'same' })]);
      }
      for (const [place, target] of streams.entries()) {
        expectSame(`stream ${place}`, await payloadsOf(storage, target), [place]);
      }
      expectSame('a longer name', await storage.eventStore.end(kitStream('run-1.1')), 0);
    },
  },
  {
    name: 'events are read by their sequences in the order asked for',
    async run(bench) {
      const storage = await bench.open();
      await appendPairs(storage, 3);
      const found = await storage.eventStore.readAt(stream, [6, 1, 4, 1]);
      expectSame(
        'the events',
        found.map((event) => event.sequence),
        [6, 1, 4, 1],
      );
      expectSame('one of them', found[2]?.payload, 'p4');
      expectSame('none asked for', await storage.eventStore.readAt(stream, []), []);
      for (const sequence of [0, 7]) {
        await expectRefusal(`event ${sequence}`, 'INVALID_OPTION', () =>
          storage.eventStore.readAt(stream, [1, sequence]),
        );
      }
    },
  },
  {
    name: 'a compaction keeps the first append, whole appends, and the end',
    async run(bench) {
      const storage = await bench.open();
      const { eventStore, snapshotStore } = storage;
      await appendPairs(storage, 5);
      await expectRefusal('without a snapshot', 'COMPACTION_REFUSED', () =>
        eventStore.compact(stream, 8),
      );
      await snapshotStore.save(stream, { sequence: 7, body: 'fold' });
      await expectRefusal('past the snapshot', 'COMPACTION_REFUSED', () =>
        eventStore.compact(stream, 10),
      );
      expectSame('inside the first append', await eventStore.compact(stream, 1), 0);
      expectSame('the first append only', await eventStore.compact(stream, 3), 0);
      expectSame('rounded down', await eventStore.compact(stream, 7), 6);
      expectSame('again', await eventStore.compact(stream, 7), 0);
      const other = await bench.open();
      expectSame('what is left', await payloadsOf(other, stream), [
        'p1',
        'p2',
        'p7',
        'p8',
        'p9',
        'p10',
      ]);
      expectSame('after the gap', await payloadsOf(other, stream, 3), ['p7', 'p8', 'p9', 'p10']);
      await expectRefusal('a deleted event', 'COMPACTED', () =>
        other.eventStore.readAt(stream, [1, 4]),
      );
      await snapshotStore.save(stream, { sequence: 10, body: 'fold' });
      expectSame('all of it', await eventStore.compact(stream, 10), 10);
      expectSame('the end stays', await other.eventStore.end(stream), 10);
      await expectRefusal('the deleted end', 'SEQUENCE_CONFLICT', () =>
        eventStore.append(stream, 2, [kitEvent('x')]),
      );
      await other.eventStore.append(stream, 10, [kitEvent('p11')]);
      expectSame('goes on', await payloadsOf(storage, stream), ['p1', 'p2', 'p11']);
    },
  },
  {
    name: 'a listener gets every append once and in order, from every handle',
    async run(bench) {
      const [storage, other] = [await bench.open(), await bench.open()];
      await appendPairs(storage, 2);
      const own = listen(storage, stream, 1, 12);
      const foreign = listen(other, stream, 0, 12);
      const stopped = listen(storage, stream, 0, 1);
      stopped.stop();
      for (let sequence = 4; sequence < 12; sequence += 2) {
        const writer = sequence % 4 === 0 ? storage : other;
        await writer.eventStore.append(stream, sequence, pair(sequence));
      }
      await withinTime(Promise.all([own.done, foreign.done]));
      const all = Array.from({ length: 12 }, (_, place) => place + 1);
      expectSame('own', own.sequences, all.slice(1));
      expectSame('foreign', foreign.sequences, all);
      expectSame('units', own.appends, [1, 2, 2, 2, 2, 2]);
      expectSame('stopped', stopped.sequences, []);
      own.stop();
      foreign.stop();
    },
  },
  {
    name: 'a listener that throws or appends harms nobody',
    async run(bench) {
      const storage = await bench.open();
      const { eventStore } = storage;
      const stop = eventStore.subscribe(stream, 0, () => {
        throw new Error('a listener failed');
      });
      let answered: Promise<unknown> = Promise.resolve();
      const answer = eventStore.subscribe(stream, 0, (events) => {
        if (events[0]?.sequence === 1) {
          answered = eventStore.append(stream, 'end', [kitEvent('answer', { id: 'answer' })]);
        }
      });
      const heard = listen(storage, stream, 0, 2);
      await eventStore.append(stream, 0, [kitEvent('question')]);
      await withinTime(heard.done);
      await answered;
      expectSame('heard', heard.sequences, [1, 2]);
      for (const each of [stop, answer, heard.stop]) each();
    },
  },
  {
    name: 'a sync makes what others wrote durable, and a closed storage opens again',
    async run(bench) {
      const [storage, other] = [await bench.open(), await bench.open()];
      await other.eventStore.append(stream, 0, [kitEvent(1)]);
      await storage.eventStore.sync();
      await storage.close();
      await storage.close();
      await storage.eventStore.append(stream, 1, [kitEvent(2)]);
      expectSame('the stream', await payloadsOf(other, stream), [1, 2]);
    },
  },
];

function pair(before: number): ReturnType<typeof kitEvent>[] {
  return [kitEvent(`p${before + 1}`), kitEvent(`p${before + 2}`)];
}

async function appendPairs({ eventStore }: RunStorage, pairs: number): Promise<void> {
  await Promise.all(
    Array.from({ length: pairs }, (_, place) =>
      eventStore.append(stream, place * 2, pair(place * 2)),
    ),
  );
}

interface Listening {
  readonly sequences: number[];
  /** How many events each call brought. */
  readonly appends: number[];
  /** Resolves with the event `last`. */
  readonly done: Promise<void>;
  stop(): void;
}

function listen(storage: RunStorage, target: StreamRef, after: number, last: number): Listening {
  const sequences: number[] = [];
  const appends: number[] = [];
  let resolve: () => void = () => {};
  const done = new Promise<void>((heard) => {
    resolve = heard;
  });
  const hear = (events: readonly EventEnvelope[]): void => {
    appends.push(events.length);
    for (const event of events) sequences.push(event.sequence);
    if ((sequences.at(-1) ?? 0) >= last) resolve();
  };
  const stop = storage.eventStore.subscribe(target, after, hear);
  return { sequences, appends, done, stop };
}
