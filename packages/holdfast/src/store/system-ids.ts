/** Fresh identifiers from the machine's own chance: the one place where the library draws them. */
import type { Ids } from '../base/ports.ts';

/**
 * Random identifiers (UUID v4).
 *
 * @example createSystemIds().next() // '3f0c…'
 */
export function createSystemIds(): Ids {
  return Object.freeze({ next: () => crypto.randomUUID() });
}
