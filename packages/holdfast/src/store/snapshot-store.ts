/** The snapshot port: saved folds, never ahead of their log; two of a stream are kept. */
import type { JsonValue } from '../base/json.ts';
import type { StreamRef } from '../history/envelope.ts';

/** A fold saved at one sequence. */
export interface Snapshot {
  /** The sequence of the last event folded into `body`. */
  readonly sequence: number;
  readonly body: JsonValue;
}

/** Saves folds of streams. */
export interface SnapshotStore {
  /** The newest readable snapshot, or null. A damaged one is passed over for the one before it. */
  newest(stream: StreamRef): Promise<Snapshot | null>;
  /** Saves a snapshot. Throws `SNAPSHOT_AHEAD` when its sequence is past the stream's end. */
  save(stream: StreamRef, snapshot: Snapshot): Promise<void>;
}
