/** A page whose rows are numbered, and the tests whose titles begin with these numbers. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** The numbers of a page's tables, in their order. */
export function numbersOf(page: string, form: RegExp): readonly string[] {
  return [...page.matchAll(/^\| ([^|]+?) \|/gm)]
    .map(([, cell = '']) => cell)
    .filter((cell) => form.test(cell));
}

/** The numbers with which titles begin, by file: `'000-05: …'` or `'000-05 000-06: …'`. */
export function titledNumbers(
  folders: readonly string[],
  form: RegExp,
): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const file of folders.flatMap(testFiles)) {
    const source = readFileSync(file, 'utf8');
    for (const [, head = ''] of source.matchAll(/['"`]((?:[a-z0-9]+-\d{2} ?)+):/g)) {
      for (const number of head.trim().split(' ')) {
        if (form.test(number)) found.set(number, [...(found.get(number) ?? []), file]);
      }
    }
  }
  return found;
}

function testFiles(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const name = path.join(folder, entry.name);
    if (entry.isDirectory())
      return /^\.|^node_modules$|^dist$/.test(entry.name) ? [] : testFiles(name);
    return name.endsWith('.test.ts') ? [name] : [];
  });
}
