/**
 * One call of a check, held to its time: it ends when the engine answers or fails, when its time is
 * over, or when it is told to stop, whatever the engine then still does.
 */
import type { Clock } from '../base/ports.ts';

/** What a call came to; what comes later is ignored. */
export type CallEnd<Answer> =
  | { readonly kind: 'answered'; readonly answer: Answer }
  | { readonly kind: 'failed'; readonly error: unknown }
  | { readonly kind: 'timeout' | 'stopped' };

export interface CallLimits {
  readonly clock: Clock;
  readonly timeoutMs: number;
  /** How long an aborted engine may still take to stop: until then no other is called. */
  readonly graceMs: number;
  /** Aborted when the check is to stop. */
  readonly stop: AbortSignal;
}

/** Runs `work` to the end of its time. It never rejects. */
export async function heldCall<Answer>(
  work: (signal: AbortSignal) => Promise<Answer>,
  { clock, timeoutMs, graceMs, stop }: CallLimits,
): Promise<CallEnd<Answer>> {
  if (stop.aborted) return { kind: 'stopped' };
  const controller = new AbortController();
  const ended = endOf(work, controller.signal);
  const limit = waitOf(clock, timeoutMs);
  const stopping = abortOf(stop);
  const first = await Promise.race([
    ended,
    limit.over.then(() => ({ kind: 'timeout' }) as const),
    stopping.aborted.then(() => ({ kind: 'stopped' }) as const),
  ]);
  limit.cancel();
  stopping.cancel();
  if (first.kind === 'answered' || first.kind === 'failed') return first;
  controller.abort(new Error(`The engine check ended: ${first.kind}.`));
  const grace = waitOf(clock, graceMs);
  await Promise.race([ended, grace.over]);
  grace.cancel();
  return first;
}

async function endOf<Answer>(
  work: (signal: AbortSignal) => Promise<Answer>,
  signal: AbortSignal,
): Promise<CallEnd<Answer>> {
  try {
    return { kind: 'answered', answer: await work(signal) };
  } catch (error) {
    return { kind: 'failed', error };
  }
}

function waitOf(clock: Clock, ms: number) {
  let cancel = () => {};
  const over = new Promise<void>((resolve) => {
    const timer = clock.after(ms, resolve);
    cancel = () => timer.cancel();
  });
  return { over, cancel: () => cancel() };
}

function abortOf(signal: AbortSignal) {
  let listener = () => {};
  const aborted = new Promise<void>((resolve) => {
    listener = () => resolve();
    signal.addEventListener('abort', listener, { once: true });
  });
  return { aborted, cancel: () => signal.removeEventListener('abort', listener) };
}
