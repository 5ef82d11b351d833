/** The memory storage: every port over one backing that lives as long as the process. */
import { hashBytes } from '../../base/digest.ts';
import type { Clock } from '../../base/ports.ts';
import { isProvenDead as isProcessDead } from '../../process/owner.ts';
import { Admission } from '../../store/admission.ts';
import type { OwnerIdentity } from '../../store/lease-store.ts';
import type { RunStoragePolicy } from '../../store/policy.ts';
import type { RunStorage } from '../../store/storage.ts';
import { storageRecord } from '../../store/storage-record.ts';
import { createSystemClock } from '../../store/system-clock.ts';
import { MemoryArtifactStore } from './artifact-store.ts';
import { createMemoryBacking, type MemoryBacking } from './backing.ts';
import { MemoryEventStore } from './event-store.ts';
import { MemoryLeaseStore } from './lease-store.ts';
import { MemoryRunIndex } from './run-index.ts';
import { MemorySnapshotStore } from './snapshot-store.ts';

/** What a memory storage is made of. */
export interface MemoryRunStorageOptions {
  /** 1–128 letters, digits, `.`, `_`, `-`. */
  readonly namespace: string;
  /** `defaultStoragePolicy` when left out. */
  readonly policy?: RunStoragePolicy;
  /** Text that must never be stored, in no form; live only. */
  readonly knownSecrets?: readonly string[];
  /** Times leases; the machine's clock when left out. */
  readonly clock?: Clock;
  /** Shared by storages that stand for several processes over one store. */
  readonly backing?: MemoryBacking;
  /** Whether a lease's owner is known to be dead; asks the machine when left out. */
  readonly isProvenDead?: (owner: OwnerIdentity) => boolean;
}

/**
 * A run storage in memory, for tests, simulations and runs that need not outlive their process.
 *
 * Throws `INVALID_OPTION` and `INVALID_STORED_VALUE` for options it cannot keep.
 *
 * @example const storage = createMemoryRunStorage({ namespace: 'tests' })
 */
export function createMemoryRunStorage(options: MemoryRunStorageOptions): RunStorage {
  const { namespace, knownSecrets = [], clock = createSystemClock() } = options;
  const { backing = createMemoryBacking(), isProvenDead = isProcessDead } = options;
  const admission = new Admission(options.policy, knownSecrets);
  return Object.freeze({
    record: storageRecord(namespace, 'memory', admission),
    eventStore: new MemoryEventStore(backing, admission),
    snapshotStore: new MemorySnapshotStore(backing, admission),
    artifactStore: new MemoryArtifactStore({ backing, admission, hash: hashBytes }),
    leaseStore: new MemoryLeaseStore({ backing, namespace, clock, isProvenDead }),
    runIndex: new MemoryRunIndex(backing, namespace),
    knownSecrets: Object.freeze([...knownSecrets]),
    close: async () => {},
  });
}
