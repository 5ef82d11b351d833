/** Rejections that nobody handles: a test that causes one is at fault. */
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, expect } from 'vitest';

/** To be called once in a file: each of its tests then fails for what reached the process. */
export function failOnUnhandledRejections(): void {
  let unhandled: unknown[] = [];
  const collect = (error: unknown) => void unhandled.push(error);
  beforeEach(() => {
    unhandled = [];
    process.on('unhandledRejection', collect);
  });
  afterEach(async () => {
    await turn();
    process.off('unhandledRejection', collect);
    expect(unhandled).toEqual([]);
  });
}
