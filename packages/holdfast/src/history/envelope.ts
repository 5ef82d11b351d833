/**
 * One event as it stands in a stream. The envelope is the store's; the payload is the catalog's.
 *
 * Invariant: sequences of one stream are 1, 2, 3 … without a gap.
 */
import type { JsonValue } from '../base/json.ts';
import type { IsoTime } from '../base/time.ts';

/** Names one stream; a run's stream id is its run id. Both parts obey `isStreamName`. */
export interface StreamRef {
  readonly namespace: string;
  readonly streamId: string;
}

/** An event that a store has accepted. */
export interface EventEnvelope {
  readonly id: string;
  readonly stream: StreamRef;
  /** Place in the stream, from 1. */
  readonly sequence: number;
  readonly type: string;
  readonly version: number;
  readonly timestamp: IsoTime;
  /** The run this event belongs to. */
  readonly correlationId: string;
  readonly causationId: string | null;
  readonly payload: JsonValue;
}

/**
 * An event to append. `id` is given only where repeats must be recognised across places in the
 * stream (signals, cancel requests, outside writers); otherwise the store derives it from the
 * stream and the sequence (`derivedEventId`). `correlationId` defaults to the stream id.
 */
export interface NewEvent {
  readonly id?: string;
  readonly type: string;
  readonly version: number;
  readonly timestamp: IsoTime;
  readonly correlationId?: string;
  readonly causationId?: string | null;
  readonly payload: JsonValue;
}

/**
 * The id of an event that was appended without one: readable, and equal for the same place in the
 * same stream, so that writing an identical batch again yields identical ids.
 *
 * @example derivedEventId('run-1', 12) // 'run-1@12'
 */
export function derivedEventId(streamId: string, sequence: number): string {
  return `${streamId}@${sequence}`;
}
