/** Events and streams for the tests of this room. */
import type { NewEvent, RunStorage, StreamRef } from 'holdfast';

export const stream: StreamRef = { namespace: 'tests', streamId: 'run-1' };
export const time = '2026-11-30T10:00:00.000Z';

export function event(payload: unknown, more: Partial<NewEvent> = {}): NewEvent {
  const base = { type: 'test:happened', version: 1, timestamp: time, ...more };
  return { ...base, payload: payload as NewEvent['payload'] };
}

export async function payloadsOf(
  storage: RunStorage,
  target: StreamRef = stream,
): Promise<readonly unknown[]> {
  const payloads: unknown[] = [];
  for await (const found of storage.eventStore.read(target)) payloads.push(found.payload);
  return payloads;
}

/** The code of what `work` rejects with, or `none`. */
export async function codeOf(work: () => Promise<unknown>): Promise<unknown> {
  try {
    await work();
    return 'none';
  } catch (error) {
    return error instanceof Error && 'code' in error ? error.code : error;
  }
}

/** Lets so many turns of the event loop pass. */
export async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}
