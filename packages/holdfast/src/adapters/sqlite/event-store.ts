/** Events in SQLite: one row an append. */
import type { EventEnvelope, NewEvent, StreamRef } from '../../history/envelope.ts';
import { type Admission, type AdmittedAppend, envelopeOf } from '../../store/admission.ts';
import type {
  AppendOptions,
  AppendReceipt,
  EventListener,
  EventStore,
  ReadOptions,
} from '../../store/event-store.ts';
import { compactionRefused } from '../../store/refusals.ts';
import { AppendWrite, endOf } from './append-write.ts';
import { type Database, streamKey } from './database.ts';
import { LiveFeed } from './live-feed.ts';
import { EventIterator, eventsAt, readAppends } from './log-reader.ts';
import { readableSnapshot } from './snapshot-store.ts';
import type { WriteQueue } from './write-queue.ts';

const noOptions: AppendOptions = Object.freeze({});

const sql = {
  lastThrough: `select seq + n - 1 as last from log
    where run = ? and seq + n - 1 <= ? and seq > 1 order by seq desc limit 1`,
  newestTime: `select cast(substr(body, 2, 20) as integer) as at from log
    where run = ? order by seq desc limit 1`,
  markCompacted: 'update run set compacted = max(compacted, ?), updated = ? where id = ?',
  deleteThrough: 'delete from log where run = ? and seq > 1 and seq <= ?',
} as const;

export class SqliteEventStore implements EventStore {
  readonly #database: Database;
  readonly #queue: WriteQueue;
  readonly #admission: Admission;
  readonly #feed: LiveFeed;
  /** The greatest fence that an append of ours has brought to a run, by row id. */
  readonly #fences = new Map<number, bigint>();

  constructor(database: Database, queue: WriteQueue, admission: Admission) {
    this.#database = database;
    this.#queue = queue;
    this.#admission = admission;
    this.#feed = new LiveFeed(database, queue);
  }

  append(
    stream: StreamRef,
    expected: number | 'end',
    events: readonly NewEvent[],
    options: AppendOptions = noOptions,
  ): Promise<AppendReceipt> {
    try {
      const append = this.#admission.append({ stream, expected, events, options });
      const key = streamKey(stream);
      const single = this.#isSingle(append, key);
      return this.#queue.write(new AppendWrite({ append, key, single }, this.#listeners));
    } catch (error) {
      return Promise.reject(error);
    }
  }

  read(stream: StreamRef, options: ReadOptions = {}): AsyncIterable<EventEnvelope> {
    return new EventIterator(this.#appendsOf(stream, options));
  }

  async *#appendsOf(
    stream: StreamRef,
    { after = 0 }: ReadOptions,
  ): AsyncGenerator<readonly EventEnvelope[]> {
    this.#admission.stream(stream);
    yield* readAppends(this.#database, frozenRef(stream), after);
  }

  async readAt(stream: StreamRef, sequences: readonly number[]): Promise<readonly EventEnvelope[]> {
    this.#admission.stream(stream);
    return this.#database.attempt(() => eventsAt(this.#database, frozenRef(stream), sequences));
  }

  async end(stream: StreamRef): Promise<number> {
    this.#admission.stream(stream);
    return this.#database.attempt(() => {
      const runId = this.#database.runId(stream);
      return runId === null ? 0 : endOf(this.#database, runId).end;
    });
  }

  async compact(stream: StreamRef, through: number): Promise<number> {
    this.#admission.stream(stream);
    const apply = (): number => compactRows(this.#database, stream, through);
    return this.#queue.write({ single: false, bytes: 0, apply });
  }

  subscribe(stream: StreamRef, after: number, listener: EventListener): () => void {
    this.#admission.stream(stream);
    return this.#feed.subscribe(frozenRef(stream), after, listener);
  }

  sync(): Promise<void> {
    return this.#queue.sync();
  }

  /** Ends every subscription. */
  close(): void {
    this.#feed.close();
    this.#fences.clear();
  }

  /** True when the append is one insert into a run that is known, under a fence it has seen. */
  #isSingle(append: AdmittedAppend, key: string): boolean {
    const { expected, events, fence, snapshot, index } = append;
    if (expected === 'end' || events.length === 0 || snapshot !== null || index !== null) {
      return false;
    }
    const runId = this.#database.runIds.get(key);
    if (runId === undefined || (fence !== null && this.#fences.get(runId) !== fence)) return false;
    for (const event of events) if (event.id !== null) return false;
    return true;
  }

  readonly #listeners = {
    committed: (write: AppendWrite): void => this.#committed(write),
    durable: ({ append, key }: AppendWrite, { sequence }: AppendReceipt): void => {
      if (this.#feed.hasListeners(key)) this.#publish(append, sequence);
    },
  };

  #committed(write: AppendWrite): void {
    const { fence } = write.append;
    if (write.single || write.runId === null) return;
    this.#database.runIds.set(write.key, write.runId);
    if (fence !== null) this.#fences.set(write.runId, fence);
  }

  #publish({ stream, events }: AdmittedAppend, sequence: number): void {
    const before = sequence - events.length;
    const ref = frozenRef(stream);
    const envelopes = events.map((event, place) => envelopeOf(ref, event, before + place + 1));
    this.#feed.publish(ref, envelopes);
  }
}

function compactRows(database: Database, stream: StreamRef, through: number): number {
  const runId = database.runId(stream);
  if (runId === null) return 0;
  const last = Number(database.statement(sql.lastThrough).get(runId, through)?.['last'] ?? 0);
  if (last === 0) return 0;
  if ((readableSnapshot(database, runId)?.sequence ?? 0) < last) {
    throw compactionRefused(stream, last);
  }
  const updated = Number(database.statement(sql.newestTime).get(runId)?.['at'] ?? 0);
  database.statement(sql.markCompacted).run(last, updated, runId);
  database.statement(sql.deleteThrough).run(runId, last);
  return last;
}

function frozenRef({ namespace, streamId }: StreamRef): StreamRef {
  return Object.freeze({ namespace, streamId });
}
