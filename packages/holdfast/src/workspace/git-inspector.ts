/** Looks at git worktrees, with the `git` of the machine. */
import { assert } from '../base/assert.ts';
import { HoldfastError } from '../base/errors.ts';
import { compareWorktrees } from './git-changes.ts';
import { captureWorktree } from './git-snapshot.ts';
import type { WorkspaceInspector } from './workspace-inspection.ts';

export interface GitInspectorOptions {
  /** How long one call of git may take, in milliseconds. 60,000 by default. */
  readonly timeoutMs?: number;
}

const DEFAULT_TIMEOUT_MS = 60_000;
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/**
 * An inspector of git worktrees. The work is bounded by what `git status` lists and by what differs
 * between two HEADs: files that are changed or untracked are read, all others are not.
 *
 * Not seen: ignored files, files that the index marks as assumed unchanged or skipped, and what
 * is in the folder `.git` beside HEAD and the index. A file that becomes ignored counts as deleted.
 * As `git status` does, it runs the content filters that the repository configures, but no hook.
 * Throws `INVALID_OPTION`.
 *
 * @example
 * const inspector = createGitInspector();
 * const before = await inspector.capture('/srv/repo', signal);
 */
export function createGitInspector(options: GitInspectorOptions = {}): WorkspaceInspector {
  const { timeoutMs = DEFAULT_TIMEOUT_MS } = options;
  if (!Number.isSafeInteger(timeoutMs) || timeoutMs < 1 || timeoutMs > MAX_TIMEOUT_MS) {
    const text = `timeoutMs must be a whole number from 1 to ${MAX_TIMEOUT_MS}, not ${timeoutMs}.`;
    throw new HoldfastError('INVALID_OPTION', text, { option: 'timeoutMs' });
  }
  return {
    capture(directory, signal) {
      return captureWorktree({ directory, signal, timeoutMs });
    },
    compare(before, after, signal) {
      const { directory } = after;
      assert(before.directory === directory, 'two snapshots of one directory are compared');
      return compareWorktrees({ before, after, directory, signal, timeoutMs });
    },
  };
}
