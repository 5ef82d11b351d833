/** Telling somebody whose faults are not the teller's. */
import { isPromiseLike } from './promise-like.ts';

/** Calls `tell`; what it throws, or what its promise rejects with, harms nobody. */
export function quietly(tell: () => unknown): void {
  try {
    const told = tell();
    if (isPromiseLike(told)) told.then(undefined, () => undefined);
  } catch {
    // A listener's fault is no affair of what it listens to.
  }
}
