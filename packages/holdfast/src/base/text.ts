/** Rules about text that several rooms share: surrogates, control characters, byte length. */

const LONE_SURROGATE = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const CONTROL = /[\u0000-\u001F\u007F]/;
const NON_ASCII = /[\u0080-\uFFFF]/g;

/** True when `text` holds half of a surrogate pair: such text has no UTF-8 form. */
export function hasLoneSurrogate(text: string): boolean {
  return LONE_SURROGATE.test(text);
}

/** True when `text` holds U+0000–001F or U+007F. */
export function hasControlCharacter(text: string): boolean {
  return CONTROL.test(text);
}

/** The length of `text` in UTF-8 bytes. */
export function utf8Length(text: string): number {
  let extra = 0;
  for (const match of text.matchAll(NON_ASCII)) {
    const unit = match[0].charCodeAt(0);
    // A surrogate pair is two units and four bytes, so each half adds one.
    extra += unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 1 : 2;
  }
  return text.length + extra;
}

/** `text` cut to at most `maxLength` code points, with `…` where something was cut. */
export function truncateText(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  const points = Array.from(text);
  return points.length <= maxLength ? text : `${points.slice(0, maxLength - 1).join('')}…`;
}

/** `text` with lone surrogates and control characters (but tab and newline) replaced by U+FFFD. */
export function cleanText(text: string): string {
  return (
    text
      .replace(new RegExp(LONE_SURROGATE, 'g'), '\uFFFD')
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it replaces
      .replace(/[\u0000-\u0008\u000B-\u001F\u007F]/g, '\uFFFD')
  );
}

/** `text` as one sound line of at most `maxLength` code points; `fallback` when that is blank. */
export function oneLine(text: string, maxLength: number, fallback: string): string {
  const line = truncateText(cleanText(text).replace(/\s+/g, ' ').trim(), maxLength);
  return line === '' ? fallback : line;
}
