/** Leases in memory. A lease whose key is a run id fences that run's stream as it is granted. */
import type { Clock } from '../../base/ports.ts';
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
import { backingKey, type MemoryBacking } from './backing.ts';

export interface MemoryLeaseContext {
  readonly backing: MemoryBacking;
  readonly namespace: string;
  readonly clock: Clock;
  readonly isProvenDead: (owner: OwnerIdentity) => boolean;
}

export class MemoryLeaseStore implements LeaseStore {
  readonly #context: MemoryLeaseContext;

  constructor(context: MemoryLeaseContext) {
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
    const { backing, clock, isProvenDead } = this.#context;
    const stream = backing.streams.get(this.#keyOf(key));
    const seenFence = stream?.fence ?? 0n;
    const request = { key, owner: ownerCopy(owner), ttlMs, options, now: clock.now() };
    const after = acquireLease(this.#record(key), { ...request, seenFence, isProvenDead });
    if ('heldBy' in after) return after;
    backing.leases.set(this.#keyOf(key), after);
    if (stream !== undefined) stream.fence = after.fence;
    return { key, owner: request.owner, fence: after.fence, expiresAt: after.expiresAt };
  }

  async renew(grant: LeaseGrant, ttlMs: number): Promise<LeaseGrant> {
    checkLease(grant.key, grant.owner, ttlMs);
    const expiresAt = this.#context.clock.now() + ttlMs;
    const after = renewLease(this.#record(grant.key), grant, expiresAt);
    this.#context.backing.leases.set(this.#keyOf(grant.key), after);
    return { ...grant, expiresAt };
  }

  async release(grant: LeaseGrant): Promise<void> {
    const after = releaseLease(this.#record(grant.key), grant);
    if (after !== null) this.#context.backing.leases.set(this.#keyOf(grant.key), after);
  }

  #record(key: string): LeaseRecord {
    return this.#context.backing.leases.get(this.#keyOf(key)) ?? noLease;
  }

  #keyOf(key: string): string {
    return backingKey(this.#context.namespace, key);
  }
}
