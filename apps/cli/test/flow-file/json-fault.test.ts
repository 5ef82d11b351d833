import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jsonFault, repeatedKey } from '../../src/flow-file/json-fault.ts';

describe('jsonFault', () => {
  it.each([
    ['', 1, 1, 'expected a value, found the end'],
    ['{"a": 1,}', 1, 9, 'expected a key in double quotes, found "}"'],
    ['{\n  "a": tru\n}', 2, 8, 'expected a value, found "t"'],
    ['[1, 2', 1, 6, 'expected "," or "]", found the end'],
    ['[1 2]', 1, 4, 'expected "," or "]", found "2"'],
    ['{"a" 1}', 1, 6, 'expected ":" after a key, found "1"'],
    ['{"a": 1} x', 1, 10, 'the text goes on after its end'],
    ['"a\\q"', 1, 3, 'this escape does not exist'],
    ['"abc', 1, 5, 'this text has no closing quote'],
    ['{"a":\n"b\tc"}', 2, 3, 'a control character in a text must be escaped'],
    ['{a: 1}', 1, 2, 'expected a key in double quotes, found "a"'],
    ["{'a': 1}", 1, 2, `expected a key in double quotes, found "'"`],
    ['[01]', 1, 3, 'expected "," or "]", found "1"'],
  ])('%j at line %i, column %i', (text, line, column, message) => {
    expect(jsonFault(text)).toEqual({ line, column, message });
  });

  it('finds a fault in exactly the texts that JSON.parse refuses', () => {
    const mutated = fc
      .tuple(
        fc.json(),
        fc.nat(),
        fc.constantFrom('', '"', ',', ':', '}', ']', '1', '\n', '\\', 'x'),
      )
      .map(([text, place, extra]) => {
        const at = place % (text.length + 1);
        return text.slice(0, at) + extra + text.slice(at + 1);
      });
    fc.assert(
      fc.property(mutated, (text) => {
        const isFaulty = !isJson(text) || repeatedKey(text) !== null;
        expect(jsonFault(text).message !== 'this is not JSON').toBe(isFaulty);
      }),
      { numRuns: 2_000 },
    );
  });

  it('places the fault where no text that begins so can be JSON', () => {
    fc.assert(
      fc.property(fc.json(), fc.nat(), (text, place) => {
        const cut = text.slice(0, place % (text.length + 1));
        if (isJson(cut)) return;
        const { line, column } = jsonFault(cut);
        const lines = cut.split('\n');
        // A cut text goes wrong at its end, or where an unfinished word or number begins.
        expect(line).toBe(lines.length);
        expect(column).toBeGreaterThan((lines.at(-1) ?? '').length - 30);
      }),
    );
  });
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
