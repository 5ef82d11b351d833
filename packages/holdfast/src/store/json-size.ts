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

/** True when the UTF-8 JSON text of `value` has more than `limit` bytes. */
export function jsonExceeds(value: JsonValue, limit: number): boolean {
  if (bound(value, limit) >= 0) return false;
  const text = JSON.stringify(value);
  if (text.length > limit) return true;
  return text.length * 3 > limit && utf8Length(text) > limit;
}

/** What is left of `room` after the largest text that `value` may have; negative = unknown. */
function bound(value: JsonValue, room: number): number {
  if (typeof value === 'string') return room - 2 - value.length * UNIT_BYTES;
  if (typeof value !== 'object' || value === null) return room - SCALAR_BYTES;
  return Array.isArray(value)
    ? boundArray(value, room - 2)
    : boundObject(value as JsonObject, room);
}

function boundArray(items: readonly JsonValue[], room: number): number {
  let left = room;
  for (let index = 0; left >= 0 && index < items.length; index += 1) {
    left = bound(items[index] as JsonValue, left - 1);
  }
  return left;
}

function boundObject(object: JsonObject, room: number): number {
  let left = room - 2;
  for (const key in object) {
    left = bound(object[key] as JsonValue, left - 4 - key.length * UNIT_BYTES);
    if (left < 0) return left;
  }
  return left;
}
