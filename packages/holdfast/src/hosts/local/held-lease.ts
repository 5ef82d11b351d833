/** The lease of a run, held and renewed for as long as this process drives it. */
import { HoldfastError } from '../../base/errors.ts';
import type { Clock, Timer } from '../../base/ports.ts';
import type { LeaseGrant, OwnerIdentity } from '../../store/lease-store.ts';
import type { RunStorage } from '../../store/storage.ts';

const TTL_MS = 30_000;
const RENEWALS_PER_TTL = 3;

export interface HeldLease {
  readonly grant: LeaseGrant;
  /** Aborted when the lease was lost to another owner. */
  readonly lost: AbortSignal;
  release(): Promise<void>;
}

/** Takes the lease of a run. An owner on this machine that is proven dead is replaced at once. */
export async function holdLease(
  storage: RunStorage,
  runId: string,
  options: { readonly owner: OwnerIdentity; readonly clock: Clock },
): Promise<HeldLease> {
  const { owner, clock } = options;
  const taken = await storage.leaseStore.acquire(runId, owner, TTL_MS, { takeover: 'proven-dead' });
  if ('heldBy' in taken) throw ownedElsewhere(runId, taken.heldBy, taken.expiresAt);
  return new RenewedLease(storage, taken, clock);
}

class RenewedLease implements HeldLease {
  readonly #storage: RunStorage;
  readonly #clock: Clock;
  readonly #lost = new AbortController();
  #grant: LeaseGrant;
  #timer: Timer | null = null;

  constructor(storage: RunStorage, grant: LeaseGrant, clock: Clock) {
    this.#storage = storage;
    this.#grant = grant;
    this.#clock = clock;
    this.#arm();
  }

  get grant(): LeaseGrant {
    return this.#grant;
  }

  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  async release(): Promise<void> {
    this.#timer?.cancel();
    this.#timer = null;
    await this.#storage.leaseStore.release(this.#grant);
  }

  #arm(): void {
    this.#timer = this.#clock.after(TTL_MS / RENEWALS_PER_TTL, () => void this.#renew());
  }

  /** A failed renewal is tried again; only the end of the granted time loses the lease. */
  async #renew(): Promise<void> {
    try {
      this.#grant = await this.#storage.leaseStore.renew(this.#grant, TTL_MS);
    } catch (error) {
      if (this.#clock.now() >= this.#grant.expiresAt) this.#lost.abort(error);
    }
    if (this.#timer !== null && !this.#lost.signal.aborted) this.#arm();
  }
}

function ownedElsewhere(runId: string, owner: OwnerIdentity, expiresAt: number): HoldfastError {
  const until = new Date(expiresAt).toISOString();
  return new HoldfastError(
    'RUN_OWNED',
    `Run ${runId} is driven by process ${owner.pid} on ${owner.host}, whose lease holds until ` +
      `${until}.`,
    { runId, owner, expiresAt },
  );
}
