/** The adapters that the kits and the tests of this room run over. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLocalRunStorage } from 'holdfast/storage/local';
import { createMemoryBacking, createMemoryRunStorage } from 'holdfast/storage/memory';
import type { StorageFactory } from 'holdfast/testing';

export const memoryFactory: StorageFactory = () => {
  const backing = createMemoryBacking();
  return { open: (options) => createMemoryRunStorage({ ...options, backing }) };
};

export const localFactory: StorageFactory = () => {
  const directory = newDirectory();
  return {
    open: (options) => createLocalRunStorage({ ...options, directory }),
    dispose: () => removeDirectory(directory),
  };
};

export const factories: readonly (readonly [string, StorageFactory])[] = [
  ['memory', memoryFactory],
  ['sqlite', localFactory],
];

/** An empty directory of its own for a test. */
export function newDirectory(): string {
  return mkdtempSync(join(tmpdir(), 'holdfast-store-'));
}

export function removeDirectory(directory: string): void {
  rmSync(directory, { recursive: true, force: true });
}
