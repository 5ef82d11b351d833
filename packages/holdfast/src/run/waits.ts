/**
 * What ends a pause: a release by a person, a signal that was received, or a deadline that has
 * passed.
 * A signal that stands in the log wins over a deadline that nobody has fired yet.
 */
import { type IsoTime, millisecondsOf } from '../base/time.ts';
import type { PositionRecord } from './position-record.ts';
import type { RunFold } from './run-fold.ts';
import type { SignalMessage } from './signal-box.ts';

export type EndedWait =
  | { readonly kind: 'released'; readonly record: PositionRecord }
  | { readonly kind: 'signal'; readonly record: PositionRecord; readonly signal: SignalMessage }
  | { readonly kind: 'deadline'; readonly record: PositionRecord; readonly dueAt: IsoTime };

/**
 * The first pause, in the order of pausing, that something has ended by `now` (ms since the
 * epoch). Those whose attempt goes on are passed over while no slot is free for it.
 */
export function endedWait(fold: RunFold, now: number, hasSlot: boolean): EndedWait | null {
  if (fold.positions.count('paused') === 0) return null;
  for (const record of fold.positions.with('paused')) {
    const ended = waitEnd(fold, record, now);
    if (ended !== null && (hasSlot || !goesOn(ended))) return ended;
  }
  return null;
}

/** True when the attempt runs again instead of ending with its pause. */
export function goesOn({ kind, record }: EndedWait): boolean {
  return kind === 'released' || (kind === 'deadline' && record.pause?.request.kind === 'child');
}

function waitEnd(fold: RunFold, record: PositionRecord, now: number): EndedWait | null {
  if (record.pause?.released) return { kind: 'released', record };
  const name = record.pause?.request.kind === 'signal' ? record.pause.request['name'] : undefined;
  const signal = typeof name === 'string' ? fold.signals.oldest(name) : undefined;
  if (signal !== undefined) return { kind: 'signal', record, signal };
  if (record.dueAt === null || millisecondsOf(record.dueAt) > now) return null;
  return { kind: 'deadline', record, dueAt: record.dueAt };
}
