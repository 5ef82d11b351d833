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

/** Every section, once here and once in the spread below: the compiler refuses a forgotten one. */
type Sections = typeof base;

export type ErrorCode = keyof Sections;

export const errorCodes: Readonly<Record<ErrorCode, ErrorCodeEntry>> = { ...base };
