/**
 * The port through which an attempt's working directory is looked at, before and after it.
 *
 * Invariants: looking changes nothing; a snapshot holds all that a later comparison needs of the
 * worktree, so that the files may change or go meanwhile.
 */
import type { LineList } from './line-list.ts';

/** Stands among the changed paths when HEAD has moved to another commit or branch. */
export const HEAD_PATH = '@git/HEAD';

/** How the names begin by which what git goes by stands among the changed paths. */
export const GIT_PATHS = '@git/';

/** One path of the worktree or of the index. */
export interface WorkspaceEntry {
  /** What the index holds: mode and object id; '' for nothing. */
  readonly staged: string;
  /** How the index marks it: the letter of `git ls-files -v`; '' for nothing. */
  readonly mark: string;
  /** What is on disk: kind, mode and a digest of the bytes; '' for nothing. */
  readonly present: string;
  /** The lines of what is present; null when it is nothing or the object store has them. */
  readonly lines: LineList | null;
  /** The object that has them. */
  readonly stored: string | null;
}

/** A worktree at one instant: HEAD, every path that is not ignored, and what git goes by. */
export interface WorkspaceSnapshot {
  /** Absolute. */
  readonly directory: string;
  /** null before the first commit. */
  readonly commit: string | null;
  /** The branch that HEAD names; null when it names a commit. */
  readonly branch: string | null;
  /** By path, relative to `directory`, one character for each byte of its name. */
  readonly entries: ReadonlyMap<string, WorkspaceEntry>;
  /** Refs, settings, hooks and other files of git by their names, without `@git/`. */
  readonly controls: ReadonlyMap<string, string>;
  /** The refs on which other worktrees of the repository stand. */
  readonly elsewhere: ReadonlySet<string>;
}

/** One path that is not what it was. */
export interface WorkspaceChange {
  /** Relative, with `/`; a byte that is no UTF-8 is written `\xHH`. */
  readonly path: string;
  readonly kind: 'added' | 'modified' | 'deleted';
  /** Lines added and removed; see `WorkspaceChanges.linesChanged`. */
  readonly lines: number;
}

/** What became of a worktree between two snapshots. */
export interface WorkspaceChanges {
  /** In the order of their names. A renamed file is one deleted and one added. */
  readonly changes: readonly WorkspaceChange[];
  /**
   * The paths of `changes`; behind them `@git/HEAD` when HEAD has moved, and `@git/` with a name
   * for each ref, setting, hook and other file of git that has changed.
   */
  readonly paths: readonly string[];
  /** How many files; what begins with `@git/` is none. */
  readonly filesChanged: number;
  /**
   * Lines added and lines removed, of all changed paths. For each path the larger of what changed
   * in the worktree and what changed in the index counts. A binary file, the target of a symbolic
   * link and a nested repository are one line each, so that changing one counts two, adding or
   * removing it one. A mode counts nothing, nor does the kind of line end (CRLF or LF). In a file
   * where more than some 5,000 lines changed their order, not all of these count.
   */
  readonly linesChanged: number;
}

/** Looks at worktrees. Every method throws `WORKSPACE_INSPECTION`, and `ABORTED` by its signal. */
export interface WorkspaceInspector {
  /**
   * `directory` is absolute and the top level of a worktree. With `since`, an earlier snapshot of
   * the directory, the look goes by what was ignored and what was a nested repository then: what
   * became one since hides nothing. Without it the look believes the rules it finds.
   */
  capture(
    directory: string,
    signal: AbortSignal,
    since?: WorkspaceSnapshot,
  ): Promise<WorkspaceSnapshot>;
  /** Both snapshots are of one directory and of this inspector. */
  compare(
    before: WorkspaceSnapshot,
    after: WorkspaceSnapshot,
    signal: AbortSignal,
  ): Promise<WorkspaceChanges>;
}
