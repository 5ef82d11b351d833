/** When a delayed dispatch may start. */
import { millisecondsOf } from '../base/time.ts';
import type { PositionRecord } from './position-record.ts';

/** True when a queued dispatch may start at `now` (ms since the epoch). */
export function isDue(record: PositionRecord, now: number): boolean {
  return record.notBefore === null || millisecondsOf(record.notBefore) <= now;
}
