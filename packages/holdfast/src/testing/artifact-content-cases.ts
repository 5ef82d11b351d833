/** Cases of the artifact store kit: what may be stored at all, and in which form. */
import type { ArtifactScope, NewArtifact } from '../store/artifact-store.ts';
import { expectSame, expectTrue } from './expectation.ts';
import { expectRefusal, kitArtifact, kitPolicy, type StorageCase } from './storage-fixture.ts';

const scope: ArtifactScope = { namespace: 'kit', runId: 'run-1' };
/** Holds characters that JSON and URLs escape. */
const secret = 's3cret "value"\n/é';
const state = { contentMode: 'state', mediaType: 'application/vnd.kit+json' } as const;
const freeText = { contentMode: 'free-text' } as const;

/** The secret as JSON that no plain search finds. */
const unicodeEscaped = [...secret]
  .map((letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`)
  .join('');

function base64(text: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)));
}

export const artifactContentCases: readonly StorageCase[] = [
  {
    name: 'exact bytes and labels with a known secret are refused in every form',
    async run(bench) {
      const { artifactStore } = await bench.open({
        policy: { ...kitPolicy, maxArtifactBytes: 128 },
        knownSecrets: [secret],
      });
      for (const [form, hidden] of Object.entries({
        plain: `a ${secret} b`,
        JSON: JSON.stringify({ [secret]: 1 }),
        'JSON in JSON': JSON.stringify(JSON.stringify(secret)),
        'a URL': `?a=${encodeURIComponent(secret)}`,
        'a form': new URLSearchParams({ a: secret }).toString(),
        base64: base64(secret),
        'base64, one behind': base64(`:${secret}`),
        'base64, two behind': base64(`::${secret}`),
        'base64 of URLs': base64(`??${secret}`).replaceAll('+', '-').replaceAll('/', '_'),
      })) {
        for (const contentMode of ['exact', 'state'] as const) {
          await expectRefusal(`${form}, ${contentMode}`, 'KNOWN_SECRET', () =>
            artifactStore.write(scope, kitArtifact(hidden, { contentMode })),
          );
        }
        await expectRefusal(`${form}, before the write`, 'KNOWN_SECRET', () =>
          artifactStore.preflightWrite(scope, [kitArtifact('x'), kitArtifact(hidden)]),
        );
      }
      const named = encodeURIComponent(secret);
      for (const contentMode of ['exact', 'state', 'free-text'] as const) {
        await expectRefusal(`a purpose, ${contentMode}`, 'KNOWN_SECRET', () =>
          artifactStore.write(scope, kitArtifact('x', { contentMode, purpose: `for ${named}` })),
        );
      }
    },
  },
  {
    name: 'state of a JSON media type is JSON in UTF-8, and is searched as it is decoded',
    async run(bench) {
      const { artifactStore } = await bench.open({
        policy: { ...kitPolicy, maxArtifactBytes: 1024, maxTotalArtifactBytesPerRun: 4096 },
        knownSecrets: [secret],
      });
      const write = (content: string | Uint8Array, more: Partial<NewArtifact> = state) =>
        artifactStore.write(scope, kitArtifact(content, more));
      for (const [where, json] of Object.entries({
        'a value': `{"a":["${unicodeEscaped}"]}`,
        'a key': `{"${unicodeEscaped}":1}`,
        'a key that stands twice': `{"a":"${unicodeEscaped}","a":1}`,
      })) {
        await expectRefusal(where, 'KNOWN_SECRET', () => write(json));
        const plain = { ...state, mediaType: 'application/json' };
        await expectRefusal(`${where} of JSON`, 'KNOWN_SECRET', () => write(json, plain));
      }
      const bad = {
        'no JSON': '{"a":',
        nothing: '',
        'two values': '1 2',
        NaN: 'NaN',
        'a byte order mark': '\ufeff{}',
        'half a character': '"\\ud83d"',
      };
      for (const [what, text] of Object.entries(bad)) {
        await expectRefusal(what, 'INVALID_STORED_VALUE', () => write(text));
      }
      await expectRefusal('no UTF-8', 'INVALID_STORED_VALUE', () =>
        write(Uint8Array.from([0x22, 0xff, 0x22])),
      );
      // Neither other media types nor exact bytes are read as JSON.
      await write('{"a":', { contentMode: 'state' });
      await write('{"a":', { ...state, contentMode: 'exact' });
      const stored = await write(' {"a":"\\u0062 \\" "}\n');
      const bytes = await artifactStore.read(scope, stored);
      expectSame('as it was', new TextDecoder().decode(bytes), ' {"a":"\\u0062 \\" "}\n');
    },
  },
  {
    name: 'free text is redacted before it is measured, hashed and stored',
    async run(bench) {
      const short = 'zq-1';
      const knownSecrets = ['zq-1', 'zq-1-and-more', secret];
      const { artifactStore } = await bench.open({ knownSecrets });
      const write = (text: string) => artifactStore.write(scope, kitArtifact(text, freeText));
      const encoded = base64(`:${secret}!`);
      const mark = '[redacted]';
      for (const [text, wanted] of [
        [`key ${secret}.`, `key ${mark}.`],
        ['zq-1-and-more zq-1', `${mark} ${mark}`],
        [`${encodeURIComponent(secret)}&`, `${mark}&`],
        // What stands around the secret decides a part of the outermost characters.
        [encoded, `${encoded.slice(0, 2)}${mark}${encoded.slice(25)}`],
        ['nothing', 'nothing'],
      ] as const) {
        const [predicted] = await artifactStore.preflightWrite(scope, [
          kitArtifact(text, freeText),
        ]);
        const reference = await write(text);
        expectSame('the prediction', predicted, reference);
        const plain = await artifactStore.write(scope, kitArtifact(wanted));
        expectSame('the receipt', reference, plain);
        const bytes = await artifactStore.read(scope, reference);
        expectSame('the text', new TextDecoder().decode(bytes), wanted);
        await artifactStore.deleteRun(scope);
      }
      await write(`${short} `.repeat(5));
      await expectRefusal('longer once it is redacted', 'STORAGE_LIMIT_EXCEEDED', () =>
        write(short.repeat(7)),
      );
      await expectRefusal('no UTF-8', 'INVALID_STORED_VALUE', () =>
        artifactStore.write(scope, kitArtifact(Uint8Array.from([0xc3]), freeText)),
      );
    },
  },
  {
    name: 'what is marked as sensitive is refused in every mode',
    async run(bench) {
      const { artifactStore } = await bench.open();
      for (const contentMode of ['exact', 'state', 'free-text'] as const) {
        const marked = kitArtifact('harmless', { contentMode, sensitive: true });
        await expectRefusal(contentMode, 'SENSITIVE_CONTENT', () =>
          artifactStore.write(scope, marked),
        );
        await expectRefusal(`${contentMode}, before`, 'SENSITIVE_CONTENT', () =>
          artifactStore.preflightWrite(scope, [marked]),
        );
        const reference = await artifactStore.write(scope, { ...marked, sensitive: false });
        await artifactStore.read(scope, reference);
      }
    },
  },
  {
    name: 'rotated secrets and changed limits leave what is stored readable',
    async run(bench) {
      const storage = await bench.open({ knownSecrets: [secret] });
      const content = 'a token of 32 bytes, or about it';
      const reference = await storage.artifactStore.write(scope, kitArtifact(content));
      const policy = { ...kitPolicy, maxArtifactBytes: 8, maxTotalArtifactBytesPerRun: 8 };
      const rotated = await bench.open({ knownSecrets: ['a token'], policy });
      const bytes = await rotated.artifactStore.read(scope, reference);
      expectSame('the bytes', new TextDecoder().decode(bytes), content);
      await expectRefusal('again', 'STORAGE_LIMIT_EXCEEDED', () =>
        rotated.artifactStore.write(scope, kitArtifact('x')),
      );
      await expectRefusal('the new secret', 'KNOWN_SECRET', () =>
        rotated.artifactStore.write(scope, kitArtifact('a token')),
      );
      await storage.artifactStore.write(scope, kitArtifact('a token'));
    },
  },
  {
    name: 'bad labels, names and modes are refused',
    async run(bench) {
      const { artifactStore } = await bench.open();
      for (const [what, changed] of Object.entries({
        'no media type': { mediaType: 'text' },
        'NUL in it': { mediaType: 'text/pl\0ain' },
        'a long one': { mediaType: `text/${'x'.repeat(300)}` },
        'no purpose': { purpose: '' },
        'a long purpose': { purpose: 'ü'.repeat(257) },
        'a lone surrogate': { purpose: '\ud83e' },
        'another mode': { contentMode: 'loose' as 'exact' },
        'no boolean': { sensitive: 'no' as unknown as boolean },
        'no bytes': { bytes: 'text' as unknown as Uint8Array },
      })) {
        await expectRefusal(what, 'INVALID_STORED_VALUE', () =>
          artifactStore.write(scope, kitArtifact('x', changed)),
        );
      }
      for (const runId of ['', 'a/b', '__proto__', 'a\0b']) {
        await expectRefusal(`run ${runId}`, 'INVALID_STORED_VALUE', () =>
          artifactStore.write({ ...scope, runId }, kitArtifact('x')),
        );
      }
      const longest = { mediaType: `text/${'x'.repeat(250)}`, purpose: 'ü'.repeat(256) };
      const reference = await artifactStore.write(scope, kitArtifact('x', longest));
      const bytes = await artifactStore.read(scope, reference);
      expectTrue('the longest labels', bytes.byteLength === 1);
    },
  },
];
