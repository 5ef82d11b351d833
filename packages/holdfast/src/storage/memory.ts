/** The door `holdfast/storage/memory`: a run storage that lives as long as the process. */
export { createMemoryBacking, type MemoryBacking } from '../adapters/memory/backing.ts';
export {
  createMemoryRunStorage,
  type MemoryRunStorageOptions,
} from '../adapters/memory/storage.ts';
