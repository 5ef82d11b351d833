/** The page of seed 000 and the tests that show its statements agree. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { numbersOf, titledNumbers } from './numbered-page.ts';

const root = new URL('../../../../', import.meta.url);
const form = /^(000|weak)-\d{2}$/;
const numbers = numbersOf(readFileSync(new URL('docs/seeds/000.md', root), 'utf8'), form);
const titled = titledNumbers(
  ['packages/holdfast/test', 'apps/cli/test', 'examples'].map((folder) =>
    fileURLToPath(new URL(folder, root)),
  ),
  form,
);

test('every number of the page stands once, in order', () => {
  const counted = (prefix: string, count: number) =>
    Array.from(
      { length: count },
      (_each, place) => `${prefix}-${String(place + 1).padStart(2, '0')}`,
    );
  expect(numbers).toEqual([...counted('000', 52), ...counted('weak', 13)]);
});

test('every number has a test whose title begins with it', () => {
  expect(numbers.filter((number) => !titled.has(number))).toEqual([]);
});

test('every title with a number stands on the page', () => {
  expect([...titled.keys()].filter((number) => !numbers.includes(number))).toEqual([]);
});
