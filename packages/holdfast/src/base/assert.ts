/** Programmer mistakes are asserted; operating failures are typed errors instead. */
import { HoldfastError } from './errors.ts';

/** Throws `ASSERTION` when a rule that this library must keep does not hold. */
export function assert(condition: boolean, rule: string): asserts condition {
  if (!condition) throw new HoldfastError('ASSERTION', `Broken rule: ${rule}`);
}

/** `value`, which the caller knows to be there. Throws `ASSERTION` naming `what` if it is not. */
export function present<T>(value: T | null | undefined, what: string): T {
  if (value === null || value === undefined) {
    throw new HoldfastError('ASSERTION', `Broken rule: ${what} is missing`);
  }
  return value;
}
