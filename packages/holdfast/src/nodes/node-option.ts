/** Refuses the options of a node that it could not run with, when it is bound and not later. */
import { errorText, HoldfastError } from '../base/errors.ts';
import { truncateText } from '../base/text.ts';

const MAX_SHOWN_LENGTH = 200;

/** Throws `INVALID_OPTION` unless `value` is a whole number of milliseconds from `least`. */
export function requireDelay(name: string, value: unknown, least: number): void {
  if (Number.isSafeInteger(value) && Number(value) >= least) return;
  refuseOption(name, `a whole number of milliseconds from ${least}`, value);
}

/** Throws `INVALID_OPTION` unless `value` is a whole number from `least`. */
export function requireSize(name: string, value: unknown, least: number): void {
  if (Number.isSafeInteger(value) && Number(value) >= least) return;
  refuseOption(name, `a whole number from ${least}`, value);
}

/** Throws `INVALID_OPTION`: `name` is not what was `expected`. */
export function refuseOption(name: string, expected: string, value: unknown): never {
  const shown = truncateText(errorText(value), MAX_SHOWN_LENGTH);
  const text = `${name} must be ${expected}, not ${shown}.`;
  throw new HoldfastError('INVALID_OPTION', text, { option: name });
}
