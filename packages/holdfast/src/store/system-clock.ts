/** The clock of the machine: the one place where the library reads it and sets timers. */
import type { Clock, Timer } from '../base/ports.ts';

/** Longer delays overflow the timers of the host; they are waited for in pieces. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** How the machine's clock is used. */
export interface SystemClockOptions {
  /** Whether a pending timer keeps the process alive; true by default. */
  readonly keepsAlive?: boolean;
}

/**
 * A clock over the machine's own time and timers.
 *
 * @example const clock = createSystemClock({ keepsAlive: false })
 */
export function createSystemClock(options: SystemClockOptions = {}): Clock {
  const keepsAlive = options.keepsAlive ?? true;
  return Object.freeze({
    now: () => Date.now(),
    after: (delayMs: number, callback: () => void) => startTimer(delayMs, callback, keepsAlive),
    soon: (callback: () => void) => {
      setImmediate(callback);
    },
  });
}

function startTimer(delayMs: number, callback: () => void, keepsAlive: boolean): Timer {
  let left = delayMs;
  let handle: NodeJS.Timeout | null = null;
  const next = (): void => {
    const piece = Math.min(left, MAX_TIMER_MS);
    left -= piece;
    handle = setTimeout(left > 0 ? next : callback, piece);
    if (!keepsAlive) handle.unref();
  };
  next();
  return {
    cancel: () => {
      if (handle !== null) clearTimeout(handle);
      handle = null;
    },
  };
}
