/** Reads what a directory of memory files holds: names and sizes, never a link's target. */
import type { BigIntStats } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { type AnchoredDirectory, systemCode } from './anchored-directory.ts';
import { MEMORY_ROOT, memoryPathFault } from './memory-path.ts';
import type { MemoryFileInfo, MemoryTree } from './memory-tree.ts';

/** Begins the names of unfinished writes and of the lock; hidden, so no path reaches them. */
export const UNFINISHED = '.holdfast-';

export interface DiskTree extends MemoryTree {
  /** Names in the root that a change in progress has put there, or one that will never end. */
  readonly unfinished: readonly string[];
}

/** More files than any limit asks for are not counted to their end. */
const MAX_WALKED_FILES = 100_000;

interface Found {
  readonly files: Map<string, MemoryFileInfo>;
  readonly unsafe: string[];
  readonly unfinished: string[];
}

/**
 * Walks the whole directory. Names that no path of a memory can have are not part of it: hidden
 * ones, and those of other systems.
 */
export async function walkDisk(root: AnchoredDirectory): Promise<DiskTree> {
  const found: Found = { files: new Map(), unsafe: [], unfinished: [] };
  await walk(root, MEMORY_ROOT, found);
  return found;
}

async function walk(directory: AnchoredDirectory, path: string, found: Found): Promise<void> {
  const entries = await directory.entries();
  const files: string[] = [];
  for (const entry of entries) {
    const below = `${path}/${entry.name}`;
    if (path === MEMORY_ROOT && entry.name.startsWith(UNFINISHED)) {
      found.unfinished.push(entry.name);
    }
    if (memoryPathFault(below) !== null) continue;
    if (entry.isFile()) files.push(entry.name);
    else if (!entry.isDirectory()) found.unsafe.push(below);
  }
  if (found.files.size + files.length > MAX_WALKED_FILES) {
    throw new Error(`there are more than ${MAX_WALKED_FILES} files`);
  }
  await Promise.all(files.map((name) => addFile(directory, name, { path, found })));
  for (const entry of entries) {
    const below = `${path}/${entry.name}`;
    if (entry.isDirectory() && memoryPathFault(below) === null) {
      await within(directory, entry.name, (child) => walk(child, below, found));
    }
  }
}

async function addFile(
  directory: AnchoredDirectory,
  name: string,
  { path, found }: { readonly path: string; readonly found: Found },
): Promise<void> {
  const stats = await statOf(directory, name);
  if (stats === null) return;
  const info = { bytes: Number(stats.size), age: stats.mtimeNs };
  if (stats.isFile()) found.files.set(`${path}/${name}`, info);
  else found.unsafe.push(`${path}/${name}`);
}

/** Does `work` in a directory below; nothing where it is gone. */
async function within(
  directory: AnchoredDirectory,
  name: string,
  work: (child: AnchoredDirectory) => Promise<void>,
): Promise<void> {
  let child: AnchoredDirectory;
  try {
    child = await directory.child(name);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return;
    throw error;
  }
  try {
    await work(child);
  } finally {
    await child.close();
  }
}

/** What stands under a name itself (links are not followed), or null. */
export async function statOf(
  directory: AnchoredDirectory,
  name: string,
): Promise<BigIntStats | null> {
  try {
    return await lstat(directory.at(name), { bigint: true });
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return null;
    throw error;
  }
}
