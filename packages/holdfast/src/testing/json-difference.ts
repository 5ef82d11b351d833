/** The first place where two JSON values differ, for messages of the kits. */
import { cloneFrozenJson, isJsonObject, type JsonValue, jsonPointer } from '../base/json.ts';
import { truncateText } from '../base/text.ts';

const VALUE_LENGTH = 120;

/**
 * Null when both are the same JSON, else where they differ and how. Key order does not count.
 * Throws `INVALID_JSON_VALUE` when one of them is not JSON.
 */
export function jsonDifference(actual: unknown, expected: unknown): string | null {
  return difference(cloneFrozenJson(actual), cloneFrozenJson(expected), '');
}

function difference(actual: JsonValue, expected: JsonValue, path: string): string | null {
  if (Object.is(actual, expected)) return null;
  if (Array.isArray(actual) && Array.isArray(expected)) {
    if (actual.length !== expected.length) {
      return `${place(path)} has ${actual.length} entries, expected ${expected.length}`;
    }
    return firstOf(actual.keys(), (index) =>
      difference(actual[index], expected[index], `${path}/${index}`),
    );
  }
  if (!isJsonObject(actual) || !isJsonObject(expected)) {
    return `${place(path)} is ${shown(actual)}, expected ${shown(expected)}`;
  }
  const keys = new Set([...Object.keys(expected), ...Object.keys(actual)]);
  return firstOf(keys, (key) => {
    const at = jsonPointer(path, key);
    if (!Object.hasOwn(actual, key)) return `${at} is missing, expected ${shown(expected[key])}`;
    if (!Object.hasOwn(expected, key))
      return `${at} is ${shown(actual[key])}, expected no such key`;
    return difference(actual[key] ?? null, expected[key] ?? null, at);
  });
}

function firstOf<T>(items: Iterable<T>, find: (item: T) => string | null): string | null {
  for (const item of items) {
    const found = find(item);
    if (found !== null) return found;
  }
  return null;
}

function place(path: string): string {
  return path === '' ? 'the value' : path;
}

function shown(value: JsonValue | undefined): string {
  return truncateText(JSON.stringify(value) ?? 'nothing', VALUE_LENGTH);
}
