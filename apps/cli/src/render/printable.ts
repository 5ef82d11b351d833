/**
 * Text from flows, nodes and stores on its way to a terminal. Whatever it holds, it cannot move
 * the cursor, change colours or start a new line.
 */

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it replaces
const CONTROL = /[\u0000-\u001F\u007F-\u009F\u2028\u2029\u202A-\u202E\u2066-\u2069]+/g;
const LONE_SURROGATE = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g;

/** `text` in one line, control characters replaced by spaces. */
export function printable(text: string): string {
  return text.replace(LONE_SURROGATE, '\uFFFD').replace(CONTROL, ' ').trim();
}

/** `text` with its line breaks kept. */
export function printableLines(text: string): readonly string[] {
  return text.split(/\r?\n/).map((line) => printable(line.replaceAll('\t', '  ')));
}

const COMBINING = /^(?:\p{Mark}|\p{Cf}|\p{Variation_Selector})$/u;
const WIDE_LETTER = /^[\u1100-\u115F\u2E80-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF]/;
const WIDE_FORM = /^[\uFE30-\uFE6F\uFF00-\uFF60\uFFE0-\uFFE6]|^\p{Emoji_Presentation}/u;

/** How many columns `text` takes in a terminal. */
export function displayWidth(text: string): number {
  let width = 0;
  for (const character of text) width += characterWidth(character);
  return width;
}

/** `text` cut to `columns`, with `…` where something was cut. */
export function fitWidth(text: string, columns: number): string {
  if (columns <= 0) return '';
  if (displayWidth(text) <= columns) return text;
  let width = 0;
  let kept = '';
  for (const character of text) {
    width += characterWidth(character);
    if (width > columns - 1) break;
    kept += character;
  }
  return `${kept}…`;
}

/** `text` cut and filled up to exactly `columns`. */
export function padWidth(text: string, columns: number): string {
  const fitted = fitWidth(text, columns);
  return fitted + ' '.repeat(Math.max(0, columns - displayWidth(fitted)));
}

function characterWidth(character: string): number {
  if (character < '\u007F') return 1;
  if (COMBINING.test(character)) return 0;
  return WIDE_LETTER.test(character) || WIDE_FORM.test(character) ? 2 : 1;
}
