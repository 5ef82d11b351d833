/**
 * What ends a pause: a release by a person, a signal that was received, or a deadline that has
 * passed.
 * A signal that stands in the log wins over a deadline that nobody has fired yet.
 */
import { isJsonObject, type JsonValue } from '../base/json.ts';
import { type IsoTime, millisecondsOf } from '../base/time.ts';
import type { PositionRecord } from './position-record.ts';
import type { RunFold } from './run-fold.ts';
import type { SignalMessage } from './signal-box.ts';

export type EndedWait =
  | { readonly kind: 'released'; readonly record: PositionRecord }
  | { readonly kind: 'signal'; readonly record: PositionRecord; readonly signal: SignalMessage }
  /** A child run waits for a message that this run has kept: it is handed on. */
  | { readonly kind: 'handed'; readonly record: PositionRecord; readonly signal: SignalMessage }
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
  if (kind === 'released' || kind === 'handed') return true;
  return kind === 'deadline' && record.pause?.request.kind === 'child';
}

function waitEnd(fold: RunFold, record: PositionRecord, now: number): EndedWait | null {
  if (record.pause?.released || isOwed(fold, record)) return { kind: 'released', record };
  const name = record.pause?.request.kind === 'signal' ? record.pause.request['name'] : undefined;
  const signal = typeof name === 'string' ? fold.signals.oldest(name) : undefined;
  if (signal !== undefined) return { kind: 'signal', record, signal };
  const handed = handedSignal(fold, record);
  if (handed !== undefined) return { kind: 'handed', record, signal: handed };
  if (record.dueAt === null || millisecondsOf(record.dueAt) > now) return null;
  return { kind: 'deadline', record, dueAt: record.dueAt };
}

/** True for a child run that was handed a message since its position was last opened. */
function isOwed({ signals }: RunFold, { position, pause, startedSequence }: PositionRecord) {
  if (pause?.request.kind !== 'child') return false;
  return signals.handedTo(position).some(({ sequence }) => sequence > startedSequence);
}

/** The oldest message that this run has kept and its child waits for; its own waits come first. */
function handedSignal(fold: RunFold, { pause }: PositionRecord): SignalMessage | undefined {
  if (pause?.request.kind !== 'child' || fold.signals.waiting().length === 0) return undefined;
  const { pauses } = pause.request;
  for (const each of Array.isArray(pauses) ? pauses : []) {
    const request = isJsonObject(each) ? each['request'] : undefined;
    const name = signalName(request);
    const signal = name === null ? undefined : fold.signals.oldest(name);
    if (signal !== undefined && !waitsItself(fold, signal.name)) return signal;
  }
  return undefined;
}

function waitsItself(fold: RunFold, name: string): boolean {
  return fold.openWaits().some(({ pause }) => signalName(pause.request) === name);
}

function signalName(request: JsonValue | undefined): string | null {
  const isSignal = isJsonObject(request) && request['kind'] === 'signal';
  return isSignal && typeof request['name'] === 'string' ? request['name'] : null;
}
