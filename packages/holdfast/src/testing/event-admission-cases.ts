/** Cases of the event store kit: what may be stored at all. */
import type { NewEvent } from '../history/envelope.ts';
import { expectSame } from './expectation.ts';
import {
  expectRefusal,
  kitEvent,
  kitPolicy,
  kitStream,
  payloadsOf,
  readAll,
  type StorageCase,
} from './storage-fixture.ts';

const stream = kitStream();
/** Holds a line break, characters that URLs escape, and three-byte characters. */
const secret = 'pass word/\n"ü€"+?';

/** Where a secret may hide; all of them must be refused. */
const hiding: Readonly<Record<string, NewEvent>> = {
  plain: kitEvent({ deep: [`before ${secret} after`] }),
  'a key': kitEvent({ [secret]: true }),
  'JSON in a string': kitEvent(JSON.stringify({ token: secret })),
  'JSON in JSON in a string': kitEvent(JSON.stringify(JSON.stringify({ token: secret }))),
  base64: kitEvent(base64(`${secret}!`)),
  'base64, one behind': kitEvent(base64(`:${secret}!`)),
  'base64, two behind': kitEvent(base64(`::${secret}`)),
  'base64 of URLs': kitEvent(base64(secret).replaceAll('+', '-').replaceAll('/', '_')),
  'a URL': kitEvent(`https://example.com/?token=${encodeURIComponent(secret)}`),
  'a form': kitEvent(encodeURIComponent(secret).replaceAll('%20', '+')),
  'an event id': kitEvent(1, { id: encodeURIComponent(secret) }),
  'a type': kitEvent(1, { type: `kit:${encodeURIComponent(secret)}` }),
  'a correlation': kitEvent(1, { correlationId: encodeURIComponent(secret) }),
  'a cause': kitEvent(1, { causationId: encodeURIComponent(secret) }),
};

function base64(text: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)));
}

export const admissionCases: readonly StorageCase[] = [
  {
    name: 'payloads and batches over the limits are refused whole, up to them accepted',
    async run(bench) {
      const storage = await bench.open();
      const { eventStore } = storage;
      // The quotes of a JSON text are two of its bytes; ü is two bytes, so this is the limit.
      const largest = 'ü'.repeat((kitPolicy.maxEventPayloadBytes - 2) / 2);
      await expectRefusal('a payload', 'STORAGE_LIMIT_EXCEEDED', () =>
        eventStore.append(stream, 0, [kitEvent(1), kitEvent(`${largest}x`)]),
      );
      const four = [1, 2, 3, 4].map(() => kitEvent(largest));
      await expectRefusal('a batch', 'STORAGE_LIMIT_EXCEEDED', () =>
        eventStore.append(stream, 0, [...four, kitEvent(1)]),
      );
      expectSame('nothing was stored', await eventStore.end(stream), 0);
      await eventStore.append(stream, 0, four);
      expectSame('the largest batch', (await payloadsOf(storage, stream)).length, 4);
    },
  },
  {
    name: 'known secrets are refused in every form, and readable with other secrets',
    async run(bench) {
      const storage = await bench.open({ knownSecrets: [secret] });
      for (const [where, event] of Object.entries(hiding)) {
        await expectRefusal(where, 'KNOWN_SECRET', () =>
          storage.eventStore.append(stream, 0, [kitEvent('harmless'), event]),
        );
      }
      await expectRefusal('a snapshot', 'KNOWN_SECRET', () =>
        storage.eventStore.append(stream, 0, [kitEvent(1)], {
          snapshot: { sequence: 1, body: { secret } },
        }),
      );
      expectSame('nothing was stored', await storage.eventStore.end(stream), 0);
    },
  },
  {
    name: 'rotated secrets and changed limits leave what is stored readable',
    async run(bench) {
      const storage = await bench.open({ knownSecrets: [secret] });
      const stored = ['a token', 'x'.repeat(500)];
      await storage.eventStore.append(
        stream,
        0,
        stored.map((payload) => kitEvent(payload)),
      );
      const policy = { ...kitPolicy, maxEventPayloadBytes: 64, maxAppendBatchBytes: 64 };
      const later = await bench.open({ knownSecrets: ['a token'], policy });
      expectSame('read', await payloadsOf(later, stream), stored);
      const found = await later.eventStore.readAt(stream, [1, 2]);
      expectSame(
        'read by place',
        found.map(({ payload }) => payload),
        stored,
      );
      await expectRefusal('the new limit', 'STORAGE_LIMIT_EXCEEDED', () =>
        later.eventStore.append(stream, 2, [kitEvent('x'.repeat(64))]),
      );
      await expectRefusal('the new secret', 'KNOWN_SECRET', () =>
        later.eventStore.append(stream, 2, [kitEvent('a token')]),
      );
      await later.eventStore.append(stream, 2, [kitEvent(`no more ${secret}`)]);
      expectSame('the end', await storage.eventStore.end(stream), 3);
    },
  },
  {
    name: 'values that are no JSON, and batches with one bad event, are refused whole',
    async run(bench) {
      const { eventStore } = await bench.open();
      const cycle: Record<string, unknown> = {};
      cycle['self'] = cycle;
      const bad: Readonly<Record<string, NewEvent>> = {
        undefined: kitEvent(undefined),
        NaN: kitEvent(Number.NaN),
        'a date': kitEvent({ at: new Date(0) }),
        'a cycle': kitEvent(cycle),
        'a lone surrogate': kitEvent('\ud83e'),
        'no version': kitEvent(1, { version: 0 }),
        'no time': kitEvent(1, { timestamp: '2026-11-30' }),
        'an empty type': kitEvent(1, { type: '' }),
        'NUL in a type': kitEvent(1, { type: 'a\0b' }),
        'NUL in an id': kitEvent(1, { id: 'a\0b' }),
        'a lone surrogate in an id': kitEvent(1, { id: '\udc00' }),
        'an id of 10 kB': kitEvent(1, { id: 'x'.repeat(10_000) }),
        'a bad cause': kitEvent(1, { causationId: ' ' }),
      };
      for (const [what, event] of Object.entries(bad)) {
        await expectRefusal(what, 'INVALID_STORED_VALUE', () =>
          eventStore.append(stream, 0, [kitEvent('good'), event]),
        );
      }
      await expectRefusal('no events', 'INVALID_STORED_VALUE', () =>
        eventStore.append(stream, 0, []),
      );
      expectSame('nothing was stored', await eventStore.end(stream), 0);
    },
  },
  {
    name: 'stream names that not every store can keep are refused',
    async run(bench) {
      const { eventStore } = await bench.open();
      const names = ['', ' ', '.hidden', 'a/b', 'a\0b', 'é', '😀', '__proto__', 'x'.repeat(129)];
      for (const name of names) {
        for (const bad of [kitStream(name), kitStream('run-1', name)]) {
          await expectRefusal(`the name ${JSON.stringify(name)}`, 'INVALID_STORED_VALUE', () =>
            eventStore.append(bad, 0, [kitEvent(1)]),
          );
        }
      }
      await eventStore.append(kitStream('constructor'), 0, [kitEvent(1)]);
      expectSame('a name of objects', await eventStore.end(kitStream('constructor')), 1);
      expectSame('another', await eventStore.end(kitStream('toString')), 0);
    },
  },
  {
    name: 'every text and number comes back as it was',
    async run(bench) {
      const storage = await bench.open();
      const proto: unknown = JSON.parse('{"__proto__":{"polluted":true},"constructor":1}');
      const payloads = [
        ...['', 'a\0b', '😀 \u{10ffff}', 'é', 'e\u0301', '\u2028 "quoted" \\ \n', 'x'.repeat(900)],
        ...[0, -1.5e-300, 2 ** 53, 1e21, true, null, [], {}, [[[]]]],
        proto,
        { é: 1, 'e\u0301': 2, '': 3, 'a\0b': 4 },
      ];
      for (const [place, payload] of payloads.entries()) {
        const ids = { id: `id ${place} é😀`, type: `kit:é${place}` };
        await storage.eventStore.append(stream, place, [kitEvent(payload, ids)]);
      }
      const twins = [kitEvent(1, { id: 'é' }), kitEvent(2, { id: 'e\u0301' })];
      await storage.eventStore.append(stream, payloads.length, twins);
      const events = await readAll(await bench.open(), stream);
      payloads.forEach((payload, place) => {
        expectSame(
          `payload ${place}`,
          JSON.stringify(events[place]?.payload),
          JSON.stringify(payload),
        );
        expectSame(`id ${place}`, events[place]?.id, `id ${place} é😀`);
        expectSame(`type ${place}`, events[place]?.type, `kit:é${place}`);
      });
      expectSame(
        'twins',
        events.slice(-2).map((event) => event.id),
        ['é', 'e\u0301'],
      );
    },
  },
];
