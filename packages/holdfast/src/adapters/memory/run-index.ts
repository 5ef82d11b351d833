/** The run index in memory: rows are read off the streams. */
import type { IsoTime } from '../../base/time.ts';
import { millisecondsOf } from '../../base/time.ts';
import { isLeaseFree, noLease } from '../../store/lease-rule.ts';
import type { RunFilter, RunIndex, RunIndexRow, RunList, RunPage } from '../../store/run-index.ts';
import { newerFirst, pageCursor, pageLimit, pagePlace } from '../../store/run-page.ts';
import { backingKey, type MemoryBacking, type MemoryStream } from './backing.ts';

export class MemoryRunIndex implements RunIndex {
  readonly #backing: MemoryBacking;
  readonly #namespace: string;

  constructor(backing: MemoryBacking, namespace: string) {
    this.#backing = backing;
    this.#namespace = namespace;
  }

  async list(filter: RunFilter = {}, page: RunPage = {}): Promise<RunList> {
    const limit = pageLimit(page);
    const place = pagePlace(page);
    const rows = this.#streams()
      .map(rowOf)
      .filter((row) => matches(row, filter) && (place === null || newerFirst(place, row) < 0))
      .sort(newerFirst);
    const runs = rows.slice(0, limit);
    const last = runs.at(-1);
    return rows.length > limit && last !== undefined
      ? { runs, cursor: pageCursor(last) }
      : { runs };
  }

  async get(runId: string): Promise<RunIndexRow | null> {
    const stream = this.#backing.streams.get(backingKey(this.#namespace, runId));
    return stream === undefined || stream.index === null ? null : rowOf(stream);
  }

  async due(now: IsoTime): Promise<readonly RunIndexRow[]> {
    return this.#rows((stream) => isDue(stream, now));
  }

  async claimable(now: IsoTime): Promise<readonly RunIndexRow[]> {
    const at = millisecondsOf(now);
    return this.#rows((stream) => {
      if (!isOpen(stream)) return false;
      const key = backingKey(this.#namespace, stream.ref.streamId);
      if (!isLeaseFree(this.#backing.leases.get(key) ?? noLease, at)) return false;
      return stream.index?.status === 'running' || isDue(stream, now);
    });
  }

  #rows(wanted: (stream: MemoryStream) => boolean): readonly RunIndexRow[] {
    return this.#streams().filter(wanted).map(rowOf).sort(oldestWakeFirst);
  }

  #streams(): readonly MemoryStream[] {
    return [...this.#backing.streams.values()].filter(
      (stream) => stream.ref.namespace === this.#namespace && stream.index !== null,
    );
  }
}

function isOpen(stream: MemoryStream): boolean {
  return stream.index?.status === 'running' || stream.index?.status === 'paused';
}

function isDue(stream: MemoryStream, now: IsoTime): boolean {
  const wakeAt = stream.index?.wakeAt ?? null;
  return (stream.due && isOpen(stream)) || (wakeAt !== null && wakeAt <= now);
}

function oldestWakeFirst(left: RunIndexRow, right: RunIndexRow): number {
  const [first, second] = [left.wakeAt ?? '', right.wakeAt ?? ''];
  if (first !== second) return first < second ? -1 : 1;
  return left.runId < right.runId ? -1 : 1;
}

function matches(row: RunIndexRow, filter: RunFilter): boolean {
  const { statuses, graphId, runIdPrefix } = filter;
  return (
    (statuses === undefined || statuses.includes(row.status)) &&
    (graphId === undefined || graphId === row.graphId) &&
    (runIdPrefix === undefined || row.runId.startsWith(runIdPrefix))
  );
}

function rowOf(stream: MemoryStream): RunIndexRow {
  return Object.freeze({
    namespace: stream.ref.namespace,
    runId: stream.ref.streamId,
    graphId: stream.index?.graphId ?? '',
    status: stream.index?.status ?? 'running',
    wakeAt: stream.index?.wakeAt ?? null,
    createdAt: stream.createdAt,
    updatedAt: stream.updatedAt,
    sequence: stream.end,
    isMarkedDue: stream.due,
  });
}
