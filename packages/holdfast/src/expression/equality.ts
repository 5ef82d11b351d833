/** Equality of JSON values: by type and content; the order of a map's keys does not count. */
import type { JsonValue } from '../base/json.ts';
import { MAX_JSON_DEPTH } from '../base/json.ts';
import type { CallSite } from './call-site.ts';
import { MAX_EXPRESSION_DEPTH } from './limits.ts';

/** Deeper than any value an expression can make of JSON: only a value that contains itself is. */
const MAX_DEPTH = MAX_JSON_DEPTH + MAX_EXPRESSION_DEPTH;

export function equalJson(left: JsonValue, right: JsonValue, call: CallSite): boolean {
  return equal(left, right, { call, depth: 0 });
}

interface Comparison {
  readonly call: CallSite;
  readonly depth: number;
}

function equal(left: JsonValue, right: JsonValue, at: Comparison): boolean {
  if (typeof left === 'string' && typeof right === 'string') {
    if (left.length !== right.length) return false;
    at.call.spendText(left.length);
    return left === right;
  }
  if (left === right) return true;
  if (typeof left !== 'object' || typeof right !== 'object') return false;
  if (left === null || right === null || isList(left) !== isList(right)) return false;
  if (at.depth > MAX_DEPTH) {
    at.call.fail('EXPRESSION_LIMIT', `The values compared are nested deeper than ${MAX_DEPTH}`);
  }
  const deeper = { call: at.call, depth: at.depth + 1 };
  if (isList(left)) return isList(right) && equalLists(left, right, deeper);
  return !isList(right) && equalMaps(left, right, deeper);
}

function isList(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}

function equalLists(
  left: readonly JsonValue[],
  right: readonly JsonValue[],
  at: Comparison,
): boolean {
  if (left.length !== right.length) return false;
  for (const [index, item] of left.entries()) {
    at.call.spend(1);
    if (!equal(item, right[index] ?? null, at)) return false;
  }
  return true;
}

function equalMaps(
  left: Readonly<Record<string, JsonValue>>,
  right: Readonly<Record<string, JsonValue>>,
  at: Comparison,
): boolean {
  const keys = Object.keys(left);
  at.call.spend(keys.length);
  if (keys.length !== Object.keys(right).length) return false;
  return keys.every(
    (key) => Object.hasOwn(right, key) && equal(left[key] ?? null, right[key] ?? null, at),
  );
}
