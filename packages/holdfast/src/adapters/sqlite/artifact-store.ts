/**
 * Artifacts in SQLite, by digest within one run. Content, receipt and sum change in one
 * transaction, in which the quota is checked: it holds between processes too.
 */
import type { Admission } from '../../store/admission.ts';
import {
  type AdmittedArtifact,
  admitArtifact,
  admitArtifacts,
  checkBatchQuota,
  checkReference,
  type StoredArtifact,
  verifiedArtifact,
} from '../../store/artifact-rule.ts';
import type {
  ArtifactReference,
  ArtifactScope,
  ArtifactStore,
  NewArtifact,
} from '../../store/artifact-store.ts';
import { hashArtifact } from '../../store/host-hash.ts';
import type { Database } from './database.ts';
import type { SqliteRow } from './sqlite-driver.ts';
import type { WriteQueue } from './write-queue.ts';

const sql = {
  read: 'select id, bytes from artifact where namespace = ? and run = ? and digest = ?',
  id: 'select id from artifact where namespace = ? and run = ? and digest = ?',
  // Of a file that kept no receipts once, an empty one stands for any.
  admitted: `select 1 from artifact_receipt where artifact = ? and length = ?
    and ((media = ? and purpose = ?) or (media = '' and purpose = ''))`,
  used: 'select bytes from artifact_use where namespace = ? and run = ?',
  insert: 'insert into artifact(namespace, run, digest, bytes) values(?, ?, ?, ?)',
  // Damaged content is no more than a hole that the right bytes fill.
  mend: `update artifact set bytes = ?
    where namespace = ? and run = ? and digest = ? and bytes is not ?`,
  use: `insert into artifact_use(namespace, run, bytes) values(?, ?, ?)
    on conflict(namespace, run) do update set bytes = bytes + excluded.bytes`,
  receipt: `insert or ignore into artifact_receipt(artifact, length, media, purpose)
    select id, ?, ?, ? from artifact where namespace = ? and run = ? and digest = ?`,
  deleteReceipts: `delete from artifact_receipt
    where artifact in (select id from artifact where namespace = ? and run = ?)`,
  deleteUse: 'delete from artifact_use where namespace = ? and run = ?',
  deleteContents: 'delete from artifact where namespace = ? and run = ?',
} as const;

export class SqliteArtifactStore implements ArtifactStore {
  readonly #database: Database;
  readonly #queue: WriteQueue;
  readonly #admission: Admission;

  constructor(database: Database, queue: WriteQueue, admission: Admission) {
    this.#database = database;
    this.#queue = queue;
    this.#admission = admission;
  }

  async preflightWrite(
    scope: ArtifactScope,
    artifacts: readonly NewArtifact[],
  ): Promise<readonly ArtifactReference[]> {
    this.#check(scope);
    const batch = admitArtifacts(this.#admission, artifacts, hashArtifact);
    await this.#database.attempt(() => this.#checkQuota(this.#database, scope, batch));
    return batch.map(({ reference }) => reference);
  }

  async write(scope: ArtifactScope, artifact: NewArtifact): Promise<ArtifactReference> {
    this.#check(scope);
    const { namespace, runId } = scope;
    const admitted = admitArtifact(this.#admission, artifact, hashArtifact);
    const { bytes, reference } = admitted;
    const { digest, byteLength, mediaType, purpose } = reference;
    const apply = (database: Database): void => {
      if (holds(database, scope, digest)) {
        database.statement(sql.mend).run(bytes, namespace, runId, digest, bytes);
      } else {
        this.#checkQuota(database, scope, [admitted]);
        database.statement(sql.insert).run(namespace, runId, digest, bytes);
        database.statement(sql.use).run(namespace, runId, byteLength);
      }
      const receipt = [byteLength, mediaType, purpose, namespace, runId, digest];
      database.statement(sql.receipt).run(...receipt);
    };
    await this.#queue.write({ single: false, bytes: byteLength, apply });
    return reference;
  }

  async read(scope: ArtifactScope, reference: ArtifactReference): Promise<Uint8Array> {
    this.#check(scope);
    checkReference(reference);
    const { namespace, runId } = scope;
    const stored = await this.#database.attempt(() => {
      const row = this.#database.statement(sql.read).get(namespace, runId, reference.digest);
      return row === undefined ? null : this.#stored(row, reference);
    });
    return verifiedArtifact(scope, reference, { stored, hash: hashArtifact });
  }

  async deleteRun(scope: ArtifactScope): Promise<void> {
    this.#check(scope);
    const { namespace, runId } = scope;
    const apply = (database: Database): void => {
      for (const each of [sql.deleteReceipts, sql.deleteUse, sql.deleteContents]) {
        database.statement(each).run(namespace, runId);
      }
    };
    await this.#queue.write({ single: false, bytes: 0, apply });
  }

  #stored({ id, bytes }: SqliteRow, reference: ArtifactReference): StoredArtifact {
    const { byteLength, mediaType, purpose } = reference;
    const receipt = this.#database
      .statement(sql.admitted)
      .get(id as number, byteLength, mediaType, purpose);
    return {
      bytes: bytes instanceof Uint8Array ? bytes : new Uint8Array(),
      isAdmitted: receipt !== undefined,
    };
  }

  #checkQuota(database: Database, scope: ArtifactScope, batch: readonly AdmittedArtifact[]): void {
    const row = database.statement(sql.used).get(scope.namespace, scope.runId);
    checkBatchQuota(this.#admission, batch, {
      used: Number(row?.['bytes'] ?? 0),
      has: (digest) => holds(database, scope, digest),
    });
  }

  #check({ namespace, runId }: ArtifactScope): void {
    this.#admission.stream({ namespace, streamId: runId });
  }
}

function holds(database: Database, { namespace, runId }: ArtifactScope, digest: string): boolean {
  return database.statement(sql.id).get(namespace, runId, digest) !== undefined;
}
