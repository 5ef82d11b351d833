/** Artifacts in SQLite, by digest within one run. */
import type { Admission } from '../../store/admission.ts';
import {
  admitArtifact,
  checkArtifactQuota,
  checkReference,
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
import type { WriteQueue } from './write-queue.ts';

const sql = {
  read: 'select bytes from artifact where namespace = ? and run = ? and digest = ?',
  present: 'select 1 from artifact where namespace = ? and run = ? and digest = ?',
  used: `select ifnull(sum(length(bytes)), 0) as used from artifact
    where namespace = ? and run = ?`,
  insert: 'insert into artifact(namespace, run, digest, bytes) values(?, ?, ?, ?)',
  deleteRun: 'delete from artifact where namespace = ? and run = ?',
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

  async write(scope: ArtifactScope, artifact: NewArtifact): Promise<ArtifactReference> {
    const { namespace, runId } = this.#checked(scope);
    const { bytes, reference } = admitArtifact(this.#admission, artifact, hashArtifact);
    const { digest } = reference;
    const apply = (database: Database): void => {
      if (database.statement(sql.present).get(namespace, runId, digest) !== undefined) return;
      const used = Number(database.statement(sql.used).get(namespace, runId)?.['used']);
      checkArtifactQuota(this.#admission, used, bytes.byteLength);
      database.statement(sql.insert).run(namespace, runId, digest, bytes);
    };
    await this.#queue.write({ single: false, bytes: bytes.byteLength, apply });
    return reference;
  }

  async read(scope: ArtifactScope, reference: ArtifactReference): Promise<Uint8Array> {
    const { namespace, runId } = this.#checked(scope);
    checkReference(reference);
    const row = await this.#database.attempt(() =>
      this.#database.statement(sql.read).get(namespace, runId, reference.digest),
    );
    const found = row?.['bytes'];
    const bytes = found instanceof Uint8Array ? Uint8Array.from(found) : null;
    return verifiedArtifact(scope, reference, { bytes, hash: hashArtifact });
  }

  async deleteRun(scope: ArtifactScope): Promise<void> {
    const { namespace, runId } = this.#checked(scope);
    const apply = (database: Database): void => {
      database.statement(sql.deleteRun).run(namespace, runId);
    };
    await this.#queue.write({ single: false, bytes: 0, apply });
  }

  #checked(scope: ArtifactScope): ArtifactScope {
    this.#admission.stream({ namespace: scope.namespace, streamId: scope.runId });
    return scope;
  }
}
