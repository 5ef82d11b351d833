/**
 * The closed table of error codes: what each means and what to do next. `docs/error-codes.md` is
 * generated from it. Each room has one section (`const name = {...} as const`, no
 * `satisfies`: isolated declarations cannot carry it); a code stands once.
 */

export interface ErrorCodeEntry {
  readonly meaning: string;
  readonly next: string;
}

const base = {
  INVALID_JSON_VALUE: {
    meaning: 'A value is not plain JSON.',
    next: 'Return or pass only null, booleans, finite numbers, strings, arrays and plain objects.',
  },
  INVALID_ID: {
    meaning: 'An identifier is empty, untrimmed, too long or holds refused characters.',
    next: 'Use a non-empty, trimmed identifier without control characters.',
  },
  INVALID_OPTION: {
    meaning: 'An option has a wrong type or is out of range.',
    next: 'Correct the option named in the message.',
  },
  ASSERTION: {
    meaning: 'A rule that the library itself must keep was broken.',
    next: 'Report it with the message: it is a fault of Holdfast.',
  },
} as const;

const expression = {
  EXPRESSION_SYNTAX: {
    meaning: 'The source of an expression or template cannot be read.',
    next: 'Correct the source at the column named.',
  },
  EXPRESSION_UNKNOWN_NAME: {
    meaning: 'An expression names a variable, field, node or function that does not exist.',
    next: 'Use one of the names that this place offers.',
  },
  EXPRESSION_TYPE: {
    meaning: 'An expression uses a value of the wrong type, or gives one.',
    next: 'Correct the operand, or convert it with string(), double() or int().',
  },
  EXPRESSION_MISSING_KEY: {
    meaning: 'An expression reads a key or list index that the value does not have.',
    next: 'Test with has(), or supply the key.',
  },
  EXPRESSION_NOT_FINITE: {
    meaning: 'Arithmetic in an expression gave no finite number.',
    next: 'Guard the operand, for example `n == 0 ? 0 : total / n`.',
  },
  EXPRESSION_LIMIT: {
    meaning: 'An expression or its evaluation is larger than the bounds allow.',
    next: 'Shorten it, or do the work in a task.',
  },
} as const;

/** Every section, once here and once in the spread below: the compiler refuses a forgotten one. */
type Sections = typeof base & typeof expression;

export type ErrorCode = keyof Sections;

export const errorCodes: Readonly<Record<ErrorCode, ErrorCodeEntry>> = { ...base, ...expression };
