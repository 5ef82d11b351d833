/**
 * The rule of leases, one for all adapters: pure functions over the stored record of one key.
 *
 * Invariant: the fence of a key never falls, also not across release, expiry and takeover.
 */
import { identifierFault } from '../base/identifier.ts';
import { refuseOption } from '../base/option.ts';
import { utf8Length } from '../base/text.ts';
import type { AcquireOptions, LeaseGrant, LeaseHeld, OwnerIdentity } from './lease-store.ts';
import { StorageError } from './storage-error.ts';

/** What a store keeps of one key, for ever; `owner` is null while the lease is free. */
export interface LeaseRecord {
  readonly fence: bigint;
  readonly owner: OwnerIdentity | null;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

export const noLease: LeaseRecord = Object.freeze({ fence: 0n, owner: null, expiresAt: 0 });

export interface AcquireRequest {
  readonly key: string;
  readonly owner: OwnerIdentity;
  readonly ttlMs: number;
  readonly options: AcquireOptions;
  readonly now: number;
  /** The greatest token that the run of this key has seen; the grant's is greater. */
  readonly seenFence: bigint;
  readonly isProvenDead: (owner: OwnerIdentity) => boolean;
}

/** The record after a granted request, or who holds the lease. */
export function acquireLease(
  record: LeaseRecord,
  request: AcquireRequest,
): LeaseRecord | LeaseHeld {
  const { owner, now } = request;
  const expiresAt = now + request.ttlMs;
  const holder = record.owner;
  if (holder !== null && sameOwner(holder, owner) && record.fence >= request.seenFence) {
    return { fence: record.fence, owner: holder, expiresAt };
  }
  const held = holder !== null && record.expiresAt > now && !sameOwner(holder, owner);
  if (held && !(request.options.takeover === 'proven-dead' && request.isProvenDead(holder))) {
    return { heldBy: holder, expiresAt: record.expiresAt };
  }
  const behind = record.fence < request.seenFence;
  return { fence: (behind ? request.seenFence : record.fence) + 1n, owner, expiresAt };
}

/** The record after a renewal. Throws `LEASE_LOST`. */
export function renewLease(record: LeaseRecord, grant: LeaseGrant, expiresAt: number): LeaseRecord {
  if (!holds(record, grant)) {
    throw new StorageError(
      'LEASE_LOST',
      `The lease ${grant.key} with fence ${grant.fence} is lost: its fence is ${record.fence} now.`,
      { key: grant.key },
    );
  }
  return { ...record, expiresAt };
}

/** The record after a release, or null when this grant holds nothing. */
export function releaseLease(record: LeaseRecord, grant: LeaseGrant): LeaseRecord | null {
  return holds(record, grant) ? { fence: record.fence, owner: null, expiresAt: 0 } : null;
}

/** True when nobody holds the lease at `now`. */
export function isLeaseFree(record: LeaseRecord, now: number): boolean {
  return record.owner === null || record.expiresAt <= now;
}

/** Throws `INVALID_STORED_VALUE` or `INVALID_OPTION` for a request that cannot be kept. */
export function checkLease(key: string, owner: OwnerIdentity, ttlMs: number): void {
  const fault = identifierFault(key) ?? (utf8Length(key) > 512 ? 'it is over 512 bytes' : null);
  if (fault !== null) throw new StorageError('INVALID_STORED_VALUE', `Lease key: ${fault}.`);
  if (!Number.isSafeInteger(ttlMs) || ttlMs < 1) {
    throw new StorageError('INVALID_OPTION', `ttlMs must be a positive integer, not ${ttlMs}.`);
  }
  const texts = [owner.id, owner.host, owner.bootId, owner.pidNamespace, owner.startTime];
  if (!texts.every((text) => typeof text === 'string') || !Number.isSafeInteger(owner.pid)) {
    throw new StorageError('INVALID_STORED_VALUE', `Lease ${key}: the owner is incomplete.`);
  }
}

const TAKEOVERS: readonly unknown[] = ['proven-dead', 'never'];

/** Throws `INVALID_OPTION` for a word that says of nobody whether they may be replaced. */
export function checkTakeover(options: AcquireOptions): void {
  const given: unknown = (options as AcquireOptions | null | undefined)?.takeover;
  if (!TAKEOVERS.includes(given)) refuseOption('takeover', "'proven-dead' or 'never'", given);
}

/** A plain copy of an owner: what is stored and handed out. */
export function ownerCopy(owner: OwnerIdentity): OwnerIdentity {
  const { id, host, bootId, pidNamespace, pid, startTime } = owner;
  return Object.freeze({ id, host, bootId, pidNamespace, pid, startTime });
}

function holds(record: LeaseRecord, grant: LeaseGrant): boolean {
  return (
    record.owner !== null && record.fence === grant.fence && record.owner.id === grant.owner.id
  );
}

function sameOwner(left: OwnerIdentity, right: OwnerIdentity): boolean {
  return (
    left.id === right.id &&
    left.host === right.host &&
    left.bootId === right.bootId &&
    left.pidNamespace === right.pidNamespace &&
    left.pid === right.pid &&
    left.startTime === right.startTime
  );
}
