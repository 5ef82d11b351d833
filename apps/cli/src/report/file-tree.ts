/** The files of one commit with their sizes. */
import { bounded, counted, type LargeFile, type Sizes } from './facts.ts';
import { gitItems } from './git.ts';
import type { Repository } from './repository.ts';

export interface TreeFile {
  readonly path: string;
  /** The id of its content. */
  readonly id: string;
  readonly bytes: number;
}

const LARGEST_FILES = 8;

/** Calls `take` with every regular file of the commit, in the order of their paths. */
export async function eachFile(
  { repository, head }: Repository,
  signal: AbortSignal,
  take: (file: TreeFile) => void,
): Promise<void> {
  if (head === null) return;
  const args = ['ls-tree', '-r', '-l', '-z', '--full-tree', head];
  await gitItems({ repository, args, signal }, '\0', (item) => {
    const match = /^\d+ blob ([0-9a-f]+) +(\d+)\t(.+)$/s.exec(item);
    const [, id, bytes, path] = match ?? [];
    if (id !== undefined && path !== undefined) take({ path, id, bytes: Number(bytes) });
    return true;
  });
}

/** The largest files, and what all of them weigh. */
export async function fileSizes(of: Repository, signal: AbortSignal): Promise<Sizes> {
  let files = 0;
  let bytes = 0;
  let largest: LargeFile[] = [];
  await eachFile(of, signal, (file) => {
    files += 1;
    bytes += file.bytes;
    const least = largest.at(-1)?.bytes ?? -1;
    if (largest.length >= LARGEST_FILES && file.bytes <= least) return;
    const listed = { path: bounded(file.path, 200), bytes: file.bytes };
    largest = [...largest, listed].sort((a, b) => b.bytes - a.bytes).slice(0, LARGEST_FILES);
  });
  const summary = `${counted(files, 'file')}, ${sizeText(bytes)}`;
  return { files, bytes, largest, summary };
}

/** @example sizeText(2_500_000) // '2.5 MB' */
export function sizeText(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let size = bytes;
  let unit = 0;
  while (size >= 1_000 && unit < units.length - 1) {
    size /= 1_000;
    unit += 1;
  }
  return `${unit === 0 ? size : size.toFixed(1)} ${units[unit]}`;
}
