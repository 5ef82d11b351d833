/** Known secrets are found however writers of JSON, URLs, forms, HTML and base64 spell them. */
import fc from 'fast-check';
import { Redactor, StorageError } from 'holdfast';
import { createMemoryRunStorage } from 'holdfast/storage/memory';
import { describe, expect, it } from 'vitest';
import { event, stream } from './events.ts';

type Encoder = (text: string) => string;

const inside: Encoder = (text) => JSON.stringify(text).slice(1, -1);
const hex = (code: number, digits: number) => code.toString(16).padStart(digits, '0');
const upper: Encoder = (text) => {
  return text.replace(/\\u[\da-f]{4}/g, (code) => `\\u${code.slice(2).toUpperCase()}`);
};
const lower: Encoder = (text) => text.replace(/%../g, (code) => code.toLowerCase());

/** `json.dumps`: ASCII only, DEL as it is. */
const python: Encoder = (text) => {
  return inside(text).replace(/[\u0080-\uffff]/g, (unit) => `\\u${hex(unit.charCodeAt(0), 4)}`);
};
/** `json_encode`: as Python, with the slash escaped. */
const php: Encoder = (text) => python(text).replaceAll('/', '\\/');
/** `rawurlencode`: all but unreserved characters. */
const strict: Encoder = (text) => {
  return encodeURIComponent(text).replace(/[!'()*]/g, (mark) => `%${hex(mark.charCodeAt(0), 2)}`);
};
const form: Encoder = (text) => new URLSearchParams([['k', text]]).toString().slice(2);
const html: Encoder = (text) => {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
};
const numeric: Encoder = (text) => {
  return [...text]
    .map((mark) => {
      return /\w/.test(mark) ? mark : `&#x${hex(mark.codePointAt(0) ?? 0, 2)};`;
    })
    .join('');
};

const textEncoders: Readonly<Record<string, Encoder>> = {
  'as it is': (text) => text,
  'JSON.stringify': inside,
  'JSON.stringify twice': (text) => inside(inside(text)),
  'JSON.stringify three times': (text) => inside(inside(inside(text))),
  'json.dumps': python,
  'json.dumps three times': (text) => python(python(python(text))),
  json_encode: php,
  'json_encode, upper case': (text) => upper(php(text)),
  'JSON of JSON, upper case': (text) => inside(upper(python(text))),
  'json_encode three times': (text) => php(php(php(text))),
  encodeURIComponent,
  'encodeURIComponent, lower case': (text) => lower(encodeURIComponent(text)),
  'encodeURIComponent twice': (text) => encodeURIComponent(encodeURIComponent(text)),
  rawurlencode: strict,
  encodeURI,
  URLSearchParams: form,
  'URLSearchParams, lower case': (text) => lower(form(text)),
  'the query of URL.href': (text) => {
    const url = new URL('https://host.example/');
    url.searchParams.set('k', text);
    return url.href.slice('https://host.example/?k='.length);
  },
  'JSON in a query': (text) => encodeURIComponent(inside(text)),
  'JSON of JSON in a form': (text) => form(inside(php(text))),
  'a query in JSON': (text) => php(form(text)),
  HTML: html,
  'HTML with numbers': numeric,
  'HTML of JSON': (text) => html(inside(text)),
  'JSON of HTML in a query': (text) => encodeURIComponent(inside(html(text))),
};

/** Texts of bytes, and the column at which writers break them into lines. */
const byteEncoders: Readonly<Record<string, Encoder>> = {
  base64: (text) => Buffer.from(text).toString('base64'),
  base64url: (text) => Buffer.from(text).toString('base64url'),
  'base64 of 64 columns': (text) => lines(Buffer.from(text).toString('base64'), 64, '\n'),
  'base64 of 76 columns': (text) => lines(Buffer.from(text).toString('base64'), 76, '\r\n'),
  'indented base64': (text) => lines(Buffer.from(text).toString('base64'), 20, '\n    '),
  hex: (text) => Buffer.from(text).toString('hex'),
  'hex, upper case': (text) => Buffer.from(text).toString('hex').toUpperCase(),
  'hex of 64 columns': (text) => lines(Buffer.from(text).toString('hex'), 64, '\n'),
};

function lines(text: string, columns: number, end: string): string {
  return text.match(new RegExp(`.{1,${columns}}`, 'g'))?.join(end) ?? '';
}

const mark = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...'abcnrtufXYZ0123456789') },
  { weight: 4, arbitrary: fc.constantFrom(...'"\'\\/%&+-_.~!*()=?#:;,@$<>[]{}| ^`') },
  { weight: 2, arbitrary: fc.constantFrom('é', 'ß', '€', '日', '😀', '𝒳', '\u00a0', '\u2028') },
  { weight: 1, arbitrary: fc.constantFrom('\u0000', '\u001f', '\u007f', '\t', '\r\n', '\n', '\b') },
);
/** With visible ends: white space around a secret is no part of it. */
const secretText = fc
  .tuple(fc.constantFrom(...'kQ"/\\%&é😀+'), fc.array(mark, { minLength: 5, maxLength: 40 }))
  .map(([first, marks]) => `${first}${marks.join('')}.`);
const context = fc.array(mark, { maxLength: 12 }).map((marks) => marks.join(''));
const cuts = fc.array(fc.nat(4_000), { maxLength: 12 });

function streamed(redactor: Redactor, text: string, places: readonly number[]): string {
  const live = redactor.stream();
  const sorted = [0, ...places.map((cut) => cut % (text.length + 1)), text.length];
  sorted.sort((one, other) => one - other);
  let shown = '';
  for (let part = 1; part < sorted.length; part += 1) {
    shown += live.push(text.slice(sorted[part - 1], sorted[part]));
  }
  return shown + live.end();
}

/** True when a store refuses an event with `text` in it. */
async function isRefused(secret: string, text: string): Promise<boolean> {
  const { eventStore } = createMemoryRunStorage({ namespace: 'tests', knownSecrets: [secret] });
  const done = eventStore.append(stream, 0, [event({ text })]);
  return done.then(
    () => false,
    (error: unknown) => error instanceof StorageError && error.code === 'KNOWN_SECRET',
  );
}

describe('a secret in text', () => {
  it.each(Object.entries(textEncoders))('is found as written by %s', async (_, encode) => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({ secret: secretText, before: context, after: context, cuts }),
        async ({ secret, before, after, cuts: places }) => {
          const form = encode(secret);
          const redactor = new Redactor([secret]);
          for (const text of [before + form + after, encode(before + secret + after)]) {
            const shown = redactor.text(text);
            expect(shown).not.toContain(form);
            expect(shown).not.toContain(secret);
            expect(shown).not.toBe(text);
            expect(redactor.text(shown)).toBe(shown);
            expect(streamed(redactor, text, places)).toBe(shown);
          }
          expect(redactor.text(form)).toMatch(/^(\[redacted\]|█|▉)$/);
          if (!/[\ud800-\udfff]/.test(before)) expect(await isRefused(secret, form)).toBe(true);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('is found whatever its first two characters are', () => {
    const marks = [...'an0/\\%&+"\' é😀\n'];
    for (const one of marks.filter((each) => each.trim() !== '')) {
      for (const other of marks) {
        const secret = `${one}${other}.z`;
        const redactor = new Redactor([secret]);
        for (const [name, encode] of Object.entries(textEncoders)) {
          const form = encode(secret);
          expect([name, form, redactor.text(`, ${form}`)]).not.toContain(`, ${form}`);
        }
      }
    }
  });

  it('is found in the bytes of an artifact, whatever wrote them', async () => {
    const secret = 'pä"ss/wörd 😀\\';
    const { artifactStore } = createMemoryRunStorage({
      namespace: 'tests',
      knownSecrets: [secret],
    });
    for (const encode of [...Object.values(textEncoders), ...Object.values(byteEncoders)]) {
      const bytes = Buffer.concat([Buffer.from([0xff, 0xc3]), Buffer.from(`<${encode(secret)}>`)]);
      const written = artifactStore.write(
        { namespace: 'tests', runId: 'run-1' },
        { bytes, mediaType: 'a/b', purpose: 'p' },
      );
      await expect(written).rejects.toMatchObject({ code: 'KNOWN_SECRET' });
    }
  });
});

const inner = [
  'as it is',
  'JSON.stringify',
  'json_encode',
  'encodeURIComponent',
  'URLSearchParams',
];
const outer: readonly (readonly [string, Encoder])[] = [
  ['as it is', (text) => text],
  ['in JSON', inside],
  ['in JSON of PHP', php],
  ['in a query', encodeURIComponent],
];

describe('a secret in bytes', () => {
  it.each(Object.entries(byteEncoders))('is found in %s at any offset', async (_, encode) => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          secret: secretText,
          before: context,
          after: context,
          cuts,
          form: fc.constantFrom(...inner),
          written: fc.constantFrom(...outer),
        }),
        async ({ secret, before, after, cuts: places, form: name, written: [, wrap] }) => {
          const form = (textEncoders[name] ?? inside)(secret);
          const redactor = new Redactor([secret]);
          for (const pad of ['', 'x', 'xy']) {
            const encoded = encode(pad + before + form + after);
            const text = `<${wrap(encoded)}>`;
            const shown = redactor.text(text);
            expect(shown).not.toBe(text);
            expect(leaked(shown, secret)).toBe(false);
            expect(redactor.text(shown)).toBe(shown);
            expect(streamed(redactor, text, places)).toBe(shown);
          }
          expect(await isRefused(secret, wrap(encode(form)))).toBe(true);
        },
      ),
      { numRuns: 60 },
    );
  });
});

it('a secret in bytes is found whatever its first two characters are', () => {
  const missed: unknown[] = [];
  for (const one of 'a/\\%&+"é') {
    for (const other of 'a/\\%&+" é') {
      const secret = `${one}${other}.zyxw`;
      const redactor = new Redactor([secret]);
      for (const name of inner) {
        for (const pad of ['', 'x', 'xy']) {
          const bytes = Buffer.from(pad + (textEncoders[name] ?? inside)(secret));
          for (const text of [bytes.toString('base64'), bytes.toString('hex')]) {
            if (redactor.text(text) === text) missed.push([secret, name, pad, text]);
          }
        }
      }
    }
  }
  expect(missed).toEqual([]);
});

/** True when what is left of base64 or hexadecimal still gives the secret's bytes. */
function leaked(shown: string, secret: string): boolean {
  return shown.split(/\[redacted\]|[█-▋<>]/).some((part) => {
    const text = part.replace(/\s/g, '');
    const bytes = [0, 1, 2, 3].flatMap((from) => [
      Buffer.from(text.slice(from), 'base64'),
      Buffer.from(text.slice(from), 'hex'),
    ]);
    return bytes.some((given) => given.includes(secret));
  });
}

describe('what a secret is not', () => {
  it('ordinary text is left alone, also by short secrets', () => {
    const redactor = new Redactor(['n0', 'a b', 'x"y', 'abcde']);
    const text = 'const n = "a, b"; // x\\ny 100% &amp; a/b c3ViYWJjZA== 6162636465 YWJjZGU\n';
    expect(redactor.text(text)).toBe(text);
  });

  it('a run of backslashes that no writer makes of one is left alone', () => {
    const redactor = new Redactor(['a\\z.']);
    const [three, four] = ['a\\\\\\z.', 'a\\\\\\\\z.'];
    expect([redactor.text(three), redactor.text(four)]).toEqual([three, '[redacted]']);
  });

  it('random base64 and hexadecimal hold no secret by chance', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 200, maxLength: 600 }), (bytes) => {
        const redactor = new Redactor(['abcdef', 'sk-live-1']);
        for (const text of ['base64', 'base64url', 'hex'] as const) {
          const given = Buffer.from(bytes).toString(text);
          expect(redactor.text(given)).toBe(given);
        }
      }),
    );
  });

  it('a secret with a line break is found in the form of every system, and without it', () => {
    const redactor = new Redactor(['-----KEY\r\nabc\r\n-----']);
    for (const text of ['-----KEY\nabc\n-----', '-----KEYabc-----', '-----KEY\\nabc\\n-----']) {
      expect(redactor.text(text)).toBe('[redacted]');
    }
    const [url, dropped] = ['https://a.example/?k=ab\ncdefgh', 'https://a.example/?k=[redacted]'];
    expect(new Redactor(['ab\ncdefgh']).text(new URL(url).href)).toBe(dropped);
  });

  it('escapes that never end are held back only as far as one can reach', () => {
    const live = new Redactor(['k"y']).stream();
    let shown = 0;
    for (let count = 1; count <= 5_000; count += 1) {
      shown += live.push('\\').length;
      expect(count - shown).toBeLessThan(64);
    }
  });
});
