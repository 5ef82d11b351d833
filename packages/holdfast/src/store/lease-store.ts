/**
 * The lease port: who may drive a run. Every grant of one key carries a greater fencing token than
 * the one before, and the store refuses appends with an older one. The key of a run's lease is its
 * run id: granting it fences that run's stream at once.
 */

import type { OwnerIdentity } from '../base/owner-identity.ts';

export type { OwnerIdentity };

/** A lease that is held: its fencing token goes with every append. */
export interface LeaseGrant {
  readonly key: string;
  readonly owner: OwnerIdentity;
  readonly fence: bigint;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** Who holds a lease that was asked for, and until when (ms since the epoch). */
export interface LeaseHeld {
  readonly heldBy: OwnerIdentity;
  readonly expiresAt: number;
}

/** Whom an acquiring owner may replace. */
export interface AcquireOptions {
  /**
   * `proven-dead`: an owner of the same pid namespace that is proven dead is replaced at once;
   * `never`: only the expiry frees the lease.
   */
  readonly takeover: 'proven-dead' | 'never';
}

/** Leases by key. Times are in milliseconds. */
export interface LeaseStore {
  /** Grants the lease, or says who holds it. The same owner acquiring again renews its grant. */
  acquire(
    key: string,
    owner: OwnerIdentity,
    ttlMs: number,
    options: AcquireOptions,
  ): Promise<LeaseGrant | LeaseHeld>;
  /** A longer grant with the same fence. Throws `LEASE_LOST` once it was released or taken. */
  renew(grant: LeaseGrant, ttlMs: number): Promise<LeaseGrant>;
  /** Frees the lease if this grant still holds it; else does nothing. */
  release(grant: LeaseGrant): Promise<void>;
}
