/**
 * Events in memory. "Durable" means here: as long as the backing lives.
 *
 * Invariant: an append is applied in one synchronous step, so racing appends are ordered by their
 * calls, and a reader never sees half of one.
 */
import type { EventEnvelope, NewEvent, StreamRef } from '../../history/envelope.ts';
import {
  type Admission,
  type AdmittedAppend,
  type AdmittedEvent,
  envelopeOf,
} from '../../store/admission.ts';
import type {
  AppendOptions,
  AppendReceipt,
  EventListener,
  EventStore,
  ReadOptions,
} from '../../store/event-store.ts';
import {
  compactionRefused,
  duplicateEventId,
  isSameBatch,
  missingEvent,
  sequenceConflict,
  snapshotAhead,
  staleFence,
} from '../../store/refusals.ts';
import type { RunIndexUpdate } from '../../store/run-index.ts';
import { backingKey, firstAppendAfter, type MemoryBacking, type MemoryStream } from './backing.ts';
import { keepSnapshot } from './snapshot-store.ts';

const noOptions: AppendOptions = Object.freeze({});

export class MemoryEventStore implements EventStore {
  readonly #backing: MemoryBacking;
  readonly #admission: Admission;

  constructor(backing: MemoryBacking, admission: Admission) {
    this.#backing = backing;
    this.#admission = admission;
  }

  async append(
    stream: StreamRef,
    expected: number | 'end',
    events: readonly NewEvent[],
    options: AppendOptions = noOptions,
  ): Promise<AppendReceipt> {
    const request = this.#admission.append({ stream, expected, events, options });
    const key = backingKey(stream.namespace, stream.streamId);
    const known = this.#backing.streams.get(key);
    const seen = known?.fence ?? this.#backing.leases.get(key)?.fence ?? 0n;
    if (request.fence !== null && request.fence < seen) {
      throw staleFence(stream, request.fence, seen);
    }
    const repeated = repeatedAt(known, request);
    if (repeated !== null) return { sequence: repeated };
    const end = known?.end ?? 0;
    checkAppend(known, request, end);
    const target = known ?? this.#create(key, request, seen);
    write(target, request);
    if (this.#backing.subscriptions.size > 0) this.#publish(key, target);
    return { sequence: target.end };
  }

  async *read(stream: StreamRef, options: ReadOptions = {}): AsyncIterable<EventEnvelope> {
    const found = this.#find(stream);
    if (found === undefined) return;
    const after = options.after ?? 0;
    for (const append of found.appends.slice(firstAppendAfter(found, after))) {
      for (const event of append) if (event.sequence > after) yield event;
    }
  }

  async readAt(stream: StreamRef, sequences: readonly number[]): Promise<readonly EventEnvelope[]> {
    const found = this.#find(stream);
    return sequences.map((sequence) => {
      const append = found?.appends[firstAppendAfter(found, sequence - 1)];
      const event = append?.find((candidate) => candidate.sequence === sequence);
      if (event === undefined) throw missingEvent(stream, sequence, found?.end ?? 0);
      return event;
    });
  }

  async end(stream: StreamRef): Promise<number> {
    return this.#find(stream)?.end ?? 0;
  }

  async compact(stream: StreamRef, through: number): Promise<number> {
    const found = this.#find(stream);
    const last = found === undefined ? 0 : lastDeletable(found, through);
    if (found === undefined || last === 0) return 0;
    if (!found.snapshots.some((snapshot) => snapshot.sequence >= last)) {
      throw compactionRefused(stream, last);
    }
    found.appends.splice(1, firstAppendAfter(found, last) - 1);
    return last;
  }

  subscribe(stream: StreamRef, after: number, listener: EventListener): () => void {
    this.#admission.stream(stream);
    const key = backingKey(stream.namespace, stream.streamId);
    const subscriptions = this.#backing.subscriptions.get(key) ?? new Set();
    this.#backing.subscriptions.set(key, subscriptions);
    const subscription = { listener, delivered: after, delivering: false };
    subscriptions.add(subscription);
    queueMicrotask(() => {
      const found = this.#backing.streams.get(key);
      if (found !== undefined) this.#publish(key, found);
    });
    return () => {
      subscriptions.delete(subscription);
      if (subscriptions.size === 0) this.#backing.subscriptions.delete(key);
    };
  }

  async sync(): Promise<void> {
    // Memory has nothing that could be written and not durable.
  }

  #find(stream: StreamRef): MemoryStream | undefined {
    this.#admission.stream(stream);
    return this.#backing.streams.get(backingKey(stream.namespace, stream.streamId));
  }

  #create(key: string, request: AdmittedAppend, fence: bigint): MemoryStream {
    const { namespace, streamId } = request.stream;
    const created: MemoryStream = {
      ref: Object.freeze({ namespace, streamId }),
      appends: [],
      end: 0,
      createdAt: request.events[0]?.timestamp ?? '',
      updatedAt: '',
      fence,
      ids: new Map(),
      snapshots: [],
      index: null,
      due: false,
    };
    this.#backing.streams.set(key, created);
    return created;
  }

  #publish(key: string, stream: MemoryStream): void {
    const subscriptions = this.#backing.subscriptions.get(key);
    if (subscriptions === undefined) return;
    for (const subscription of subscriptions) {
      // A listener may append: what that adds is delivered by the loop that called it.
      if (subscription.delivering) continue;
      subscription.delivering = true;
      while (subscriptions.has(subscription) && subscription.delivered < stream.end) {
        const append = stream.appends[firstAppendAfter(stream, subscription.delivered)] ?? [];
        const fresh = append.filter((event) => event.sequence > subscription.delivered);
        subscription.delivered = fresh.at(-1)?.sequence ?? stream.end;
        if (fresh.length > 0) callListener(subscription.listener, fresh);
      }
      subscription.delivering = false;
    }
  }
}

/** A listener that throws harms neither the append that woke it nor other listeners. */
function callListener(listener: EventListener, events: readonly EventEnvelope[]): void {
  try {
    listener(events);
  } catch {
    // Documented: what a listener throws is ignored.
  }
}

/** Where the batch stands already, or null when it does not. */
function repeatedAt(stream: MemoryStream | undefined, request: AdmittedAppend): number | null {
  const { expected, events } = request;
  if (stream === undefined || events.length === 0) return null;
  if (expected !== 'end') {
    if (expected >= stream.end) return null;
    const stored = stream.appends[firstAppendAfter(stream, expected)];
    const repeated = stored?.[0]?.sequence === expected + 1 && isSameBatch(events, stored);
    return repeated ? expected + events.length : null;
  }
  const places = events.map(({ id }) => (id === null ? undefined : stream.ids.get(id)));
  return places.some((place) => place === undefined) ? null : Math.max(...places.map(Number));
}

function checkAppend(stream: MemoryStream | undefined, request: AdmittedAppend, end: number): void {
  const { expected, events, snapshot } = request;
  const standing = expected === 'end' || events.length === 0;
  if ((standing && stream === undefined) || (expected !== 'end' && expected !== end)) {
    throw sequenceConflict(request.stream, expected, end);
  }
  for (const { id } of events) {
    if (id !== null && stream?.ids.has(id)) throw duplicateEventId(request.stream, id);
  }
  if (snapshot !== null && snapshot.sequence > end + events.length) {
    throw snapshotAhead(request.stream, snapshot.sequence, end + events.length);
  }
}

function write(stream: MemoryStream, request: AdmittedAppend): void {
  const { events, fence, snapshot, index } = request;
  if (fence !== null && fence > stream.fence) stream.fence = fence;
  if (events.length > 0) writeEvents(stream, events);
  if (snapshot !== null) keepSnapshot(stream, snapshot);
  if (request.expected === 'end') stream.due = true;
  if (index !== null) writeIndex(stream, index, request.expected !== 'end');
}

function writeEvents(stream: MemoryStream, events: readonly AdmittedEvent[]): void {
  const before = stream.end;
  const append = events.map((event, place) => {
    const sequence = before + place + 1;
    if (event.id !== null) stream.ids.set(event.id, sequence);
    return envelopeOf(stream.ref, event, sequence);
  });
  stream.appends.push(append);
  stream.end = before + events.length;
  stream.updatedAt = events[0]?.timestamp ?? stream.updatedAt;
}

function writeIndex(stream: MemoryStream, update: RunIndexUpdate, byOwner: boolean): void {
  const index = stream.index ?? { status: 'running', wakeAt: null, graphId: '' };
  stream.index = {
    status: update.status ?? index.status,
    wakeAt: update.wakeAt === undefined ? index.wakeAt : update.wakeAt,
    graphId: update.graphId ?? index.graphId,
  };
  if (byOwner) stream.due = false;
}

/** The end of the last append that may go when all up to `through` should; 0 = none. */
function lastDeletable(stream: MemoryStream, through: number): number {
  const kept = firstAppendAfter(stream, through);
  const append = stream.appends[kept - 1];
  const last = append?.at(-1)?.sequence ?? 0;
  return kept <= 1 || last > through ? 0 : last;
}
