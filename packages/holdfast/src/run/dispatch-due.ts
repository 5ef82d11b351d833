/** When a delayed dispatch may start, and the deadline of a wait. */
import { type IsoTime, isoTime, millisecondsOf } from '../base/time.ts';
import type { PositionRecord } from './position-record.ts';

/** True when a queued dispatch may start at `now` (ms since the epoch). */
export function isDue(record: PositionRecord, now: number): boolean {
  return record.notBefore === null || millisecondsOf(record.notBefore) <= now;
}

/** The later of the dispatch's own moment and its delay, plus `deadlineMs`. */
export function deadlineOf(record: PositionRecord, deadlineMs: number): IsoTime {
  const from =
    record.notBefore !== null && record.notBefore > record.at ? record.notBefore : record.at;
  return isoTime(millisecondsOf(from) + deadlineMs);
}
