/** Refuses options that nothing can be done with, where they are given and not later. */
import { errorText, HoldfastError } from './errors.ts';
import { truncateText } from './text.ts';

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

/** Throws `INVALID_OPTION` unless `value` is an object. */
export function requireObject(name: string, value: unknown): void {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  if (!isObject) refuseOption(name, 'an object', value);
}

/** Throws `INVALID_OPTION` unless `options` is an object that has none but these fields. */
export function requireFields(name: string, options: object, fields: readonly string[]): void {
  requireObject(name, options);
  for (const [field, value] of Object.entries(options)) {
    if (value === undefined || fields.includes(field)) continue;
    const shown = truncateText(field, MAX_SHOWN_LENGTH);
    throw new HoldfastError(
      'INVALID_OPTION',
      `${name} has no field ${JSON.stringify(shown)}; its fields are ${fields.join(', ')}.`,
      { option: shown },
    );
  }
}

/** Throws `INVALID_OPTION` unless `value` is a function, or left out. */
export function requireFunction(name: string, value: unknown): void {
  if (value !== undefined && typeof value !== 'function') refuseOption(name, 'a function', value);
}

/** Throws `INVALID_OPTION` unless `value` is a list of texts. */
export function requireTexts(name: string, value: unknown): void {
  const isList = Array.isArray(value) && value.every((text) => typeof text === 'string');
  if (!isList) refuseOption(name, 'a list of texts', value);
}

/** Throws `INVALID_OPTION`: `name` is not what was `expected`. */
export function refuseOption(name: string, expected: string, value: unknown): never {
  const shown = truncateText(errorText(value), MAX_SHOWN_LENGTH);
  const text = `${name} must be ${expected}, not ${shown}.`;
  throw new HoldfastError('INVALID_OPTION', text, { option: name });
}
