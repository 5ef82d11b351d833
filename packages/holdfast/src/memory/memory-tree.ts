/**
 * What a memory holds at one moment: its files by path.
 *
 * Invariant: a directory exists while a file stands below it; the root always does.
 */
import { isBelow, MEMORY_ROOT, namesOf } from './memory-path.ts';
import type { MemoryEntry } from './memory-values.ts';

export interface MemoryFileInfo {
  readonly bytes: number;
  /** Grows with every write to any file, so that the smallest is the file written longest ago. */
  readonly age: bigint;
}

export interface MemoryTree {
  readonly files: ReadonlyMap<string, MemoryFileInfo>;
  /** What stands in the storage under a path of the memory and is neither file nor directory. */
  readonly unsafe: readonly string[];
}

/** What stands at `path`. */
export function kindAt({ files }: MemoryTree, path: string): 'file' | 'directory' | null {
  if (files.has(path)) return 'file';
  if (path === MEMORY_ROOT) return 'directory';
  for (const file of files.keys()) if (isBelow(file, path)) return 'directory';
  return null;
}

/** The paths of the file at `path`, or of all files below it, sorted. */
export function filesAt({ files }: MemoryTree, path: string): readonly string[] {
  return [...files.keys()].filter((file) => file === path || isBelow(file, path)).sort();
}

/** A file that stands where `path` needs a directory, or null. */
export function fileAbove({ files }: MemoryTree, path: string): string | null {
  let above = MEMORY_ROOT;
  for (const name of namesOf(path).slice(0, -1)) {
    above += `/${name}`;
    if (files.has(above)) return above;
  }
  return null;
}

/** Something unsafe at, above or below `path`, or null. */
export function unsafeNear({ unsafe }: MemoryTree, path: string): string | null {
  const near = (other: string): boolean =>
    other === path || isBelow(other, path) || isBelow(path, other);
  return unsafe.find(near) ?? null;
}

/** The bytes of these files together. */
export function bytesOf({ files }: MemoryTree, paths: Iterable<string>): number {
  let bytes = 0;
  for (const path of paths) bytes += files.get(path)?.bytes ?? 0;
  return bytes;
}

/** What stands in a directory, sorted by path. */
export function entriesOf(tree: MemoryTree, directory: string): readonly MemoryEntry[] {
  const entries = new Map<string, MemoryEntry>();
  for (const file of filesAt(tree, directory)) {
    const bytes = tree.files.get(file)?.bytes ?? 0;
    const [name = ''] = file.slice(directory.length + 1).split('/');
    const path = `${directory}/${name}`;
    const known = entries.get(path);
    if (path === file) entries.set(path, { kind: 'file', path, bytes });
    else if (known?.kind !== 'directory') {
      entries.set(path, { kind: 'directory', path, bytes, files: 1 });
    } else {
      entries.set(path, { ...known, bytes: known.bytes + bytes, files: known.files + 1 });
    }
  }
  return [...entries.values()].sort((one, other) => (one.path < other.path ? -1 : 1));
}
