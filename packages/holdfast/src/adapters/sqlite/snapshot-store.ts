/** Snapshots in SQLite: the newest two of a stream. */
import { freezeParsedJson, type JsonValue } from '../../base/json.ts';
import type { StreamRef } from '../../history/envelope.ts';
import type { Admission } from '../../store/admission.ts';
import { snapshotAhead } from '../../store/refusals.ts';
import type { Snapshot, SnapshotStore } from '../../store/snapshot-store.ts';
import { endOf, snapshotText, writeSnapshot } from './append-write.ts';
import type { Database } from './database.ts';
import type { WriteQueue } from './write-queue.ts';

const NEWEST = 'select seq, body from snapshot where run = ? order by seq desc';

export class SqliteSnapshotStore implements SnapshotStore {
  readonly #database: Database;
  readonly #queue: WriteQueue;
  readonly #admission: Admission;

  constructor(database: Database, queue: WriteQueue, admission: Admission) {
    this.#database = database;
    this.#queue = queue;
    this.#admission = admission;
  }

  async newest(stream: StreamRef): Promise<Snapshot | null> {
    this.#admission.stream(stream);
    return this.#database.attempt(() => {
      const runId = this.#database.runId(stream);
      return runId === null ? null : readableSnapshot(this.#database, runId);
    });
  }

  async save(stream: StreamRef, snapshot: Snapshot): Promise<void> {
    this.#admission.stream(stream);
    const text = snapshotText(this.#admission.snapshot(snapshot));
    const apply = (database: Database): void => {
      const runId = database.runId(stream);
      const end = runId === null ? 0 : endOf(database, runId).end;
      if (runId === null || text.sequence > end) throw snapshotAhead(stream, text.sequence, end);
      writeSnapshot(database, runId, text);
    };
    await this.#queue.write({ single: false, bytes: text.body.length, apply });
  }
}

/** The newest snapshot of a run that can be read: a damaged one is passed over. */
export function readableSnapshot(database: Database, runId: number): Snapshot | null {
  for (const row of database.statement(NEWEST).all(runId)) {
    const body = parsed(String(row['body']));
    if (body !== undefined) {
      return Object.freeze({ sequence: Number(row['seq']), body: freezeParsedJson(body) });
    }
  }
  return null;
}

function parsed(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}
