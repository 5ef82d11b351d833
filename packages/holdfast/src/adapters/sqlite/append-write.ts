/**
 * One append as a write: the statement that inserts its row also checks the stream's end and the
 * fence, so of several appends that expect the same end exactly one inserts.
 */
import { MomentText } from '../../base/time.ts';
import { type DecodeTools, decodeBatch, encodeBatch } from '../../history/codec.ts';
import type { EventEnvelope, StreamRef } from '../../history/envelope.ts';
import { type AdmittedAppend, envelopeOf } from '../../store/admission.ts';
import type { AppendReceipt } from '../../store/event-store.ts';
import { hashText } from '../../store/host-hash.ts';
import {
  duplicateEventId,
  isSameBatch,
  sequenceConflict,
  snapshotAhead,
  staleFence,
} from '../../store/refusals.ts';
import type { Snapshot } from '../../store/snapshot-store.ts';
import { StorageError } from '../../store/storage-error.ts';
import type { Database } from './database.ts';
import type { Write } from './write-queue.ts';

/** Passes every fence check. */
const NO_FENCE = 2n ** 63n - 1n;

/** The last sequence ever appended, also when a compaction has deleted its row. */
const END = `max(run.compacted, ifnull((
  select seq + n - 1 from log where log.run = run.id order by seq desc limit 1
), 0))`;

const sql = {
  insertBehind: `insert into log(run, seq, n, body)
    select id, ?, ?, ? from run where id = ? and token <= ? and ${END} = ?`,
  insertAtEnd: `insert into log(run, seq, n, body)
    select id, 1 + ${END}, ?, ? from run where id = ? and token <= ?
    returning seq`,
  leaseFence: 'select cast(fence as text) as fence from lease where namespace = ? and key = ?',
  insertRun: 'insert into run(namespace, name, token, created) values(?, ?, ?, ?) returning id',
  end: `select ${END} as end, cast(token as text) as token from run where id = ?`,
  raiseToken: 'update run set token = ? where id = ? and token < ?',
  markDue: 'update run set due = 1 where id = ? and due = 0',
  eventId: 'select seq from event_id where run = ? and id = ?',
  insertEventId: 'insert into event_id(run, id, seq) values(?, ?, ?) on conflict do nothing',
  stored: 'select n, body from log where run = ? and seq = ?',
  updateIndex: `update run set status = coalesce(?, status, 'running'),
    wake = case when ? then ? else wake end, graph = coalesce(?, graph),
    due = case when ? then 0 else due end where id = ?`,
  insertSnapshot: 'insert or replace into snapshot(run, seq, body) values(?, ?, ?)',
  dropSnapshots: `delete from snapshot where run = ? and seq <
    (select seq from snapshot where run = ? order by seq desc limit 1 offset 1)`,
} as const;

/** Told of an append in this order, before whoever waits for it; not of one that stood already. */
export interface AppendListeners {
  readonly committed: (write: AppendWrite) => void;
  readonly durable: (write: AppendWrite, receipt: AppendReceipt) => void;
}

/** What a store knows of an append before it is applied. */
export interface AppendPlan {
  readonly append: AdmittedAppend;
  /** The name of its stream in `Database.runIds`. */
  readonly key: string;
  /** Nothing but the row itself can change: its run and its fence are known already. */
  readonly single: boolean;
}

export class AppendWrite implements Write<AppendReceipt> {
  readonly key: string;
  readonly single: boolean;
  readonly bytes: number;
  readonly #append: AdmittedAppend;
  readonly #body: string;
  readonly #snapshot: SnapshotText | null;
  readonly #listeners: AppendListeners;
  #runId: number | null = null;
  /** False while it is not applied, and when the batch stood already. */
  #isNew = false;

  constructor({ append, key, single }: AppendPlan, listeners: AppendListeners) {
    this.#append = append;
    this.#listeners = listeners;
    this.key = key;
    this.single = single;
    this.#body =
      append.events.length === 0 ? '' : encodeBatch(append.stream, append.events, hashText);
    this.#snapshot = append.snapshot === null ? null : snapshotText(append.snapshot);
    this.bytes = Buffer.byteLength(this.#body) + (this.#snapshot?.body.length ?? 0);
  }

  get append(): AdmittedAppend {
    return this.#append;
  }

  /** The row id of the run, once applied. */
  get runId(): number | null {
    return this.#runId;
  }

  committed(): void {
    if (this.#isNew) this.#listeners.committed(this);
  }

  durable(receipt: AppendReceipt): void {
    if (this.#isNew) this.#listeners.durable(this, receipt);
  }

  apply(database: Database): AppendReceipt {
    const { stream, expected, events } = this.#append;
    const known = database.runIds.get(this.key) ?? database.runId(stream);
    const runId = known ?? this.#createRun(database);
    this.#runId = runId;
    const sequence =
      events.length === 0 ? this.#checkOnly(database, runId) : this.#insert(database, runId);
    this.#isNew = sequence !== null;
    if (sequence === null) return { sequence: this.#repeatedOrRefused(database, runId) };
    if (this.single) return { sequence };
    this.#insertIds(database, runId, sequence - events.length);
    this.#updateRun(database, runId, expected);
    if (this.#snapshot !== null) {
      if (this.#snapshot.sequence > sequence) {
        throw snapshotAhead(stream, this.#snapshot.sequence, sequence);
      }
      writeSnapshot(database, runId, this.#snapshot);
    }
    return { sequence };
  }

  /** The batch's last sequence, or null when the statement found another end or a newer fence. */
  #insert(database: Database, runId: number): number | null {
    const { expected, events, fence } = this.#append;
    const token = fence ?? NO_FENCE;
    if (expected !== 'end') {
      const inserted = database
        .statement(sql.insertBehind)
        .run(expected + 1, events.length, this.#body, runId, token, expected);
      return inserted === 1 ? expected + events.length : null;
    }
    if (this.#repeatedIds(database, runId) !== null) return null;
    const row = database.statement(sql.insertAtEnd).get(events.length, this.#body, runId, token);
    return row === undefined ? null : Number(row['seq']) + events.length - 1;
  }

  /** A batch without events changes the index row only, at the end that it expects. */
  #checkOnly(database: Database, runId: number): number | null {
    const { end, token } = endOf(database, runId);
    const { expected, fence } = this.#append;
    return expected === end && (fence === null || fence >= token) ? end : null;
  }

  #createRun(database: Database): number {
    const { stream, expected, events, fence } = this.#append;
    const { namespace, streamId } = stream;
    const lease = database.statement(sql.leaseFence).get(namespace, streamId);
    const token = BigInt(String(lease?.['fence'] ?? 0));
    if (fence !== null && fence < token) throw staleFence(stream, fence, token);
    const [first] = events;
    if (expected !== 0 || first === undefined) throw sequenceConflict(stream, expected, 0);
    const created = Date.parse(first.timestamp);
    const row = database.statement(sql.insertRun).get(namespace, streamId, token, created);
    return Number(row?.['id']);
  }

  /** The sequence at which the identical batch stands; else throws why it was not inserted. */
  #repeatedOrRefused(database: Database, runId: number): number {
    const { stream, expected, fence, events } = this.#append;
    const { end, token } = endOf(database, runId);
    if (fence !== null && fence < token) throw staleFence(stream, fence, token);
    if (expected === 'end') {
      const repeated = this.#repeatedIds(database, runId);
      if (repeated !== null) return repeated;
    } else if (this.#standsBehind(database, runId, expected)) {
      return expected + events.length;
    }
    throw sequenceConflict(stream, expected, end);
  }

  #standsBehind(database: Database, runId: number, expected: number): boolean {
    const { stream, events } = this.#append;
    const row = database.statement(sql.stored).get(runId, expected + 1);
    if (row === undefined || row['n'] !== events.length) return false;
    const body = String(row['body']);
    if (body === this.#body) return true;
    const stored = envelopesOf({ stream, first: expected + 1, body }, decodeTools());
    return isSameBatch(events, stored);
  }

  /** For a batch whose ids are all explicit and all known: the greatest of their sequences. */
  #repeatedIds(database: Database, runId: number): number | null {
    let last = 0;
    for (const { id } of this.#append.events) {
      const row = id === null ? undefined : database.statement(sql.eventId).get(runId, id);
      if (row === undefined) return null;
      last = Math.max(last, Number(row['seq']));
    }
    return last;
  }

  #insertIds(database: Database, runId: number, before: number): void {
    const { stream, events } = this.#append;
    events.forEach(({ id }, place) => {
      if (id === null) return;
      const inserted = database.statement(sql.insertEventId).run(runId, id, before + place + 1);
      if (inserted === 0) throw duplicateEventId(stream, id);
    });
  }

  #updateRun(database: Database, runId: number, expected: number | 'end'): void {
    const { fence, index } = this.#append;
    if (fence !== null) database.statement(sql.raiseToken).run(fence, runId, fence);
    if (expected === 'end') database.statement(sql.markDue).run(runId);
    if (index === null) return;
    const { status = null, wakeAt, graphId = null } = index;
    const wake = wakeAt === undefined || wakeAt === null ? null : Date.parse(wakeAt);
    const byOwner = expected === 'end' ? 0 : 1;
    database
      .statement(sql.updateIndex)
      .run(status, wakeAt === undefined ? 0 : 1, wake, graphId, byOwner, runId);
  }
}

/** A snapshot as it is stored. */
export interface SnapshotText {
  readonly sequence: number;
  readonly body: string;
}

export function snapshotText({ sequence, body }: Snapshot): SnapshotText {
  return { sequence, body: JSON.stringify(body) };
}

/** Inserts a snapshot and lets go of all but the newest two. */
export function writeSnapshot(database: Database, runId: number, snapshot: SnapshotText): void {
  database.statement(sql.insertSnapshot).run(runId, snapshot.sequence, snapshot.body);
  database.statement(sql.dropSnapshots).run(runId, runId);
}

/** The end of a run's stream, and the greatest fence it has seen. */
export function endOf(
  database: Database,
  runId: number,
): { readonly end: number; readonly token: bigint } {
  const row = database.statement(sql.end).get(runId);
  return { end: Number(row?.['end'] ?? 0), token: BigInt(String(row?.['token'] ?? 0)) };
}

/** The body of a stored row, and where its first event stands. */
export interface StoredBatch {
  readonly stream: StreamRef;
  readonly first: number;
  readonly body: string;
}

/** What the rows of a stream are decoded with, one after the other. */
export function decodeTools(): DecodeTools {
  return { hash: hashText, moments: new MomentText() };
}

/** The events of one stored row. Throws `CORRUPT_EVENT_STREAM`. */
export function envelopesOf(
  { stream, first, body }: StoredBatch,
  tools: DecodeTools,
): readonly EventEnvelope[] {
  return decodeBatch(stream, body, tools).map((event, place) =>
    envelopeOf(stream, event, first + place),
  );
}

/** Thrown when the rows of a stream do not follow one another. */
export function gapInStream(stream: StreamRef, expected: number, found: number): StorageError {
  return new StorageError(
    'CORRUPT_EVENT_STREAM',
    `Stream ${stream.streamId}: event ${expected} is missing, the next stored is ${found}.`,
    { ...stream, sequence: expected },
  );
}
