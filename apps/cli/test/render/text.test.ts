import fc from 'fast-check';
import { HoldfastError } from 'holdfast';
import picocolors from 'picocolors';
import { describe, expect, it } from 'vitest';
import { durationText } from '../../src/render/duration.ts';
import { errorDocument, errorText } from '../../src/render/error-text.ts';
import { displayWidth, fitWidth, padWidth, printable } from '../../src/render/printable.ts';

const plain = picocolors.createColors(false);

describe('text on its way to a terminal', () => {
  it('cannot hold anything that a terminal acts on', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(printable(text)).not.toMatch(/[\p{Cc}\u2028\u2029\u202A-\u202E]/u);
      }),
    );
    expect(printable('a\u001B[2Jb\r\nc')).toBe('a [2Jb c');
  });

  it('fits any width, counted in columns', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.nat(40), (text, columns) => {
        expect(displayWidth(fitWidth(text, columns))).toBeLessThanOrEqual(columns);
      }),
    );
  });

  it.each([
    ['abc', 3],
    ['日本', 4],
    ['e\u0301', 1],
    ['🚀', 2],
  ])('%s takes %i columns', (text, columns) => {
    expect(displayWidth(text)).toBe(columns);
    expect(displayWidth(padWidth(text, 10))).toBe(10);
  });
});

describe('durationText', () => {
  it.each([
    [0, '0 ms'],
    [999, '999 ms'],
    [1_250, '1.3 s'],
    [59_949, '59.9 s'],
    [59_960, '1 min 0 s'],
    [3_725_000, '1 h 2 min'],
    [200_000_000, '2 d 7 h'],
  ])('%i', (ms, text) => {
    expect(durationText(ms)).toBe(text);
  });
});

describe('an error', () => {
  const error = new HoldfastError('RUN_NOT_FOUND', 'No run r1 is stored here.', { runId: 'r1' });

  it('says its code, what is wrong and what to do next, and no stack', () => {
    expect(errorText(error, plain)).toBe(
      'RUN_NOT_FOUND: No run r1 is stored here.\n' +
        'Next: List the runs, and check the directory and the namespace.\n',
    );
  });

  it('shows its stack when it was asked for', () => {
    expect(errorText(error, plain, true)).toMatch(/\n +at /);
  });

  it('is a document with the same parts', () => {
    expect(errorDocument(error)).toEqual({
      code: 'RUN_NOT_FOUND',
      message: 'No run r1 is stored here.',
      next: 'List the runs, and check the directory and the namespace.',
      details: { runId: 'r1' },
    });
  });

  it('that is none of ours is called unexpected', () => {
    expect(errorDocument(new TypeError('x is not a function')).code).toBe('UNEXPECTED');
  });
});
