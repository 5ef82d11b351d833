/**
 * What the processes of a simulation store in: one backing, which each opens with the secrets that
 * it knows. Its quota may grow in the middle of a run.
 */
import { createMemoryBacking, type MemoryBacking } from '../adapters/memory/backing.ts';
import { createMemoryRunStorage } from '../adapters/memory/storage.ts';
import { isHoldfastError } from '../base/errors.ts';
import type { Clock } from '../base/ports.ts';
import type { OwnerIdentity } from '../store/lease-store.ts';
import { defaultStoragePolicy, type RunStoragePolicy } from '../store/policy.ts';
import type { RunStorage } from '../store/storage.ts';
import type { WorldExtras } from './sim-extras.ts';
import type { SimulationOptions } from './sim-options.ts';
import { LATE_SECRET, SECRET_LINES, SIMULATED_SECRET } from './sim-secret.ts';
import type { SimTrace } from './sim-trace.ts';

export interface StoreParts {
  readonly options: SimulationOptions;
  readonly extras: WorldExtras;
  readonly clock: Clock;
  readonly trace: SimTrace;
  readonly isProvenDead: (owner: OwnerIdentity) => boolean;
  /** The bytes of artifacts that the run has, once it is stored; null before. */
  readonly heldBytes: () => number | null;
}

export const SMALL_EVENT_BYTES = 2_048;
const SMALL_BATCH_BYTES = 3_072;

function policyOf({ smallBatches, form }: SimulationOptions): RunStoragePolicy {
  // What engines say and nodes return is often too large for an event.
  const maxEventPayloadBytes =
    smallBatches || form === 'lanes'
      ? SMALL_EVENT_BYTES
      : defaultStoragePolicy.maxEventPayloadBytes;
  const { maxAppendBatchBytes } = smallBatches
    ? { maxAppendBatchBytes: SMALL_BATCH_BYTES }
    : defaultStoragePolicy;
  return { ...defaultStoragePolicy, maxEventPayloadBytes, maxAppendBatchBytes };
}

interface StorageVariant {
  readonly knowsLate: boolean;
  /** Bytes of artifacts; null = as many as by default. */
  readonly quota: number | null;
}

export class SimStore {
  readonly backing: MemoryBacking = createMemoryBacking();
  readonly #parts: StoreParts;
  readonly #startMs: number;
  readonly #storages = new Map<string, RunStorage>();
  #narrowBytes: number | null = null;

  constructor(parts: StoreParts) {
    this.#parts = parts;
    this.#startMs = parts.clock.now();
  }

  /** With all secrets and without a quota. */
  get whole(): RunStorage {
    return this.#memory({ knowsLate: true, quota: null });
  }

  /** The store with the secrets that a process knows, and the quota of now. */
  #memory(which: StorageVariant): RunStorage {
    const key = JSON.stringify([which.knowsLate, which.quota]);
    const storage = this.#storages.get(key) ?? this.#createMemory(which);
    this.#storages.set(key, storage);
    return storage;
  }

  #createMemory(which: StorageVariant): RunStorage {
    const { options, clock, isProvenDead } = this.#parts;
    const policy = policyOf(options);
    const late = which.knowsLate && this.#parts.extras.lateSecretFrom !== null ? [LATE_SECRET] : [];
    const { quota } = which;
    return createMemoryRunStorage({
      namespace: 'simulation',
      clock,
      backing: this.backing,
      isProvenDead,
      policy:
        quota === null
          ? policy
          : { ...policy, maxArtifactBytes: quota, maxTotalArtifactBytesPerRun: quota },
      knownSecrets: options.form === 'lanes' ? [SIMULATED_SECRET, SECRET_LINES, ...late] : [],
    });
  }

  /** The store of a process: its quota grows in the middle of a run. */
  storageOf(name: string): RunStorage {
    const knowsLate = this.knowsLate(name);
    const roomy = this.#memory({ knowsLate, quota: null });
    const { quota } = this.#parts.extras;
    if (quota === null) return roomy;
    const { artifactStore } = roomy;
    const narrow = () => {
      const isOver = this.#parts.clock.now() >= this.#startMs + quota.untilMs;
      const heldBytes = isOver ? null : this.#parts.heldBytes();
      if (heldBytes === null) return artifactStore;
      // What the run is made of is stored already: the rest has little room.
      this.#narrowBytes ??= quota.bytes + heldBytes;
      return this.#memory({ knowsLate, quota: this.#narrowBytes }).artifactStore;
    };
    const write: typeof artifactStore.write = async (...given) => {
      try {
        return await narrow().write(...given);
      } catch (error) {
        if (isHoldfastError(error, 'STORAGE_LIMIT_EXCEEDED')) this.#parts.trace.count('quota');
        throw error;
      }
    };
    return {
      ...roomy,
      artifactStore: {
        write,
        read: (...given) => artifactStore.read(...given),
        preflightWrite: (...given) => artifactStore.preflightWrite(...given),
        deleteRun: (...given) => artifactStore.deleteRun(...given),
      },
    };
  }

  /** Whether a process, or an executor of it, knows the secret that becomes known late. */
  knowsLate(name: string): boolean {
    const { lateSecretFrom } = this.#parts.extras;
    return lateSecretFrom !== null && Number(/\.(\d+)/.exec(name)?.[1] ?? 0) >= lateSecretFrom;
  }
}
