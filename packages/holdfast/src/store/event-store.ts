/**
 * The event store port: one append-only stream per run.
 *
 * Invariants: an append is all or nothing, and a unit on compaction too; it is acknowledged only
 * after its bytes are durable; of several appends that expect the same end exactly one succeeds.
 */
import type { EventEnvelope, NewEvent, StreamRef } from '../history/envelope.ts';
import type { RunIndexUpdate } from './run-index.ts';
import type { Snapshot } from './snapshot-store.ts';

/** What an append may hold beside its events. */
export interface AppendOptions {
  /** The fencing token of the caller's lease; a smaller one than the stream has seen is refused. */
  readonly fence?: bigint;
  /** Saved in the same transaction. */
  readonly snapshot?: Snapshot;
  /** The run's index row, changed in the same transaction. */
  readonly index?: RunIndexUpdate;
}

/** Where an append has ended. */
export interface AppendReceipt {
  /** The sequence of the last event of the batch. */
  readonly sequence: number;
}

/** Where a read begins. */
export interface ReadOptions {
  /** Only events with a greater sequence; 0 by default. */
  readonly after?: number;
}

/** Called with the events of one append, in order. */
export type EventListener = (events: readonly EventEnvelope[]) => void;

/** Append-only streams, one a run. */
export interface EventStore {
  /**
   * Appends a batch behind `expected` (0 = empty stream), or at whatever the end is (`'end'`,
   * meant for signals and cancel requests: it also marks the run due).
   *
   * If the identical batch already stands at `expected + 1`, its sequence is returned and nothing
   * is written. For `'end'`, a batch whose explicit ids all stand in the stream already is such a
   * repeat too.
   *
   * A batch without events may change the index row (`options.index`) at the known end: a host that
   * has nothing to record clears the mark of a due run with it.
   *
   * Throws `SEQUENCE_CONFLICT`, `STALE_FENCE`, `DUPLICATE_EVENT_ID`, `STORAGE_LIMIT_EXCEEDED`,
   * `KNOWN_SECRET`, `INVALID_STORED_VALUE`, `STORE_BUSY`, `STORE_IO`.
   */
  append(
    stream: StreamRef,
    expected: number | 'end',
    events: readonly NewEvent[],
    options?: AppendOptions,
  ): Promise<AppendReceipt>;

  /**
   * The stream's events in order; nothing for an unknown stream. After a compaction the first
   * event read has a sequence greater than `after + 1`.
   * Throws `CORRUPT_EVENT_STREAM`, `STORE_IO`.
   */
  read(stream: StreamRef, options?: ReadOptions): AsyncIterable<EventEnvelope>;

  /**
   * The events at these sequences, in the order given. Throws `COMPACTED` for a deleted one,
   * `INVALID_OPTION` for one that the stream does not have.
   */
  readAt(stream: StreamRef, sequences: readonly number[]): Promise<readonly EventEnvelope[]>;

  /** The sequence of the last event, 0 for an unknown stream. */
  end(stream: StreamRef): Promise<number>;

  /**
   * Deletes events up to `through`, rounded down to the end of an append, behind a durable
   * snapshot at or after it; the stream's first append is always kept. Returns the last sequence
   * deleted (0 = none). Throws `COMPACTION_REFUSED` without such a snapshot.
   */
  compact(stream: StreamRef, through: number): Promise<number>;

  /**
   * Calls `listener` with each append after `after`, in order, each once; returns the way to stop.
   * Appends of the same storage are told as they are acknowledged, those of other processes about
   * 50 ms later. What a listener throws is ignored; `close` ends all subscriptions.
   */
  subscribe(stream: StreamRef, after: number, listener: EventListener): () => void;

  /**
   * Makes everything that other processes wrote durable too. A process calls it before it acts on
   * a stream it has read: a killed writer may have written what it never synced.
   */
  sync(): Promise<void>;
}
