/** The page of scenarios lists every one of its sections, and only tests that exist. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const tests = fileURLToPath(new URL('../', import.meta.url));
const page = readFileSync(new URL('../../../../docs/scenarios.md', import.meta.url), 'utf8');

/** The scenarios of the sections that are in scope; section J and others come later. */
const sections: Readonly<Record<string, string>> = {
  A: 'B01 B02 B04 B05 B07 B08 B10 B11 B13 B14 B16',
  B: 'B17 B19 B20 B22 B23 B25 B26 B28 B29 B31',
  C: 'B32 B34 B35 B37 B38 B40 B41 B43 B44 B46 B47 B49 B50 B52 B53',
  F: 'B70 B71 B73 B74 B76 B77 B79 B80 B82',
  G: 'B83 B85 B86 B88 B89 B91 B92 B94 B95 B97 B98',
  H: 'B100 B101 B103 B104 B106 B107 B109 B110',
};

interface Row {
  readonly id: string;
  readonly where: string;
  readonly files: readonly string[];
}

const rows: readonly Row[] = [...page.matchAll(/^\| (B\d+) \| [^|]+ \| ([^|]+) \|$/gm)].map(
  ([, id = '', where = '']) => ({
    id,
    where,
    files: [...where.matchAll(/`([^`]+)`/g)].map(([, file = '']) => file),
  }),
);

/** The ids in the titles of a test file: they stand before a colon, at a quote. */
function idsIn(file: string): ReadonlySet<string> {
  const source = readFileSync(path.join(tests, file), 'utf8');
  const heads = [...source.matchAll(/['"`]((?:B\d+ ?)+):/g)].map(([, head = '']) => head);
  return new Set(heads.flatMap((head) => head.trim().split(' ')));
}

function testFiles(folder = ''): readonly string[] {
  return readdirSync(path.join(tests, folder), { withFileTypes: true }).flatMap((entry) => {
    const name = path.posix.join(folder, entry.name);
    if (entry.isDirectory()) return entry.name.startsWith('.') ? [] : testFiles(name);
    return name.endsWith('.test.ts') ? [name] : [];
  });
}

describe('the page of scenarios', () => {
  test.each(Object.entries(sections))('lists every scenario of section %s, once', (_name, ids) => {
    const listed = rows.map(({ id }) => id).filter((id) => ids.split(' ').includes(id));
    expect(listed).toEqual(ids.split(' '));
  });

  test.each(rows)('$id: is tested where it says, or says why not', ({ id, where, files }) => {
    if (files.length === 0) expect(where).toMatch(/^Not in scope: .+\.$/);
    for (const file of files) expect([...idsIn(file)], file).toContain(id);
  });

  test('knows of every test that is titled with an id', () => {
    const known = new Map(rows.map(({ id, files }) => [id, files]));
    const unknown = testFiles().flatMap((file) =>
      [...idsIn(file)].filter((id) => !known.get(id)?.includes(file)).map((id) => `${id} ${file}`),
    );
    expect(unknown).toEqual([]);
  });
});
