/** Stores that are wrong in one way. */
import type { RunStorage } from 'holdfast';
import {
  createMemoryBacking,
  createMemoryRunStorage,
  type MemoryRunStorageOptions,
} from 'holdfast/storage/memory';
import type { ConformanceReport, StorageFactory, StorageKitOptions } from 'holdfast/testing';

export interface Mutant<Port> {
  /** Part of the name of a case that must fail. */
  readonly caught: string;
  readonly options?: (options: StorageKitOptions) => Partial<StorageKitOptions>;
  readonly memory?: Partial<MemoryRunStorageOptions>;
  readonly port?: (real: Port, storage: RunStorage) => Partial<Port>;
}

type PortName = 'eventStore' | 'snapshotStore' | 'leaseStore' | 'artifactStore';

export function mutated<Name extends PortName>(
  name: Name,
  mutant: Mutant<RunStorage[Name]>,
): StorageFactory {
  return () => {
    const backing = createMemoryBacking();
    return {
      open: (options) => {
        const given = { ...options, ...mutant.options?.(options), ...mutant.memory, backing };
        const storage = createMemoryRunStorage(given);
        const real = storage[name];
        const changed = mutant.port?.(real, storage) ?? {};
        return { ...storage, [name]: delegate(real, changed) };
      },
    };
  };
}

/** `real`, but for the methods that `changed` has. */
function delegate<Port extends object>(real: Port, changed: Partial<Port>): Port {
  return new Proxy(real, {
    get: (target, key) => {
      const own: unknown = Reflect.get(changed, key);
      const value: unknown = own ?? Reflect.get(target, key);
      return typeof value === 'function' ? value.bind(own === undefined ? target : changed) : value;
    },
  });
}

export async function failedCases(
  run: (factory: StorageFactory) => Promise<ConformanceReport>,
  factory: StorageFactory,
): Promise<readonly string[]> {
  return (await run(factory)).failures.map((failure) => failure.case);
}
