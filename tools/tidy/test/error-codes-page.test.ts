import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { errorCodes } from 'holdfast';
import { expect, it } from 'vitest';
import { renderErrorCodesPage } from '../src/error-codes-page.ts';

it('docs/error-codes.md is what the table says now (mend: npm run build && npm run pages)', () => {
  const page = fileURLToPath(new URL('../../../docs/error-codes.md', import.meta.url));
  expect(readFileSync(page, 'utf8')).toBe(renderErrorCodesPage(errorCodes));
});

it('lists codes in order and keeps the table whole', () => {
  const page = renderErrorCodesPage({
    B_CODE: { meaning: 'one | two', next: 'Do\nthis.' },
    A_CODE: { meaning: 'a <b>', next: 'Nothing.' },
  });
  expect(page.split('\n').slice(-3)).toEqual([
    '| `A_CODE` | a &lt;b> | Nothing. |',
    '| `B_CODE` | one \\| two | Do this. |',
    '',
  ]);
});
