/**
 * Makes one change of a memory on disk, while the lock of the directory is held.
 *
 * Invariants: a file is only ever put in its place whole (by link or rename), and its bytes and
 * names are synced before the command is answered; nothing is overwritten that was not looked at.
 *
 * Between memories the lock alone makes the look and the change one step; they never see the disk
 * change meanwhile. The looks right before a rename are for programs that do not take the lock:
 * they make it unlikely, not impossible, that such a program's write is lost.
 */
import { type BigIntStats, linkSync, lstatSync, renameSync, unlinkSync } from 'node:fs';
import { link, rename, rmdir, unlink } from 'node:fs/promises';
import { type AnchoredDirectory, systemCode } from './anchored-directory.ts';
import { LOCK } from './directory-lock.ts';
import { isSameFile, type UnfinishedFile, writeUnfinished } from './disk-text.ts';
import { type DiskTree, statOf } from './disk-walk.ts';
import { nameOf, namesOf, parentOf } from './memory-path.ts';
import type { MemoryChange } from './memory-plan.ts';

/** What a change is made on: the look at the disk that it was decided by. */
export interface DiskMoment {
  readonly root: AnchoredDirectory;
  readonly tree: DiskTree;
  /** The file that the command read. */
  readonly stamp: BigIntStats | null;
  /** A number that no earlier write of this memory used. */
  readonly number: number;
}

/** Thrown when the disk is not any more as it was looked at: look again, and decide again. */
export class DiskChanged extends Error {}

type Write = MemoryChange & { readonly kind: 'write' };
type Rename = MemoryChange & { readonly kind: 'rename' };

/** Codes that mean that somebody else has been here since the look. */
const CHANGED: ReadonlySet<string> = new Set([
  'ENOENT',
  'EEXIST',
  'ENOTEMPTY',
  'ENOTDIR',
  'EISDIR',
]);
/** Whoever leaves a write unfinished for an hour is gone. */
const ABANDONED_NS = 3_600_000_000_000n;

/** Throws `DiskChanged`, and what the system says. */
export async function makeChange(change: MemoryChange, moment: DiskMoment): Promise<void> {
  try {
    if (change.kind === 'write') await write(change, moment);
    else if (change.kind === 'delete') await deleteFiles(change.files, moment.root);
    else await move(change, moment.root);
  } catch (error) {
    if (CHANGED.has(systemCode(error))) throw new DiskChanged();
    throw error;
  }
}

async function write(change: Write, { root, tree, stamp, number }: DiskMoment): Promise<void> {
  const { path, text, isNew, evicted } = change;
  const after = [...tree.files.values()].reduce((max, { age }) => (age > max ? age : max), 0n);
  const unfinished = await writeUnfinished(root, { text, after }, number);
  // The name is ours until we give it up: from then on it may be another's.
  let isHeld = true;
  try {
    await inParentOf(root, path, 'made', async (parent) => {
      const place = parent.at(nameOf(path));
      if (isNew) {
        await removeEmpty(parent, nameOf(path));
        await link(root.at(unfinished.name), place);
      } else {
        // In one go: nothing of this process comes between the look and the change.
        const now = lstatSync(place, { bigint: true });
        if (stamp === null || !isSameFile(now, stamp)) throw new DiskChanged();
        renameSync(root.at(unfinished.name), place);
        isHeld = false;
      }
      await parent.sync();
    });
  } finally {
    if (isHeld) await root.remove(unfinished.name);
  }
  await removeAbandoned(root, tree, unfinished);
  if (evicted.length > 0) await deleteFiles(evicted, root, 'some');
}

/** What killed processes have left: writes that were never finished, and tickets of the lock. */
async function removeAbandoned(
  root: AnchoredDirectory,
  { unfinished }: DiskTree,
  { writtenAt }: UnfinishedFile,
): Promise<void> {
  for (const name of unfinished) {
    const stats = await statOf(root, name);
    if (stats === null || name === LOCK || writtenAt - stats.mtimeNs <= ABANDONED_NS) continue;
    if (stats.isFile()) await root.remove(name);
    else if (stats.isDirectory()) await removeTicket(root, name);
  }
}

/** One who waited for the lock and was killed. */
async function removeTicket(root: AnchoredDirectory, name: string): Promise<void> {
  const ticket = await root.child(name);
  try {
    for (const entry of await ticket.entries()) await ticket.remove(entry.name);
  } finally {
    await ticket.close();
  }
  await rmdir(root.at(name));
}

/** Deletes files; of `all` that were asked for at least one must still have been there. */
async function deleteFiles(
  paths: readonly string[],
  root: AnchoredDirectory,
  wanted: 'all' | 'some' = 'all',
): Promise<void> {
  let deleted = 0;
  for (const path of paths) {
    try {
      await inParentOf(root, path, 'found', async (parent) => {
        await unlink(parent.at(nameOf(path)));
        await parent.sync();
      });
      deleted += 1;
    } catch (error) {
      if (systemCode(error) !== 'ENOENT') throw error;
    }
    await removeEmptyAbove(root, path);
  }
  if (deleted === 0 && wanted === 'all') throw new DiskChanged();
}

async function move({ from, to, isDirectory }: Rename, root: AnchoredDirectory): Promise<void> {
  await inParentOf(root, from, 'found', (source) =>
    inParentOf(root, to, 'made', async (target) => {
      const [before, after] = [source.at(nameOf(from)), target.at(nameOf(to))];
      await removeEmpty(target, nameOf(to));
      if (isDirectory) {
        // Refused by the system where a file, or a directory with something in it, stands.
        await rename(before, after);
      } else {
        // A link is refused where something stands; a rename would take its place. In one go, so
        // that no edit of this process is lost between the two.
        linkSync(before, after);
        unlinkSync(before);
      }
      await target.sync();
      await source.sync();
    }),
  );
  await removeEmptyAbove(root, from);
}

/** Does `work` in the directory that `path` stands in. */
async function inParentOf(
  root: AnchoredDirectory,
  path: string,
  how: 'found' | 'made',
  work: (parent: AnchoredDirectory) => Promise<void>,
): Promise<void> {
  const opened: AnchoredDirectory[] = [];
  try {
    let parent = root;
    for (const name of namesOf(path).slice(0, -1)) {
      parent = await (how === 'made' ? parent.madeChild(name) : parent.child(name));
      opened.push(parent);
    }
    await work(parent);
  } finally {
    await Promise.all(opened.map((directory) => directory.close()));
  }
}

/** Removes the directories above `path` that hold nothing any more, from the lowest up. */
async function removeEmptyAbove(root: AnchoredDirectory, path: string): Promise<void> {
  for (let above = parentOf(path); namesOf(above).length > 0; above = parentOf(above)) {
    try {
      await inParentOf(root, above, 'found', async (parent) => {
        await rmdir(parent.at(nameOf(above)));
        await parent.sync();
      });
    } catch (error) {
      if (!CHANGED.has(systemCode(error))) throw error;
    }
  }
}

/** Removes what a crash left of a directory: no memory has directories without files. */
async function removeEmpty(parent: AnchoredDirectory, name: string): Promise<void> {
  if (!(await statOf(parent, name))?.isDirectory()) return;
  const directory = await parent.child(name);
  try {
    for (const entry of await directory.entries()) {
      if (entry.isDirectory()) await removeEmpty(directory, entry.name);
    }
  } finally {
    await directory.close();
  }
  try {
    await rmdir(parent.at(name));
  } catch (error) {
    if (!CHANGED.has(systemCode(error))) throw error;
  }
}
