/**
 * CEL reserves words such as `loop`, `function` and `package`, and the parser refuses them as
 * variables; ours has a variable `loop`, and a state may have fields of any name. Such words are
 * written as stand-ins of the same length before parsing, and read back by position.
 *
 * Invariant: `text` has the length of the source, so every other position stays what it was.
 */

import { STRING_LITERAL } from './string-literal.ts';

export interface AdmittedSource {
  readonly text: string;
  /** The word that stood at an offset. */
  readonly words: ReadonlyMap<number, string>;
}

const RESERVED: ReadonlySet<string> = new Set([
  ...['as', 'break', 'const', 'continue', 'else', 'for', 'function', 'if', 'import', 'let', 'loop'],
  ...['package', 'namespace', 'return', 'var', 'void', 'while', '__proto__', 'prototype'],
]);

// Strings (with their prefix), comments, words, then any one character.
const TOKEN = `[rRbB]?(?:${STRING_LITERAL})|//[^\\n]*|[A-Za-z0-9_]+|\\S`;

/** `source` with reserved words replaced wherever they are used as names of variables. */
export function admitReservedWords(source: string): AdmittedSource {
  const words = new Map<number, string>();
  let text = source;
  let afterDot = false;
  for (const match of source.matchAll(new RegExp(TOKEN, 'g'))) {
    const [token] = match;
    if (token.startsWith('//')) continue;
    if (!afterDot && RESERVED.has(token)) {
      words.set(match.index, token);
      // No reserved word ends with the only letter that is put here.
      const standIn = `${token.slice(0, -1)}Q`;
      text = text.slice(0, match.index) + standIn + text.slice(match.index + token.length);
    }
    afterDot = token === '.';
  }
  return { text, words };
}
