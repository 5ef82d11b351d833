/** The run index in SQLite: the rows that appends keep in their own transactions. */
import { type IsoTime, isoTime, millisecondsOf } from '../../base/time.ts';
import type {
  RunFilter,
  RunIndex,
  RunIndexRow,
  RunList,
  RunPage,
  RunStatus,
} from '../../store/run-index.ts';
import { isRunIdPrefix, pageCursor, pageLimit, pagePlace } from '../../store/run-page.ts';
import type { Database } from './database.ts';
import type { SqliteRow, SqliteValue } from './sqlite-driver.ts';

/** A row and, of its newest append, the end and the time, which are not written twice. */
const SELECT = `select run.namespace, run.name, run.graph, run.status, run.wake, run.created,
    run.due, run.compacted, run.updated, newest.seq + newest.n - 1 as last,
    cast(substr(newest.body, 2, 20) as integer) as at
  from run left join log newest on newest.id =
    (select id from log where log.run = run.id order by seq desc limit 1)`;
const OPEN = `run.namespace = ? and run.status in ('running', 'paused')`;
const OLDEST_WAKE_FIRST = 'order by ifnull(run.wake, -9e18), run.name';

const sql = {
  get: `${SELECT} where run.namespace = ? and run.name = ? and run.status is not null`,
  due: `${SELECT} where run.namespace = ? and run.status is not null
    and (run.wake <= ? or (run.due = 1 and run.status in ('running', 'paused')))
    ${OLDEST_WAKE_FIRST}`,
  claimable: `${SELECT} where ${OPEN}
    and (run.status = 'running' or run.due = 1 or run.wake <= ?)
    and not exists (select 1 from lease where lease.namespace = run.namespace
      and lease.key = run.name and lease.owner is not null and lease.expires > ?)
    ${OLDEST_WAKE_FIRST}`,
} as const;

export class SqliteRunIndex implements RunIndex {
  readonly #database: Database;
  readonly #namespace: string;

  constructor(database: Database, namespace: string) {
    this.#database = database;
    this.#namespace = namespace;
  }

  async list(filter: RunFilter = {}, page: RunPage = {}): Promise<RunList> {
    const limit = pageLimit(page);
    const query = listQuery(this.#namespace, filter, page);
    if (query === null) return { runs: [] };
    const rows = await this.#rows(query.text, ...query.values, limit + 1);
    const runs = rows.slice(0, limit);
    const last = runs.at(-1);
    return rows.length > limit && last !== undefined
      ? { runs, cursor: pageCursor(last) }
      : { runs };
  }

  async get(runId: string): Promise<RunIndexRow | null> {
    if (!isRunIdPrefix(runId)) return null;
    const [row] = await this.#rows(sql.get, this.#namespace, runId);
    return row ?? null;
  }

  due(now: IsoTime): Promise<readonly RunIndexRow[]> {
    return this.#rows(sql.due, this.#namespace, millisecondsOf(now));
  }

  claimable(now: IsoTime): Promise<readonly RunIndexRow[]> {
    const at = millisecondsOf(now);
    return this.#rows(sql.claimable, this.#namespace, at, at);
  }

  async #rows(text: string, ...values: readonly SqliteValue[]): Promise<readonly RunIndexRow[]> {
    const rows = await this.#database.attempt(() => this.#database.statement(text).all(...values));
    return rows.map(rowOf);
  }
}

interface Query {
  readonly text: string;
  readonly values: readonly SqliteValue[];
}

/** Null when nothing can match. Texts that no run can have are never given to the driver. */
function listQuery(namespace: string, filter: RunFilter, page: RunPage): Query | null {
  const { statuses, graphId, runIdPrefix = '' } = filter;
  const place = pagePlace(page);
  if (!isRunIdPrefix(runIdPrefix) || statuses?.length === 0) return null;
  if (graphId?.includes('\0')) return null;
  const parts = ['run.namespace = ?', 'run.status is not null'];
  const values: SqliteValue[] = [namespace];
  if (statuses !== undefined) {
    parts.push('run.status in (select value from json_each(?))');
    values.push(JSON.stringify(statuses));
  }
  if (graphId !== undefined) {
    parts.push('run.graph = ?');
    values.push(graphId);
  }
  if (runIdPrefix !== '') {
    parts.push('substr(run.name, 1, ?) = ?');
    values.push(runIdPrefix.length, runIdPrefix);
  }
  if (place !== null) {
    parts.push('(run.created, run.name) < (?, ?)');
    values.push(millisecondsOf(place.createdAt), place.runId);
  }
  const order = 'order by run.created desc, run.name desc limit ?';
  return { text: `${SELECT} where ${parts.join(' and ')} ${order}`, values };
}

function rowOf(row: SqliteRow): RunIndexRow {
  const compacted = Number(row['compacted']);
  const last = Number(row['last']);
  const wake = row['wake'];
  return Object.freeze({
    namespace: String(row['namespace']),
    runId: String(row['name']),
    graphId: String(row['graph']),
    status: row['status'] as RunStatus,
    wakeAt: wake === null || wake === undefined ? null : isoTime(Number(wake)),
    createdAt: isoTime(Number(row['created'])),
    updatedAt: isoTime(Number(last < compacted ? row['updated'] : row['at'])),
    sequence: Math.max(last, compacted),
    isMarkedDue: row['due'] !== 0 && row['due'] !== 0n,
  });
}
