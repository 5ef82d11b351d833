/** The adapters that the kit and the tests of this room run over. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createFileMemory, createInMemoryMemory, type Memory } from 'holdfast';
import type { MemoryFactory } from 'holdfast/testing';

export const inMemoryFactory: MemoryFactory = () => {
  let memory: Memory | null = null;
  return {
    open: (options) => {
      memory ??= createInMemoryMemory(options);
      return memory;
    },
  };
};

export const fileFactory: MemoryFactory = () => {
  const directory = newDirectory();
  return {
    open: (options) => createFileMemory({ ...options, directory }),
    dispose: () => removeDirectory(directory),
  };
};

export const factories: readonly (readonly [string, MemoryFactory])[] = [
  ['in-memory', inMemoryFactory],
  ['file', fileFactory],
];

/** An empty directory of its own for a test. */
export function newDirectory(): string {
  return mkdtempSync(join(tmpdir(), 'holdfast-memory-'));
}

export function removeDirectory(directory: string): void {
  rmSync(directory, { recursive: true, force: true });
}
