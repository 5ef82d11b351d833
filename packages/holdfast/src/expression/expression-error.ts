/**
 * The one error of the expression language: a code, a place in the source, and the node, edge or
 * field whose expression it is.
 *
 * Invariants: `line` and `column` start at 1, count UTF-16 units and refer to the text that the
 * caller gave (the whole template for an expression inside one); message and details are bounded.
 */
import { type ErrorCode, errorCodes } from '../base/error-codes.ts';
import { HoldfastError } from '../base/errors.ts';
import { cleanText, truncateText } from '../base/text.ts';

/** The codes that this room throws. */
export type ExpressionErrorCode = Extract<ErrorCode, `EXPRESSION_${string}`>;

/** Whose expression it is; callers give it so that an error names it. */
export interface ExpressionPlace {
  readonly nodeId?: string;
  readonly edgeId?: string;
  /** The field that holds the source, as a JSON pointer (`/expression`) or a name. */
  readonly field?: string;
}

/** A whole source text and whose it is. */
export interface ExpressionText {
  readonly text: string;
  readonly at: ExpressionPlace;
}

export interface SourcePosition {
  readonly line: number;
  readonly column: number;
}

const MAX_EXCERPT = 120;

/** Where `offset` stands in `text`: line and column, both from 1. */
function sourcePosition(text: string, offset: number): SourcePosition {
  const before = text.slice(0, offset);
  const lineStart = before.lastIndexOf('\n') + 1;
  return { line: before.split('\n').length, column: offset - lineStart + 1 };
}

/**
 * Thrown for everything that is wrong with an expression or its evaluation.
 *
 * @example
 * try {
 *   compileExpression('inptu.a', scope);
 * } catch (error) {
 *   if (error instanceof ExpressionError) error.code; // 'EXPRESSION_UNKNOWN_NAME'
 * }
 */
export class ExpressionError extends HoldfastError {
  declare readonly code: ExpressionErrorCode;
  readonly line: number;
  readonly column: number;
  /** The source line at fault, at most 120 characters around the column. */
  readonly excerpt: string;
  readonly at: ExpressionPlace;
  /** What is wrong, without the place. */
  readonly reason: string;

  constructor(code: ExpressionErrorCode, reason: string, source: ExpressionText, offset: number) {
    const { line, column } = sourcePosition(source.text, offset);
    const excerpt = excerptAround(source.text, offset);
    const where = `line ${line}, column ${column} of${describePlace(source.at)} ${excerpt}`;
    super(code, `${reason} (${where}). ${errorCodes[code].next}`, {
      line,
      column,
      excerpt,
      ...source.at,
    });
    this.name = 'ExpressionError';
    this.line = line;
    this.column = column;
    this.excerpt = excerpt;
    this.at = source.at;
    this.reason = reason;
  }
}

/** A value of the source, quoted and bounded, for a message. */
export function quoted(text: string): string {
  return JSON.stringify(truncateText(cleanText(text), 64));
}

function describePlace(at: ExpressionPlace): string {
  const parts: string[] = [];
  if (at.nodeId !== undefined) parts.push(`node ${quoted(at.nodeId)}`);
  if (at.edgeId !== undefined) parts.push(`edge ${quoted(at.edgeId)}`);
  if (at.field !== undefined) parts.push(`field ${quoted(at.field)}`);
  return parts.length === 0 ? '' : ` ${parts.join(', ')}:`;
}

function excerptAround(text: string, offset: number): string {
  const start = text.lastIndexOf('\n', offset - 1) + 1;
  const end = text.indexOf('\n', offset);
  const line = text.slice(start, end < 0 ? text.length : end);
  const from = Math.max(0, Math.min(offset - start - MAX_EXCERPT / 2, line.length - MAX_EXCERPT));
  const cut = line.slice(from, from + MAX_EXCERPT);
  const more = from + MAX_EXCERPT < line.length ? '…' : '';
  return cleanText(`${from > 0 ? '…' : ''}${cut}${more}`);
}
