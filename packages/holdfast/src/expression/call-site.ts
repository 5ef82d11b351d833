/** What a function or operator may ask of the evaluation that calls it. */
import type { ExpressionErrorCode } from './expression-error.ts';

export interface CallSite {
  /** Charges `steps`; throws `EXPRESSION_LIMIT` when the evaluation has none left. */
  spend(steps: number): void;
  /** Charges for making or searching `units` UTF-16 units of text. */
  spendText(units: number): void;
  /** Refuses, naming the place of the call. */
  fail(code: ExpressionErrorCode, reason: string): never;
}
