/**
 * The source of one expression and where it stands: alone, or inside a longer template text.
 */
import { HoldfastTypeError } from '../base/errors.ts';
import {
  ExpressionError,
  type ExpressionErrorCode,
  type ExpressionText,
} from './expression-error.ts';

export class SourceText {
  /** The expression's own source. */
  readonly text: string;
  readonly #whole: ExpressionText;
  readonly #offset: number;

  /** `offset`: where `text` begins in `whole.text`. */
  constructor(text: string, whole: ExpressionText, offset: number) {
    if (typeof text !== 'string') {
      throw new HoldfastTypeError('INVALID_OPTION', 'The source of an expression is not a string');
    }
    this.text = text;
    this.#whole = whole;
    this.#offset = offset;
  }

  /** The error for `start`, an offset into this expression's source. */
  error(code: ExpressionErrorCode, start: number, reason: string): ExpressionError {
    return new ExpressionError(code, reason, this.#whole, this.#offset + start);
  }

  fail(code: ExpressionErrorCode, start: number, reason: string): never {
    throw this.error(code, start, reason);
  }
}
