/** How a string literal of the language looks, for scanners that must not look inside one. */

const ESCAPE = String.raw`\\[\s\S]`;

/** The source of a regular expression for a literal without its prefix; no groups that capture. */
export const STRING_LITERAL: string = [
  `"""(?:${ESCAPE}|[^\\\\])*?"""`,
  `'''(?:${ESCAPE}|[^\\\\])*?'''`,
  `"(?:${ESCAPE}|[^"\\\\\\n])*"`,
  `'(?:${ESCAPE}|[^'\\\\\\n])*'`,
].join('|');
