/** Whether a write has room, and which files are given up for it. */
import type { MemoryRules } from './memory-options.ts';
import { bytesOf, type MemoryTree } from './memory-tree.ts';
import { Refusal } from './refusal.ts';

/**
 * The files that a write of `bytes` to `path` gives up, longest unwritten first, or a refusal.
 *
 * A file that grows nothing is always let through: after its limits were lowered a memory can
 * still be made smaller, step by step.
 */
export function roomFor(
  write: { readonly path: string; readonly bytes: number },
  tree: MemoryTree,
  rules: MemoryRules,
): readonly string[] | Refusal {
  const { path, bytes } = write;
  const { maxFileBytes, maxTotalBytes, maxFiles } = rules.limits;
  const before = tree.files.get(path);
  if (before !== undefined && bytes <= before.bytes) return [];
  const largest = Math.min(maxFileBytes, maxTotalBytes);
  if (bytes > largest) return over(path, `the file would have ${bytes} bytes`, largest);
  const others = [...tree.files.keys()].filter((other) => other !== path);
  let total = bytesOf(tree, others) + bytes;
  let count = others.length + 1;
  const evicted: string[] = [];
  const oldest = rules.evicts ? others.sort(byAge(tree)) : [];
  const isFull = (): boolean => total > maxTotalBytes || (before === undefined && count > maxFiles);
  for (const other of oldest) {
    if (!isFull()) break;
    evicted.push(other);
    total -= tree.files.get(other)?.bytes ?? 0;
    count -= 1;
  }
  if (!isFull()) return evicted;
  return total > maxTotalBytes
    ? over(path, `all files together would have ${total} bytes`, maxTotalBytes)
    : over(path, `there would be ${count} files`, maxFiles);
}

function byAge({ files }: MemoryTree): (one: string, other: string) => number {
  return (one, other) => {
    const [first, second] = [files.get(one)?.age ?? 0n, files.get(other)?.age ?? 0n];
    if (first !== second) return first < second ? -1 : 1;
    return one < other ? -1 : 1;
  };
}

function over(path: string, what: string, limit: number): Refusal {
  const message = `${path} has no room: ${what}, the limit is ${limit}. Delete or shorten files.`;
  return new Refusal('LIMIT_EXCEEDED', message, { path, details: { limit } });
}
