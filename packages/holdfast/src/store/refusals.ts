/** The refusals that every adapter gives in the same words, and the test for a repeated append. */
import { canonicalText } from '../base/digest.ts';
import type { EventEnvelope, StreamRef } from '../history/envelope.ts';
import type { AdmittedEvent } from './admission.ts';
import { StorageError } from './storage-error.ts';

export function sequenceConflict(
  stream: StreamRef,
  expected: number | 'end',
  end: number,
): StorageError {
  const found = end === 0 ? 'it holds no events' : `it ends at ${end}`;
  return new StorageError(
    'SEQUENCE_CONFLICT',
    `Stream ${stream.streamId} was expected to end at ${expected}, but ${found}. ` +
      'Read its tail and decide again.',
    { ...stream, expected, end },
  );
}

export function staleFence(stream: StreamRef, fence: bigint, seen: bigint): StorageError {
  return new StorageError(
    'STALE_FENCE',
    `Stream ${stream.streamId} has seen fence ${seen}; ${fence} is older. Another owner has it.`,
    { ...stream, fence: fence.toString(), seen: seen.toString() },
  );
}

export function duplicateEventId(stream: StreamRef, id: string): StorageError {
  return new StorageError(
    'DUPLICATE_EVENT_ID',
    `Stream ${stream.streamId} holds an event with the id ${id} already.`,
    { ...stream, id },
  );
}

export function snapshotAhead(stream: StreamRef, sequence: number, end: number): StorageError {
  return new StorageError(
    'SNAPSHOT_AHEAD',
    `A snapshot at ${sequence} is past the end of stream ${stream.streamId}, which is ${end}.`,
    { ...stream, sequence, end },
  );
}

export function compactionRefused(stream: StreamRef, through: number): StorageError {
  return new StorageError(
    'COMPACTION_REFUSED',
    `Stream ${stream.streamId} has no readable snapshot at or after ${through}. Save one first.`,
    { ...stream, through },
  );
}

/** Why an event that was asked for by its sequence cannot be given. */
export function missingEvent(stream: StreamRef, sequence: number, end: number): StorageError {
  if (sequence >= 1 && sequence <= end) {
    return new StorageError(
      'COMPACTED',
      `Event ${sequence} of stream ${stream.streamId} was deleted by a compaction.`,
      { ...stream, sequence },
    );
  }
  return new StorageError(
    'INVALID_OPTION',
    `Stream ${stream.streamId} has no event ${sequence}: it ends at ${end}.`,
    { ...stream, sequence, end },
  );
}

/** True when `stored`, one whole append, is what writing `events` at its place would give. */
export function isSameBatch(
  events: readonly AdmittedEvent[],
  stored: readonly EventEnvelope[],
): boolean {
  return (
    events.length === stored.length &&
    events.every((event, place) => isSameEvent(event, stored[place]))
  );
}

function isSameEvent(event: AdmittedEvent, stored: EventEnvelope | undefined): boolean {
  return (
    stored !== undefined &&
    (event.id ?? `${stored.stream.streamId}@${stored.sequence}`) === stored.id &&
    event.type === stored.type &&
    event.version === stored.version &&
    event.timestamp === stored.timestamp &&
    event.correlationId === stored.correlationId &&
    event.causationId === stored.causationId &&
    canonicalText(event.payload) === canonicalText(stored.payload)
  );
}
