/** Looks at git worktrees, with the `git` of the machine. */
import { assert } from '../base/assert.ts';
import { HoldfastError } from '../base/errors.ts';
import { compareWorktrees } from './git-changes.ts';
import { type GitLook, lookAtWorktree, snapshotOf } from './git-snapshot.ts';
import type { WorkspaceInspector, WorkspaceSnapshot } from './workspace-inspection.ts';

export interface GitInspectorOptions {
  /**
   * How long one call of git may take, and how long the files of a worktree may be read, in
   * milliseconds. 60,000 by default.
   */
  readonly timeoutMs?: number;
  /**
   * How long ago a file must have been changed, in milliseconds, for its stamp (device, inode,
   * times, size and mode) to stand for its content in the next look; a file that is younger is
   * read again. 2,000 by default, which the coarsest times of file systems keep to. Give
   * `Number.MAX_SAFE_INTEGER` to have every file read, where the file system does not itself set
   * the time of the last change.
   */
  readonly settleMs?: number;
}

const DEFAULT_TIMEOUT_MS = 60_000;
const DEFAULT_SETTLE_MS = 2_000;
const NANOSECONDS = 1_000_000n;
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/**
 * An inspector of git worktrees. It does not ask `git status`, which believes what the repository
 * says: it walks the worktree itself and digests every file that is not ignored, and reads the
 * index, the refs, the settings, the hooks and whatever else git goes by. A file is read once; it
 * is read again when its stamp has changed.
 *
 * What is ignored is told by the rules of the snapshot before. The page `docs/workspace.md` says
 * what is not seen. No hook, filter or file monitor of the repository is run. Throws
 * `INVALID_OPTION`.
 *
 * @example
 * const inspector = createGitInspector();
 * const before = await inspector.capture('/srv/repo', signal);
 */
export function createGitInspector(options: GitInspectorOptions = {}): WorkspaceInspector {
  const { timeoutMs = DEFAULT_TIMEOUT_MS, settleMs = DEFAULT_SETTLE_MS } = options;
  requireWhole('timeoutMs', timeoutMs, { least: 1, most: MAX_TIMEOUT_MS });
  requireWhole('settleMs', settleMs, { least: 0, most: Number.MAX_SAFE_INTEGER });
  const settleNs = BigInt(settleMs) * NANOSECONDS;
  const looks = new WeakMap<WorkspaceSnapshot, GitLook>();
  /** The last look saves the next one most of its reading. */
  let last: { readonly directory: string; readonly look: GitLook } | null = null;
  return {
    async capture(directory, signal, since) {
      const before = since === undefined ? null : looks.get(since);
      assert(before !== undefined, 'a worktree is looked at since a snapshot of this inspector');
      const known = before ?? (last?.directory === directory ? last.look : null);
      const capture = { directory, signal, timeoutMs };
      const look = await lookAtWorktree({ capture, since: before, known, settleNs });
      const snapshot = snapshotOf(directory, look);
      looks.set(snapshot, look);
      last = { directory, look };
      return snapshot;
    },
    compare(before, after, signal) {
      const { directory } = after;
      assert(before.directory === directory, 'two snapshots of one directory are compared');
      return compareWorktrees({ before, after, directory, signal, timeoutMs });
    },
  };
}

interface Range {
  readonly least: number;
  readonly most: number;
}

function requireWhole(option: string, value: number, { least, most }: Range): void {
  if (Number.isSafeInteger(value) && value >= least && value <= most) return;
  const text = `${option} must be a whole number from ${least} to ${most}, not ${value}.`;
  throw new HoldfastError('INVALID_OPTION', text, { option });
}
