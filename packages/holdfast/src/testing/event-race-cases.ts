/** Cases of the event store kit: several writers at once, on several handles. */
import { isHoldfastError } from '../base/errors.ts';
import type { RunStorage } from '../store/storage.ts';
import { fail } from './conformance-report.ts';
import { expectSame } from './expectation.ts';
import { kitEvent, kitStream, payloadsOf, readAll, type StorageCase } from './storage-fixture.ts';

const stream = kitStream();
const WRITERS = 8;

export const raceCases: readonly StorageCase[] = [
  {
    name: 'of writers that expect the same end exactly one wins, the losers leave no trace',
    async run(bench) {
      const writers = await bench.openMany(WRITERS);
      for (let round = 0; round < 10; round += 1) {
        const won = await Promise.all(
          writers.map((storage, writer) => tryAppend(storage, round * 2, [writer, `${writer}`])),
        );
        expectSame(`winners of round ${round}`, won.filter(Boolean).length, 1);
      }
      const events = await readAll(await bench.open(), stream);
      expectSame('how many events', events.length, 20);
      events.forEach((event, place) => {
        expectSame('the sequence', event.sequence, place + 1);
        if (place % 2 === 1) {
          expectSame('the pair', event.payload, `${events[place - 1]?.payload}`);
        }
      });
    },
  },
  {
    name: 'writers that read and try again all get through, without a gap',
    async run(bench) {
      const writers = await bench.openMany(4);
      await Promise.all(
        writers.map(async (storage, writer) => {
          for (let turn = 0; turn < 8; ) {
            const end = await storage.eventStore.end(stream);
            if (await tryAppend(storage, end, [`${writer}/${turn}`])) turn += 1;
          }
        }),
      );
      const [reader] = writers;
      if (reader === undefined) return;
      const events = await readAll(reader, stream);
      expectSame(
        'the sequences',
        events.map((event) => event.sequence),
        Array.from({ length: 32 }, (_, place) => place + 1),
      );
      expectSame('the events', new Set(events.map((event) => event.payload)).size, 32);
    },
  },
  {
    name: 'appends made in one turn are kept in their order, and a lost one fails alone',
    async run(bench) {
      const storage = await bench.open();
      const outcomes = await Promise.all([
        tryAppend(storage, 0, [1, 2]),
        tryAppend(storage, 0, ['lost']),
        tryAppend(storage, 2, [3]),
        ...Array.from({ length: 100 }, (_, other) =>
          tryAppend(storage, 0, [other], kitStream(`other-${other}`)),
        ),
        tryAppend(storage, 3, [4]),
      ]);
      expectSame('who was refused', outcomes.indexOf(false), 1);
      expectSame('only one was', outcomes.filter((won) => !won).length, 1);
      expectSame('the stream', await payloadsOf(storage, stream), [1, 2, 3, 4]);
      expectSame('another', await payloadsOf(storage, kitStream('other-99')), [99]);
    },
  },
  {
    name: "'end' appends of all writers are stored once each",
    async run(bench) {
      const writers = await bench.openMany(4);
      const [first] = writers;
      await first?.eventStore.append(stream, 0, [kitEvent('begin')]);
      await Promise.all(
        writers.flatMap((storage, writer) =>
          [0, 1, 2].map(async (turn) => {
            const own = [kitEvent('own', { id: `own-${writer}-${turn}` })];
            await storage.eventStore.append(stream, 'end', own);
            await storage.eventStore.append(stream, 'end', [
              kitEvent('all', { id: `all-${turn}` }),
            ]);
          }),
        ),
      );
      const events = await readAll(await bench.open(), stream);
      expectSame('how many', events.length, 1 + 12 + 3);
      expectSame('the last', events.at(-1)?.sequence, 16);
      expectSame('ids', new Set(events.map((event) => event.id)).size, 16);
    },
  },
];

/** Whether the append was stored; every refusal but a conflict fails the case. */
async function tryAppend(
  { eventStore }: RunStorage,
  expected: number,
  payloads: readonly unknown[],
  target = stream,
): Promise<boolean> {
  try {
    const events = payloads.map((payload) => kitEvent(payload));
    const { sequence } = await eventStore.append(target, expected, events);
    if (sequence !== expected + events.length)
      fail(`an append at ${expected} ended at ${sequence}`);
    return true;
  } catch (error) {
    if (isHoldfastError(error, 'SEQUENCE_CONFLICT')) return false;
    throw error;
  }
}
