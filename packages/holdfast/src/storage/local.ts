/** The door `holdfast/storage/local`: a run storage in a local directory. */
export {
  createLocalRunStorage,
  type LocalRunStorage,
  type LocalRunStorageOptions,
} from '../adapters/sqlite/storage.ts';
export type { StorageCounters } from '../adapters/sqlite/write-queue.ts';
