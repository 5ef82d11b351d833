/** The deadline of a wait, counted from its dispatch. */
import { type IsoTime, isoTime, millisecondsOf } from '../base/time.ts';
import type { PositionRecord } from '../run/position-record.ts';

/** The later of the dispatch's own moment and its delay, plus `deadlineMs`. */
export function deadlineOf(record: PositionRecord, deadlineMs: number): IsoTime {
  const from =
    record.notBefore !== null && record.notBefore > record.at ? record.notBefore : record.at;
  return isoTime(millisecondsOf(from) + deadlineMs);
}
