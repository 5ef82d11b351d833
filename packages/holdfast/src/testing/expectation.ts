/** What the cases of every kit expect: each fails its case by throwing. Framework-free. */
import { canonicalJson } from '../base/digest.ts';
import { truncateText } from '../base/text.ts';
import { createSystemClock } from '../store/system-clock.ts';
import { fail } from './conformance-report.ts';

const SHOWN_LENGTH = 300;

export function expectSame(what: string, found: unknown, wanted: unknown): void {
  if (shown(found) === shown(wanted)) return;
  fail(`${what}: expected ${shown(wanted)}, found ${shown(found)}`);
}

export function expectTrue(what: string, holds: boolean): void {
  if (!holds) fail(what);
}

/** A value as messages show it, whatever it is. */
export function shown(value: unknown): string {
  for (const text of [
    () => canonicalJson(value === undefined ? null : value),
    () => String(value),
  ]) {
    try {
      return truncateText(text(), SHOWN_LENGTH);
    } catch {
      // It is no JSON, or a trap.
    }
  }
  return 'a value that cannot be shown';
}

const CASE_LIMIT_MS = 20_000;

/** What never answers fails its case instead of stopping the kit. */
export async function withinTime<T>(work: Promise<T>, limitMs: number = CASE_LIMIT_MS): Promise<T> {
  let stop: () => void = () => {};
  const late = new Promise<never>((_, reject) => {
    const timer = createSystemClock().after(limitMs, () => {
      reject(new Error(`no answer within ${limitMs} ms`));
    });
    stop = () => timer.cancel();
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    stop();
  }
}
