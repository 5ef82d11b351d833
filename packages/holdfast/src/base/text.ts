/** Rules about text that several rooms share: surrogates, control characters, byte length. */

const LONE_SURROGATE = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const CONTROL = /[\u0000-\u001F\u007F]/;
const NON_ASCII = /[\u0080-\uFFFF]/;

/** What newer engines know of their own strings; on plain ASCII it costs nothing. */
interface WellFormed {
  isWellFormed(): boolean;
}

/** True when `text` holds half of a surrogate pair: such text has no UTF-8 form. */
export const hasLoneSurrogate: (text: string) => boolean =
  'isWellFormed' in String.prototype
    ? (text) => !(text as unknown as WellFormed).isWellFormed()
    : (text) => LONE_SURROGATE.test(text);

/** True when `text` holds U+0000–001F or U+007F. */
export function hasControlCharacter(text: string): boolean {
  return CONTROL.test(text);
}

/** The length of `text` in UTF-8 bytes. */
export function utf8Length(text: string): number {
  if (!NON_ASCII.test(text)) return text.length;
  let bytes = 0;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    // A surrogate pair is two units and four bytes, so each half counts two.
    const surrogate = unit >= 0xd800 && unit <= 0xdfff;
    bytes += unit < 0x80 ? 1 : unit < 0x800 || surrogate ? 2 : 3;
  }
  return bytes;
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
