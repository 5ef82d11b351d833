/** Text cut to the bytes that an event has left for it. */
import type { JsonValue } from '../base/json.ts';
import { utf8Length } from '../base/text.ts';
import { jsonExceeds } from '../store/json-size.ts';

/** The bytes of the JSON text of `value`. */
export function jsonBytes(value: JsonValue): number {
  return utf8Length(JSON.stringify(value));
}

/**
 * The longest beginning of `text` whose JSON text has at most `maxBytes`, with `…` where something
 * was cut; that mark at least.
 */
export function fitText(text: string, maxBytes: number): string {
  if (!jsonExceeds(text, maxBytes)) return text;
  const points = Array.from(text);
  const cut = (length: number) => `${points.slice(0, length).join('')}…`;
  let fits = 0;
  let tooLong = points.length;
  while (tooLong - fits > 1) {
    const middle = (fits + tooLong) >>> 1;
    if (jsonExceeds(cut(middle), maxBytes)) tooLong = middle;
    else fits = middle;
  }
  return cut(fits);
}
