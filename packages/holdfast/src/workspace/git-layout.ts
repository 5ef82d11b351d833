/** Where a worktree, its folder of git and what it shares with other worktrees are. */
import { type BigIntStats, lstatSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { runGit } from './git-command.ts';

/** Where and how long git may look. */
export interface GitCapture {
  /** Absolute. */
  readonly directory: string;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

/** How git names objects. */
export type ObjectFormat = 'sha1' | 'sha256';

/** A worktree and the folders that git keeps for it. */
export interface GitLayout {
  readonly format: ObjectFormat;
  /** Absolute: HEAD and the index of this worktree. */
  readonly gitDirectory: string;
  /** Absolute: what all worktrees of the repository share. For the main one it is the same. */
  readonly commonDirectory: string;
}

/** Inside a worktree, at its top (no prefix), the hash of its objects, its folder of git. */
const TOP_LEVEL = /^true\n\n(sha1|sha256)\n(.+)\n$/s;

/** null when the directory is not the top of a worktree. Throws `WORKSPACE_INSPECTION`. */
export async function findLayout(capture: GitCapture): Promise<GitLayout | null> {
  const asked = ['--is-inside-work-tree', '--show-prefix', '--show-object-format'];
  const args = ['rev-parse', ...asked, '--absolute-git-dir'];
  const [, format, gitDirectory = ''] =
    TOP_LEVEL.exec((await runGit({ ...capture, args })).toString('utf8')) ?? [];
  if (format !== 'sha1' && format !== 'sha256') return null;
  return { format, gitDirectory, commonDirectory: commonOf(gitDirectory) };
}

/** What stays the same when a file or folder is moved, and is never that of two at once. */
export function identityOf({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`;
}

/** The identity of a folder, behind links; null when it is none. */
export function folderIdentity(directory: string): string | null {
  const found = statSync(directory, { bigint: true, throwIfNoEntry: false });
  return found?.isDirectory() === true ? identityOf(found) : null;
}

/** The same of what stands at a path, behind links; '' when nothing does. */
export function identityAt(place: string | Buffer): string {
  const found = statSync(place, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? '' : identityOf(found);
}

/** What stands at a path itself, or nothing: also when what leads there is no folder. */
export function standingAt(place: string | Buffer): BigIntStats | undefined {
  try {
    return lstatSync(place, { bigint: true, throwIfNoEntry: false });
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
}

/** Whether an error of the file system says that there is nothing at the path. */
export function isAbsent(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : null;
  return code === 'ENOENT' || code === 'ENOTDIR';
}

function commonOf(gitDirectory: string): string {
  const file = path.join(gitDirectory, 'commondir');
  if (standingAt(file)?.isFile() !== true) return gitDirectory;
  return path.resolve(gitDirectory, readFileSync(file, 'utf8').trimEnd());
}
