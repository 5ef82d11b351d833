/**
 * Reading a stream in pages: each page is one short statement, so no read transaction outlives it.
 *
 * Invariant: rows follow one another without a gap, but for what a compaction deleted behind the
 * first append; anything else is damage and is refused by name.
 */
import type { EventEnvelope, StreamRef } from '../../history/envelope.ts';
import { missingEvent } from '../../store/refusals.ts';
import { decodeTools, endOf, envelopesOf, gapInStream } from './append-write.ts';
import type { Database } from './database.ts';
import type { SqliteRow } from './sqlite-driver.ts';

const FIRST_PAGE_ROWS = 64;
const MAX_PAGE_ROWS = 512;
const PAGE_CHARACTERS = 2 * 1024 * 1024;

const sql = {
  page: 'select seq, n, body from log where run = ? and seq >= ? order by seq limit ?',
  rowOf: 'select seq, n, body from log where run = ? and seq <= ? order by seq desc limit 1',
  placeOf: 'select seq, n from log where run = ? and seq <= ? order by seq desc limit 1',
  compacted: 'select compacted from run where id = ?',
} as const;

/** The events after `after`, one append at a time. */
export async function* readAppends(
  database: Database,
  stream: StreamRef,
  after: number,
): AsyncGenerator<readonly EventEnvelope[]> {
  const tools = decodeTools();
  let limit = FIRST_PAGE_ROWS;
  let expected = after + 1;
  let isFirst = true;
  for (;;) {
    const page = { from: expected, inside: isFirst, limit };
    const rows: readonly SqliteRow[] = await database.attempt(() =>
      readPage(database, stream, page),
    );
    let characters = 0;
    for (const row of rows) {
      const first = Number(row['seq']);
      const body = String(row['body']);
      if (first > expected || (first < expected && !isFirst)) {
        await assertCompacted(database, stream, { expected, first });
      }
      const events = envelopesOf({ stream, first, body }, tools);
      expected = first + Number(row['n']);
      if (first + events.length !== expected) throw gapInStream(stream, expected, expected);
      characters += body.length;
      yield isFirst ? events.filter((event) => event.sequence > after) : events;
      isFirst = false;
    }
    if (rows.length < limit) return;
    const average = Math.max(1, characters / rows.length);
    limit = Math.max(1, Math.min(MAX_PAGE_ROWS, Math.floor(PAGE_CHARACTERS / average)));
  }
}

/**
 * The events of appends, one by one. An async generator would hand each of them through the task
 * queue several times; here those of one append are given as they are asked for.
 */
export class EventIterator implements AsyncIterableIterator<EventEnvelope> {
  readonly #appends: AsyncGenerator<readonly EventEnvelope[]>;
  #events: readonly EventEnvelope[] = [];
  #place = 0;
  /** Calls that wait for the next append, in order. */
  #waiting: Promise<unknown> | null = null;

  constructor(appends: AsyncGenerator<readonly EventEnvelope[]>) {
    this.#appends = appends;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<EventEnvelope>> {
    if (this.#waiting === null && this.#place < this.#events.length) {
      return Promise.resolve(this.#take());
    }
    const next = (this.#waiting ?? Promise.resolve()).then(() => this.#refill());
    this.#waiting = next;
    return next.finally(() => {
      if (this.#waiting === next) this.#waiting = null;
    });
  }

  async return(): Promise<IteratorResult<EventEnvelope>> {
    await this.#appends.return(undefined);
    return { value: undefined, done: true };
  }

  async #refill(): Promise<IteratorResult<EventEnvelope>> {
    while (this.#place >= this.#events.length) {
      const { value, done = false } = await this.#appends.next();
      if (done) return { value: undefined, done };
      this.#events = value;
      this.#place = 0;
    }
    return this.#take();
  }

  #take(): IteratorResult<EventEnvelope> {
    const value = this.#events[this.#place] as EventEnvelope;
    this.#place += 1;
    return { value, done: false };
  }
}

interface Page {
  readonly from: number;
  /** Whether `from` may stand inside an append, which is then the first row. */
  readonly inside: boolean;
  readonly limit: number;
}

function readPage(database: Database, stream: StreamRef, page: Page): readonly SqliteRow[] {
  const runId = database.runId(stream);
  if (runId === null) return [];
  const from = page.inside ? firstRow(database, runId, page.from) : page.from;
  return database.statement(sql.page).all(runId, from, page.limit);
}

/** Where the append begins that holds the event `sequence`. */
function firstRow(database: Database, runId: number, sequence: number): number {
  const row = database.statement(sql.placeOf).get(runId, sequence);
  if (row === undefined) return sequence;
  const first = Number(row['seq']);
  return first + Number(row['n']) > sequence ? first : sequence;
}

async function assertCompacted(
  database: Database,
  stream: StreamRef,
  gap: { readonly expected: number; readonly first: number },
): Promise<void> {
  const compacted = await database.attempt(() => {
    const runId = database.runId(stream);
    return runId === null ? 0 : Number(database.statement(sql.compacted).get(runId)?.['compacted']);
  });
  if (gap.first < gap.expected || gap.first - 1 > compacted) {
    throw gapInStream(stream, gap.expected, gap.first);
  }
}

/** The events at these sequences. Throws `COMPACTED`, `INVALID_OPTION`. */
export function eventsAt(
  database: Database,
  stream: StreamRef,
  sequences: readonly number[],
): readonly EventEnvelope[] {
  const runId = database.runId(stream);
  const decoded = new Map<number, readonly EventEnvelope[]>();
  return sequences.map((sequence) => {
    const row = runId === null ? undefined : database.statement(sql.rowOf).get(runId, sequence);
    const first = Number(row?.['seq'] ?? 0);
    const body = String(row?.['body']);
    const events =
      decoded.get(first) ?? (row ? envelopesOf({ stream, first, body }, decodeTools()) : []);
    decoded.set(first, events);
    const event = events[sequence - first];
    if (event === undefined) {
      throw missingEvent(stream, sequence, runId === null ? 0 : endOf(database, runId).end);
    }
    return event;
  });
}
