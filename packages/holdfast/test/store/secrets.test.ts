/** Known secrets are taken out of text, JSON and streams, and are never in a message. */
import fc from 'fast-check';
import { defaultStoragePolicy, isHoldfastError, type JsonValue, Redactor } from 'holdfast';
import { createMemoryRunStorage } from 'holdfast/storage/memory';
import { describe, expect, it } from 'vitest';
import { newDirectory, removeDirectory } from './backings.ts';
import { event, stream } from './events.ts';

const hard = 'päss ("word")\n/?+1';

/** The forms that the documentation lists, written out without the library. */
function formsOf(secret: string): readonly string[] {
  const json = JSON.stringify(secret).slice(1, -1);
  return [
    secret,
    json,
    JSON.stringify(json).slice(1, -1),
    json.replace(/[\u0080-\uffff]/g, (unit) => `\\u${hex(unit)}`),
    json.replace(/[\u0080-\uffff]/g, (unit) => `\\u${hex(unit).toUpperCase()}`),
    json.replaceAll('/', '\\/'),
    encodeURIComponent(secret),
    encodeURIComponent(secret).replace(/[!'()*]/g, (mark) => `%${hex(mark).slice(2)}`),
    encodeURIComponent(secret).replace(/%../g, (code) => code.toLowerCase()),
    new URLSearchParams({ a: secret }).toString().slice(2),
  ];
}

function hex(unit: string): string {
  return unit.charCodeAt(0).toString(16).padStart(4, '0');
}

/** Every base64 text of `secret` between `before` and `after`. */
function base64Of(secret: string, before = '', after = ''): readonly string[] {
  const bytes = Buffer.from(before + secret + after);
  return [bytes.toString('base64'), bytes.toString('base64url')];
}

describe('a redactor', () => {
  it('replaces a secret in every form by a mark', () => {
    const redactor = new Redactor([hard]);
    for (const form of formsOf(hard)) {
      expect(redactor.text(`before ${form} after`)).toBe('before [redacted] after');
    }
    expect(redactor.text(JSON.stringify({ key: hard, n: 1 }))).toBe('{"key":"[redacted]","n":1}');
    expect(redactor.error(new Error(`no ${hard}`))).toBe('no [redacted]');
  });

  it('replaces of base64 what the secret decides, at every alignment', () => {
    const redactor = new Redactor([hard]);
    for (const before of ['', ':', '::', ':::']) {
      for (const after of ['', '!', '!!']) {
        for (const text of base64Of(hard, before, after)) {
          const shown = redactor.text(text);
          expect(shown).toContain('[redacted]');
          // Three characters at most on either side hold less than three bytes of it.
          const [head = '', tail = ''] = shown.split('[redacted]');
          expect(Buffer.from(head, 'base64').length).toBeLessThanOrEqual(before.length + 1);
          expect(tail.replace(/=+$/, '').length).toBeLessThanOrEqual(4);
        }
      }
    }
  });

  it('finds a secret in base64 of JSON', () => {
    const redactor = new Redactor([hard]);
    for (const text of base64Of(JSON.stringify({ token: hard }))) {
      expect(redactor.text(text)).toContain('[redacted]');
    }
  });

  it('marks secrets that overlap once, and secrets side by side one by one', () => {
    const redactor = new Redactor(['abc', 'cde', 'abcdefgh']);
    expect(redactor.text('abcde.abc.abccde.abcdefgh')).toBe(
      '[redacted].[redacted].[redacted][redacted].[redacted]',
    );
  });

  it('without secrets changes nothing and holds nothing back', () => {
    const redactor = new Redactor([]);
    const value = { a: ['b'] };
    expect(redactor.json(value)).toBe(value);
    const { stream: make } = { stream: () => redactor.stream() };
    expect([make().push('abc'), make().end(), redactor.text('abc')]).toEqual(['abc', '', 'abc']);
  });

  it('redacts keys, strings and numbers of JSON, and leaves the rest alone', () => {
    const redactor = new Redactor(['s3cret', '90210']);
    const given = { 's3cret a': 1, 's3cret b': [90210, true, null], c: { d: 'my s3cret' }, e: 9 };
    expect(redactor.json(given)).toEqual({
      '[redacted] a': 1,
      '[redacted] b': ['[redacted]', true, null],
      c: { d: 'my [redacted]' },
      e: 9,
    });
    expect(redactor.json({ s3cret: 1, '90210': 2, '[redacted]': 3 })).toEqual({
      '[redacted]': 2,
      '[redacted] 2': 1,
      '[redacted] 3': 3,
    });
    expect(given).toHaveProperty('s3cret a');
  });

  it('refuses what is no text to look for, without repeating it', () => {
    for (const secret of ['', ' \n', '\ud83d', 7 as unknown as string]) {
      expect(() => new Redactor(['fine', secret])).toThrow(/knownSecrets\[1\]/);
    }
    expect(() => new Redactor('abc' as unknown as string[])).toThrow(/must be an array/);
  });

  it('takes white space around a secret, as files end with it, for no part of it', () => {
    expect(new Redactor(['key-1\n']).text('(key-1)')).toBe('([redacted])');
  });
});

/** Secrets whose parts, and whose marks, run into one another. */
const secretSets: readonly (readonly string[])[] = [
  ['abab', 'ba'],
  ['aaa'],
  [']a', 'b['],
  ['redacted'],
  ['[redacted]', 'a[redacted]b'],
  ['a"b', 'b/a\nb'],
  ['ab-long-enough-for-base64', 'b64'],
  ['😀a', 'a😀'],
  ['█', '[', '▉'],
];

const scenario = fc.constantFrom(...secretSets).chain((secrets) => {
  const forms = secrets.flatMap((secret) => [
    ...formsOf(secret),
    ...base64Of(secret, 'x'),
    ...base64Of(secret, 'xy'),
  ]);
  const halves = forms.flatMap((form) => [form.slice(0, -1), form.slice(1)]);
  const piece = fc.oneof(
    fc.constantFrom('a', 'b', '[', ']', '[redacted]', '█', ' ', '\ud83d', '\ude00', '"', '\\'),
    fc.constantFrom(...forms),
    fc.constantFrom(...halves),
  );
  const text = fc.array(piece, { maxLength: 20 }).map((pieces) => pieces.join(''));
  return fc.record({ secrets: fc.constant(secrets), text, cuts: fc.array(fc.nat(400)) });
});

function pieces(text: string, cuts: readonly number[]): readonly string[] {
  const places = [0, ...cuts.map((cut) => cut % (text.length + 1)), text.length];
  const sorted = places.sort((one, other) => one - other);
  return sorted.slice(1).map((place, index) => text.slice(sorted[index], place));
}

describe('a stream of text', () => {
  it('shows the redaction of the whole, however it was split, and never a secret', () => {
    fc.assert(
      fc.property(scenario, ({ secrets, text, cuts }) => {
        const redactor = new Redactor(secrets);
        const live = redactor.stream();
        let shown = '';
        for (const chunk of pieces(text, cuts)) shown += live.push(chunk);
        shown += live.end();
        const forms = secrets.flatMap(formsOf);
        expect(shown).toBe(redactor.text(text));
        expect(forms.filter((form) => shown.includes(form))).toEqual([]);
        expect(redactor.text(shown)).toBe(shown);
        if (!forms.some((form) => text.includes(form)) && text.length < 8) {
          expect(shown).toBe(text);
        }
      }),
      { numRuns: 2_000 },
    );
  });

  it('JSON is redacted so that its text holds no secret', () => {
    fc.assert(
      fc.property(scenario, fc.jsonValue(), ({ secrets, text }, json) => {
        const sound = text.replace(/\p{Surrogate}/gu, '?');
        const value = { [sound]: [json, sound] } as JsonValue;
        const shown = JSON.stringify(new Redactor(secrets).json(value));
        const forms = secrets.flatMap(formsOf);
        expect(forms.filter((form) => shown.includes(form))).toEqual([]);
      }),
    );
  });

  it('holds back only what may still become a secret', () => {
    const live = new Redactor(['k3y-part']).stream();
    expect(live.push('an ordinary line\n')).toBe('an ordinary line\n');
    expect(live.push('key: k3')).toBe('key: ');
    expect(live.push('y-par')).toBe('');
    expect(live.push('k3y')).toBe('k3y-par');
    expect(live.push('-part!')).toBe('[redacted]!');
    expect(live.push('k3y-')).toBe('');
    expect(live.end()).toBe('k3y-');
    expect(live.push('part')).toBe('part');
  });

  it('shows a mark as soon as the secret is whole', () => {
    const live = new Redactor(['k3y']).stream();
    expect([...'a k3y'].map((unit) => live.push(unit)).join('')).toBe('a [redacted]');
  });

  it('never holds back as much as the longest form', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('aab', 'abab', 'aaaa'),
        fc.array(fc.constantFrom('a', 'b')),
        (secret, units) => {
          const live = new Redactor([secret]).stream();
          let shown = 0;
          for (const [place, unit] of units.entries()) {
            const text = live.push(unit);
            if (text.includes('[redacted]')) return;
            shown += text.length;
            expect(place + 1 - shown).toBeLessThan(secret.length);
          }
        },
      ),
    );
  });
});

describe('no message of a store repeats a secret', () => {
  const secret = 'sk-live-0123456789abcdef';
  const storage = createMemoryRunStorage({ namespace: 'tests', knownSecrets: [secret] });
  const { eventStore, snapshotStore, artifactStore } = storage;
  const scope = { namespace: 'tests', runId: 'run-1' };
  const write = (more: object) =>
    artifactStore.write(scope, {
      bytes: new Uint8Array(),
      mediaType: 'a/b',
      purpose: 'p',
      ...more,
    });

  it.each<[string, () => Promise<unknown>]>([
    ['a namespace', () => eventStore.end({ namespace: secret, streamId: 'a' })],
    ['a bad run id', () => eventStore.end({ namespace: 'a', streamId: `${secret} !` })],
    [
      'a long run id',
      () => eventStore.end({ namespace: 'a', streamId: `${'x'.repeat(50)}${secret}!` }),
    ],
    ['an event type', () => eventStore.append(stream, 0, [event(1, { type: secret, version: 0 })])],
    [
      'a type too large',
      () => eventStore.append(stream, 0, [event('x'.repeat(300_000), { type: secret })]),
    ],
    ['a path of a payload', () => eventStore.append(stream, 0, [event({ [secret]: undefined })])],
    ['an expected end', () => eventStore.append(stream, secret as 'end', [event(1)])],
    [
      'a status',
      () => eventStore.append(stream, 0, [event(1)], { index: { status: secret as 'paused' } }),
    ],
    [
      'a snapshot',
      () => snapshotStore.save(stream, { sequence: secret as unknown as number, body: 1 }),
    ],
    ['a purpose', () => write({ purpose: secret })],
    ['a media type', () => write({ mediaType: `text/${secret}` })],
    ['bytes', () => write({ bytes: Buffer.from(secret) })],
    [
      'JSON',
      () => write({ bytes: Buffer.from(`{"${secret}`), mediaType: 'a/json', contentMode: 'state' }),
    ],
    ['a mode', () => write({ contentMode: secret })],
    ['a run of an artifact', () => artifactStore.deleteRun({ ...scope, runId: secret })],
  ])('%s', async (_, work) => {
    const error: unknown = await work().then(
      () => null,
      (thrown: unknown) => thrown,
    );
    if (!isHoldfastError(error)) throw new Error('it was not refused');
    const told = `${error.message} ${JSON.stringify(error.details)} ${String(error.stack)}`;
    expect(told).not.toContain(secret);
    expect(told).not.toContain('sk-live');
  });

  it('nor does a storage that is made with one in its options', async () => {
    const { createLocalRunStorage } = await import('holdfast/storage/local');
    const directory = newDirectory();
    for (const options of [
      { directory: `${directory}/${secret}`, namespace: 'a' },
      { directory, namespace: secret },
      { directory, namespace: `${secret}/` },
      {
        directory,
        namespace: 'a',
        policy: { ...defaultStoragePolicy, [secret]: 1 },
      },
    ]) {
      let message = '';
      try {
        createLocalRunStorage({ ...options, knownSecrets: [secret] });
      } catch (error) {
        message = error instanceof Error ? error.message : '';
      }
      expect(message).not.toBe('');
      expect(message).not.toContain(secret);
    }
    removeDirectory(directory);
  });
});
