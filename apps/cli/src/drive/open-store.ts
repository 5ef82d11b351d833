/** Opens the store of a directory for as long as a command needs it. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { HoldfastError, LOCAL_NAMESPACE } from 'holdfast';
import { createLocalRunStorage, type LocalRunStorage } from 'holdfast/storage/local';

/** Where the runs of a command are. */
export interface Store {
  readonly storage: LocalRunStorage;
  /** Absolute. */
  readonly directory: string;
}

/** Opens a store, makes it if need be, and closes it behind `use`. */
export async function withStore<Result>(
  directory: string,
  use: (store: Store) => Promise<Result>,
): Promise<Result> {
  const storage = createLocalRunStorage({ directory, namespace: LOCAL_NAMESPACE });
  try {
    return await use({ storage, directory });
  } finally {
    await storage.close();
  }
}

/** `withStore` for commands that only look: a directory without a store is not made into one. */
export async function withExistingStore<Result>(
  directory: string,
  use: (store: Store) => Promise<Result>,
): Promise<Result> {
  if (existsSync(path.join(directory, 'holdfast.db'))) return withStore(directory, use);
  throw new HoldfastError(
    'RUN_NOT_FOUND',
    `No runs are stored in ${directory}. Name the folder of the store with --directory.`,
    { directory },
  );
}
