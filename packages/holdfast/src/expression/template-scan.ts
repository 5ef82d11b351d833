/**
 * Splits a template into text and expressions.
 *
 * `{{` begins an expression, which ends at the first `}}` that is outside its strings and braces.
 * `\{{` is a literal `{{`, and `\\{{` a backslash before an expression; any other backslash, and
 * `}}` outside an expression, are plain text.
 */
import { ExpressionError, type ExpressionText } from './expression-error.ts';
import { STRING_LITERAL } from './string-literal.ts';

export interface TemplateText {
  readonly kind: 'text';
  readonly text: string;
}

export interface TemplatePlace {
  readonly kind: 'place';
  readonly source: string;
  /** Where `source` begins in the template. */
  readonly offset: number;
}

export type TemplatePart = TemplateText | TemplatePlace;

/** The parts of a template in order. Throws `EXPRESSION_SYNTAX` for a `{{` that does not end. */
export function scanTemplate(template: ExpressionText): readonly TemplatePart[] {
  const { text } = template;
  const parts: TemplatePart[] = [];
  let plain = '';
  let at = 0;
  for (let open = text.indexOf('{{'); open >= 0; open = text.indexOf('{{', at)) {
    const escapes = backslashesBefore(text, open);
    plain += text.slice(at, open - escapes) + '\\'.repeat(Math.floor(escapes / 2));
    if (escapes % 2 === 1) {
      plain += '{{';
      at = open + 2;
      continue;
    }
    if (plain !== '') parts.push({ kind: 'text', text: plain });
    plain = '';
    const close = closingBraces(text, open + 2);
    if (close < 0) {
      throw new ExpressionError('EXPRESSION_SYNTAX', 'This {{ has no }}', template, open);
    }
    parts.push({ kind: 'place', source: text.slice(open + 2, close), offset: open + 2 });
    at = close + 2;
  }
  plain += text.slice(at);
  if (plain !== '') parts.push({ kind: 'text', text: plain });
  return parts;
}

function backslashesBefore(text: string, end: number): number {
  let count = 0;
  while (text[end - count - 1] === '\\') count += 1;
  return count;
}

const TOKEN = `${STRING_LITERAL}|[{}]`;

function closingBraces(text: string, start: number): number {
  const token = new RegExp(TOKEN, 'g');
  token.lastIndex = start;
  let depth = 0;
  for (let match = token.exec(text); match !== null; match = token.exec(text)) {
    const [found] = match;
    if (found === '{') depth += 1;
    if (found !== '}') continue;
    if (depth > 0) depth -= 1;
    else if (text[match.index + 1] === '}') return match.index;
  }
  return -1;
}
