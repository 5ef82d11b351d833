/**
 * How large the JSON text of a value is, without writing it.
 *
 * Most values are far below every limit, so a cheap upper bound answers first, and stops as soon
 * as it can no longer answer.
 */
import type { JsonObject, JsonValue } from '../base/json.ts';
import { utf8Length } from '../base/text.ts';

/** The longest text of a number (`-1.2345678901234567e-300`), and room for `false`. */
const SCALAR_BYTES = 25;
/** A UTF-16 unit takes at most six bytes: `\u0000`. */
const UNIT_BYTES = 6;
/** Text that stands in JSON as it is, one byte a character. */
const PLAIN = /^[ !#-[\]-~]*$/;

/** True when the UTF-8 JSON text of `value` has more than `limit` bytes. */
export function jsonExceeds(value: JsonValue, limit: number): boolean {
  if (bound(value, limit) >= 0) return false;
  const text = JSON.stringify(value);
  if (text.length > limit) return true;
  return text.length * 3 > limit && utf8Length(text) > limit;
}

/** A bound of the bytes of the JSON text of `value`: never too small, and close for plain text. */
export function jsonBound(value: JsonValue): number {
  return -bound(value, 0, Number.NEGATIVE_INFINITY);
}

/**
 * What is left of `room` after the largest text that `value` may have. It stops below `least`:
 * negative = unknown.
 */
function bound(value: JsonValue, room: number, least = 0): number {
  if (typeof value === 'string') return room - 2 - textBound(value);
  if (typeof value !== 'object' || value === null) return room - SCALAR_BYTES;
  return Array.isArray(value)
    ? boundArray(value, room - 2, least)
    : boundObject(value as JsonObject, room - 2, least);
}

function textBound(text: string): number {
  return PLAIN.test(text) ? text.length : text.length * UNIT_BYTES;
}

function boundArray(items: readonly JsonValue[], room: number, least: number): number {
  let left = room;
  for (let index = 0; left >= least && index < items.length; index += 1) {
    left = bound(items[index] as JsonValue, left - 1, least);
  }
  return left;
}

function boundObject(object: JsonObject, room: number, least: number): number {
  let left = room;
  for (const key in object) {
    left = bound(object[key] as JsonValue, left - 4 - key.length * UNIT_BYTES, least);
    if (left < least) return left;
  }
  return left;
}
