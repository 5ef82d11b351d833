/**
 * The port through which an attempt's working directory is looked at, before and after it.
 *
 * Invariants: looking changes nothing; a snapshot holds all that a later comparison needs of the
 * worktree, so that the files may change or go meanwhile.
 */
import type { LineList } from './line-list.ts';

/** Stands among the changed paths when HEAD has moved to another commit or branch. */
export const HEAD_PATH = '@git/HEAD';

/** How one path of the worktree and of the index differed from HEAD. */
export interface WorkspaceEntry {
  /** What HEAD holds: mode and object id, or '' for nothing. The same form for the other two. */
  readonly base: string;
  readonly staged: string;
  readonly present: string;
  /** The lines of what is present. */
  readonly lines: LineList;
}

/** A worktree at one instant: HEAD, and every path that differed from it. */
export interface WorkspaceSnapshot {
  /** Absolute. */
  readonly directory: string;
  /** null before the first commit. */
  readonly commit: string | null;
  /** The branch that HEAD names; null when it names a commit. */
  readonly branch: string | null;
  /** By path, relative to `directory`, one character for each byte of its name. */
  readonly entries: ReadonlyMap<string, WorkspaceEntry>;
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
  /** The paths of `changes`, and `@git/HEAD` at their end when HEAD has moved. */
  readonly paths: readonly string[];
  /** How many files; `@git/HEAD` is none. */
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
  /** `directory` is absolute and the top level of a worktree. */
  capture(directory: string, signal: AbortSignal): Promise<WorkspaceSnapshot>;
  /** Both snapshots are of one directory and of this inspector. */
  compare(
    before: WorkspaceSnapshot,
    after: WorkspaceSnapshot,
    signal: AbortSignal,
  ): Promise<WorkspaceChanges>;
}
