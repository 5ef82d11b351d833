/**
 * Open positions in dispatch order, indexed by status so that a turn never walks what it does not
 * touch, and the names of those that have settled.
 */
import { sealJson } from '../base/json.ts';
import type { IsoTime } from '../base/time.ts';
import type { PositionRecord, PositionStatus } from './position-record.ts';

export class PositionTable {
  readonly #open = new Map<string, PositionRecord>();
  readonly #settled: Set<string>;
  readonly #byStatus: Readonly<Record<PositionStatus, Set<string>>> = {
    queued: new Set(),
    running: new Set(),
    paused: new Set(),
  };

  /** Queued behind a delay, or paused with a deadline: what time alone will change. */
  readonly #timed = new Set<string>();

  constructor(open: readonly PositionRecord[] = [], settled: readonly string[] = []) {
    this.#settled = new Set(settled);
    for (const record of open) this.set(record);
  }

  get(position: string): PositionRecord | undefined {
    return this.#open.get(position);
  }

  set(record: PositionRecord): void {
    const before = this.#open.get(record.position);
    if (before !== undefined) this.#byStatus[before.status].delete(record.position);
    this.#open.set(record.position, record);
    this.#byStatus[record.status].add(record.position);
    if (timeOf(record) !== null) this.#timed.add(record.position);
    else if (this.#timed.size > 0) this.#timed.delete(record.position);
  }

  settle(record: PositionRecord): void {
    this.#byStatus[record.status].delete(record.position);
    this.#timed.delete(record.position);
    this.#open.delete(record.position);
    this.#settled.add(record.position);
  }

  isSettled(position: string): boolean {
    return this.#settled.has(position);
  }

  count(status?: PositionStatus): number {
    return status === undefined ? this.#open.size : this.#byStatus[status].size;
  }

  all(): readonly PositionRecord[] {
    return [...this.#open.values()];
  }

  /** The first of them that `fits`, at most `limit`. */
  first(
    status: PositionStatus,
    limit: number,
    fits: (record: PositionRecord) => boolean,
  ): readonly PositionRecord[] {
    const found: PositionRecord[] = [];
    for (const position of this.#byStatus[status]) {
      if (found.length >= limit) break;
      const record = this.#open.get(position);
      if (record !== undefined && fits(record)) found.push(record);
    }
    return found;
  }

  /** Those with this status, in the order in which they came to it. */
  *with(status: PositionStatus): Generator<PositionRecord> {
    for (const position of this.#byStatus[status]) {
      const record = this.#open.get(position);
      if (record !== undefined) yield record;
    }
  }

  /** The earliest moment, `after` the one given, at which a delay or deadline is over, or null. */
  nextDue(after: IsoTime | null = null): IsoTime | null {
    let earliest: IsoTime | null = null;
    for (const position of this.#timed) {
      const record = this.#open.get(position);
      const due = record === undefined ? null : timeOf(record);
      // Moments have one width and one zone, so their texts sort as they do.
      if (due === null || (after !== null && due <= after)) continue;
      if (earliest === null || due < earliest) earliest = due;
    }
    return earliest;
  }

  settled(): readonly string[] {
    return sealJson([...this.#settled]);
  }
}

function timeOf(record: PositionRecord): IsoTime | null {
  if (record.status === 'queued') return record.notBefore;
  return record.status === 'paused' ? record.dueAt : null;
}
