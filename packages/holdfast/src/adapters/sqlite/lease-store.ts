/** Leases in SQLite. A lease whose key is a run id fences that run's stream as it is granted. */
import {
  acquireLease,
  checkLease,
  checkTakeover,
  type LeaseRecord,
  noLease,
  ownerCopy,
  releaseLease,
  renewLease,
} from '../../store/lease-rule.ts';
import type {
  AcquireOptions,
  LeaseGrant,
  LeaseHeld,
  LeaseStore,
  OwnerIdentity,
} from '../../store/lease-store.ts';
import { StorageError } from '../../store/storage-error.ts';
import type { Database } from './database.ts';
import type { WriteQueue } from './write-queue.ts';

const sql = {
  read: `select cast(fence as text) as fence, owner, expires from lease
    where namespace = ? and key = ?`,
  write: `insert into lease(namespace, key, fence, owner, expires) values(?, ?, ?, ?, ?)
    on conflict do update set fence = excluded.fence, owner = excluded.owner,
    expires = excluded.expires`,
  seenFence: 'select cast(token as text) as token from run where namespace = ? and name = ?',
  raiseToken: 'update run set token = ? where namespace = ? and name = ? and token < ?',
} as const;

export interface SqliteLeaseContext {
  readonly database: Database;
  readonly queue: WriteQueue;
  readonly namespace: string;
  readonly isProvenDead: (owner: OwnerIdentity) => boolean;
}

export class SqliteLeaseStore implements LeaseStore {
  readonly #context: SqliteLeaseContext;

  constructor(context: SqliteLeaseContext) {
    this.#context = context;
  }

  async acquire(
    key: string,
    owner: OwnerIdentity,
    ttlMs: number,
    options: AcquireOptions,
  ): Promise<LeaseGrant | LeaseHeld> {
    checkLease(key, owner, ttlMs);
    checkTakeover(options);
    const { isProvenDead } = this.#context;
    const holder = ownerCopy(owner);
    return this.#write((database) => {
      const request = { key, owner: holder, ttlMs, options, isProvenDead };
      const seenFence = this.#seenFence(database, key);
      const after = acquireLease(this.#record(database, key), {
        ...request,
        now: database.options.clock.now(),
        seenFence,
      });
      if ('heldBy' in after) return after;
      this.#store(database, key, after);
      const { namespace } = this.#context;
      database.statement(sql.raiseToken).run(after.fence, namespace, key, after.fence);
      return { key, owner: holder, fence: after.fence, expiresAt: after.expiresAt };
    });
  }

  async renew(grant: LeaseGrant, ttlMs: number): Promise<LeaseGrant> {
    checkLease(grant.key, grant.owner, ttlMs);
    return this.#write((database) => {
      const expiresAt = database.options.clock.now() + ttlMs;
      this.#store(
        database,
        grant.key,
        renewLease(this.#record(database, grant.key), grant, expiresAt),
      );
      return { ...grant, expiresAt };
    });
  }

  async release(grant: LeaseGrant): Promise<void> {
    await this.#write((database) => {
      const after = releaseLease(this.#record(database, grant.key), grant);
      if (after !== null) this.#store(database, grant.key, after);
    });
  }

  #write<T>(apply: (database: Database) => T): Promise<T> {
    return this.#context.queue.write({ single: false, bytes: 0, apply });
  }

  #record(database: Database, key: string): LeaseRecord {
    const row = database.statement(sql.read).get(this.#context.namespace, key);
    if (row === undefined) return noLease;
    const owner = row['owner'];
    return {
      fence: BigInt(String(row['fence'])),
      owner: typeof owner === 'string' ? storedOwner(key, owner) : null,
      expiresAt: Number(row['expires']),
    };
  }

  #store(database: Database, key: string, record: LeaseRecord): void {
    const owner = record.owner === null ? null : JSON.stringify(record.owner);
    database
      .statement(sql.write)
      .run(this.#context.namespace, key, record.fence, owner, record.expiresAt);
  }

  #seenFence(database: Database, key: string): bigint {
    const row = database.statement(sql.seenFence).get(this.#context.namespace, key);
    return BigInt(String(row?.['token'] ?? 0));
  }
}

function storedOwner(key: string, text: string): OwnerIdentity {
  try {
    return ownerCopy(JSON.parse(text) as OwnerIdentity);
  } catch (error) {
    throw new StorageError(
      'STORE_CORRUPT',
      `The owner of lease ${key} is damaged.`,
      { key },
      error,
    );
  }
}
