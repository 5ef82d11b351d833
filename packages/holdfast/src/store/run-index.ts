/**
 * The run index port: one row a run, written in the append's own transaction, so that a host can
 * list runs and find those that are due without reading a single stream.
 */
import type { IsoTime } from '../base/time.ts';

/**
 * `running`: something can be done now · `paused`: waits for a person, a signal or a deadline ·
 * the rest are ends.
 */
export type RunStatus = 'running' | 'paused' | 'complete' | 'fail' | 'cancelled';

/**
 * What an append changes in its run's row; a key left out stays as it is. A stream has a row from
 * the first append that brings one.
 */
export interface RunIndexUpdate {
  readonly status?: RunStatus;
  /** When the run has something to do by itself; null = nothing planned. */
  readonly wakeAt?: IsoTime | null;
  /** The graph definition's id; set by the first append. */
  readonly graphId?: string;
}

/** What the index says of one run. */
export interface RunIndexRow {
  readonly namespace: string;
  readonly runId: string;
  readonly graphId: string;
  readonly status: RunStatus;
  readonly wakeAt: IsoTime | null;
  /** The timestamp of the stream's first event. */
  readonly createdAt: IsoTime;
  /** The timestamp of the first event of the newest append. */
  readonly updatedAt: IsoTime;
  /** The sequence of the stream's last event. */
  readonly sequence: number;
  /** Whether an `'end'` append has marked the run due, and no owner has cleared the mark since. */
  readonly isMarkedDue: boolean;
}

/** Which runs are listed; all of them when empty. */
export interface RunFilter {
  readonly statuses?: readonly RunStatus[];
  readonly graphId?: string;
  /** Compared literally: `%` and `_` are ordinary characters. */
  readonly runIdPrefix?: string;
}

/** Which part of a list is wanted. */
export interface RunPage {
  /** How many rows at most, 1–1000; 100 by default. */
  readonly limit?: number;
  /** The cursor of the page before. */
  readonly cursor?: string;
}

/** One page of runs. */
export interface RunList {
  readonly runs: readonly RunIndexRow[];
  /** Absent on the last page. */
  readonly cursor?: string;
}

/** Finds runs without reading their streams. */
export interface RunIndex {
  /** Rows of this storage's namespace, newest first (`createdAt`, then run id). */
  list(filter?: RunFilter, page?: RunPage): Promise<RunList>;
  get(runId: string): Promise<RunIndexRow | null>;
  /**
   * Runs that have something to do at `now`, oldest wake first: `wakeAt` ≤ now (an ended run has
   * one only while the run that it continues as is not stored, or a child run that it has left
   * is not ended), or they have not ended and an
   * `'end'` append has marked them due. The mark is cleared by an append at a numbered place that
   * changes the index row: its writer has read the stream up to there.
   */
  due(now: IsoTime): Promise<readonly RunIndexRow[]>;
  /** Due or running runs whose lease is free or has run out at `now`. */
  claimable(now: IsoTime): Promise<readonly RunIndexRow[]>;
}
