/** The JSON domain, as the graph door shows it. */
import fc from 'fast-check';
import {
  canonicalJson,
  cloneFrozenJson,
  digestJson,
  isHoldfastError,
  type JsonValue,
  JsonValueError,
  MAX_JSON_DEPTH,
} from 'holdfast/graph';
import { expect, test } from 'vitest';

function nested(depth: number): JsonValue {
  let value: JsonValue = 0;
  for (let level = 0; level < depth; level += 1) value = [value];
  return value;
}

function isDeeplyFrozen(value: JsonValue): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return Object.isFrozen(value) && Object.values(value).every(isDeeplyFrozen);
}

test('a copy is equal, deeply frozen, shares nothing, and leaves the original alone', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const before = JSON.stringify(value);
      const copy = cloneFrozenJson(value);
      expect(JSON.stringify(copy)).toBe(JSON.stringify(JSON.parse(before)));
      expect(isDeeplyFrozen(copy)).toBe(true);
      if (typeof value === 'object' && value !== null) {
        expect(Object.isFrozen(value)).toBe(false);
        expect(copy).not.toBe(value);
      }
      expect(cloneFrozenJson(copy)).toBe(copy);
    }),
  );
});

test('what somebody else froze is still copied, at every level', () => {
  const inner = Object.freeze({ list: Object.freeze([1, { deep: true }]) });
  const copy = cloneFrozenJson<typeof inner>(inner);
  expect(copy).toEqual(inner);
  expect(copy).not.toBe(inner);
  expect(Object.isFrozen(copy.list[1])).toBe(true);
  expect(Object.isFrozen(inner.list[1])).toBe(false);
});

const shared = { a: 1 };
const cyclic: Record<string, unknown> = {};
cyclic['self'] = { back: cyclic };

const refused: readonly (readonly [string, unknown, string])[] = [
  ['undefined', { a: [undefined] }, '/a/0'],
  ['a function', { a: () => 1 }, '/a'],
  ['a bigint', [1n], '/0'],
  ['a symbol', [Symbol('s')], '/0'],
  ['NaN', { 'a/b': { '~': Number.NaN } }, '/a~1b/~0'],
  ['infinity', [Number.NEGATIVE_INFINITY], '/0'],
  // biome-ignore lint/suspicious/noSparseArray: the hole is the point
  ['a sparse array', [[1, , 2]], '/0'],
  ['an array with a property', Object.assign([1], { extra: 1 }), ''],
  ['a hole made up for by a property', Object.assign(new Array(1), { extra: 1 }), '/0'],
  [
    'a getter',
    {
      get a() {
        return 1;
      },
    },
    '/a',
  ],
  ['a hidden property', Object.defineProperty({}, 'a', { value: 1 }), '/a'],
  ['a symbol key', { [Symbol('s')]: 1 }, ''],
  ['a date', { at: new Date(0) }, '/at'],
  ['a map', new Map(), ''],
  [
    'a class instance',
    new (class Point {
      x = 1;
    })(),
    '',
  ],
  ['a subclass of array', new (class List extends Array {})(), ''],
  ['a cycle', cyclic, '/self/back'],
  ['a lone surrogate', ['\uD800'], '/0'],
  ['a lone surrogate in a key', { '\uDC00': 1 }, '/\uDC00'],
  ['too deep a value', nested(MAX_JSON_DEPTH + 2), '/0'.repeat(MAX_JSON_DEPTH + 1)],
];

test.each(refused)('%s is refused with its place', (_name, value, path) => {
  const attempt = (): unknown => cloneFrozenJson(value);
  expect(attempt).toThrow(JsonValueError);
  try {
    attempt();
  } catch (error) {
    expect(isHoldfastError(error, 'INVALID_JSON_VALUE')).toBe(true);
    expect((error as JsonValueError).path).toBe(path);
  }
});

test('the deepest allowed value, shared parts, null prototypes and odd keys are accepted', () => {
  expect(cloneFrozenJson(nested(MAX_JSON_DEPTH + 1))).toEqual(nested(MAX_JSON_DEPTH + 1));
  expect(cloneFrozenJson([shared, shared])).toEqual([{ a: 1 }, { a: 1 }]);
  expect(cloneFrozenJson(Object.assign(Object.create(null), { a: 1 }))).toEqual({ a: 1 });
  const odd = JSON.parse('{"__proto__": {"polluted": true}, "constructor": 1}') as JsonValue;
  const copy = cloneFrozenJson<Record<string, unknown>>(odd);
  expect(Object.keys(copy)).toEqual(['__proto__', 'constructor']);
  expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
  expect(canonicalJson(odd)).toBe('{"__proto__":{"polluted":true},"constructor":1}');
});

test('minus zero is zero', () => {
  const value = cloneFrozenJson<{ a: number; b: number[] }>({ a: -0, b: [-0, 1] });
  expect(Object.is(value.a, 0)).toBe(true);
  expect(Object.is(value.b[0], 0)).toBe(true);
  expect(digestJson({ a: -0 })).toBe(digestJson({ a: 0 }));
});

test('canonical text sorts keys by UTF-16 code units; a digest names the content', () => {
  expect(canonicalJson({ b: 1, a: [1.0, 'é'], '\u{1F600}': 1, '\uFB33': 2 })).toBe(
    '{"a":[1,"é"],"b":1,"\u{1F600}":1,"\uFB33":2}',
  );
  expect(digestJson({})).toBe(
    'sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a',
  );
});
