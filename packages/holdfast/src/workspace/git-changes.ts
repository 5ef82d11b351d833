/**
 * Compares two captured worktrees.
 *
 * Invariant: a path that a snapshot does not list is, in worktree and index, what its HEAD holds;
 * and what a HEAD holds is told by the other snapshot, or by the difference of the two HEADs.
 */
import { gitBlobs } from './git-blobs.ts';
import { runGit } from './git-command.ts';
import { pathText } from './git-path.ts';
import type { GitCapture } from './git-snapshot.ts';
import { objectName } from './git-status.ts';
import { type LineList, lineDistance, lineList, noLines } from './line-list.ts';
import {
  HEAD_PATH,
  type WorkspaceChange,
  type WorkspaceChanges,
  type WorkspaceSnapshot,
} from './workspace-inspection.ts';

/** The two snapshots and where to ask for contents that git keeps. */
export interface GitComparison extends GitCapture {
  readonly before: WorkspaceSnapshot;
  readonly after: WorkspaceSnapshot;
}

interface PathState {
  readonly staged: string;
  readonly present: string;
  /** null when what is present stands in the object store. */
  readonly lines: LineList | null;
}

interface ChangedPath {
  readonly key: string;
  readonly before: PathState;
  readonly after: PathState;
}

/** What two HEADs hold at a path that differs between them. */
interface Moved {
  readonly before: string;
  readonly after: string;
}

const BLOB_NAME = /^1[02]\d{4} ([0-9a-f]+)$/;

/** What became of the worktree. Throws `WORKSPACE_INSPECTION`, or `ABORTED` by the signal. */
export async function compareWorktrees(comparison: GitComparison): Promise<WorkspaceChanges> {
  const { before, after } = comparison;
  const changed = changedPaths(comparison, await movedPaths(comparison));
  const blobs = await gitBlobs(comparison, wantedBlobs(changed));
  const changes = changed.map((path) => changeOf(path, blobs));
  const isMoved = before.commit !== after.commit || before.branch !== after.branch;
  const paths = changes.map(({ path }) => path);
  return {
    changes,
    paths: isMoved ? [...paths, HEAD_PATH] : paths,
    filesChanged: changes.length,
    linesChanged: changes.reduce((sum, { lines }) => sum + lines, 0),
  };
}

/** The difference of the HEADs, by path; empty when HEAD names the same commit. */
async function movedPaths(comparison: GitComparison): Promise<ReadonlyMap<string, Moved>> {
  const { before, after } = comparison;
  const moved = new Map<string, Moved>();
  if (before.commit === after.commit) return moved;
  const trees = [await treeOf(comparison, before), await treeOf(comparison, after)];
  const args = ['diff-tree', '-r', '-z', '--raw', '--no-renames', '--no-commit-id', ...trees];
  const items = (await runGit({ ...comparison, args })).toString('latin1').split('\0');
  for (let at = 0; at + 1 < items.length; at += 2) {
    const [oldMode = '', newMode = '', oldId = '', newId = ''] = (items[at] ?? '').split(' ');
    moved.set(items[at + 1] ?? '', {
      before: objectName(oldMode.slice(1), oldId),
      after: objectName(newMode, newId),
    });
  }
  return moved;
}

/** Before the first commit there is no tree: the empty one, which git knows, stands for it. */
async function treeOf(comparison: GitComparison, { commit }: WorkspaceSnapshot): Promise<string> {
  if (commit !== null) return commit;
  const args = ['hash-object', '-t', 'tree', '--stdin'];
  return (await runGit({ ...comparison, args, input: '' })).toString('latin1').trim();
}

function changedPaths(
  { before, after }: GitComparison,
  moved: ReadonlyMap<string, Moved>,
): readonly ChangedPath[] {
  const keys = new Set([...before.entries.keys(), ...after.entries.keys(), ...moved.keys()]);
  const changed: ChangedPath[] = [];
  for (const key of [...keys].sort()) {
    const old = stateOf(before, key, moved.get(key)?.before ?? after.entries.get(key)?.base);
    const now = stateOf(after, key, moved.get(key)?.after ?? before.entries.get(key)?.base);
    if (old.present === now.present && old.staged === now.staged) continue;
    changed.push({ key, before: old, after: now });
  }
  return changed;
}

function stateOf(snapshot: WorkspaceSnapshot, key: string, head = ''): PathState {
  return snapshot.entries.get(key) ?? { staged: head, present: head, lines: null };
}

function changeOf(path: ChangedPath, blobs: ReadonlyMap<string, LineList>): WorkspaceChange {
  const { key, before, after } = path;
  const inWorktree =
    before.present === after.present
      ? 0
      : lineDistance(presentLines(before, blobs), presentLines(after, blobs));
  const inIndex =
    before.staged === after.staged
      ? 0
      : lineDistance(linesOf(before.staged, blobs), linesOf(after.staged, blobs));
  return {
    path: pathText(key),
    kind: kindOf(before.present, after.present),
    lines: Math.max(inWorktree, inIndex),
  };
}

function kindOf(before: string, after: string): WorkspaceChange['kind'] {
  if (before === '' && after !== '') return 'added';
  return before !== '' && after === '' ? 'deleted' : 'modified';
}

function presentLines(state: PathState, blobs: ReadonlyMap<string, LineList>): LineList {
  return state.lines ?? linesOf(state.present, blobs);
}

function linesOf(name: string, blobs: ReadonlyMap<string, LineList>): LineList {
  const id = blobIdOf(name);
  if (id !== null) return blobs.get(id) ?? noLines;
  return name === '' ? noLines : lineList(Buffer.from(name));
}

/** The contents that the object store must be asked for. */
function wantedBlobs(changed: readonly ChangedPath[]): ReadonlySet<string> {
  const wanted = new Set<string>();
  for (const { before, after } of changed) {
    const names: string[] = [];
    if (before.staged !== after.staged) names.push(before.staged, after.staged);
    if (before.present !== after.present) {
      names.push(...[before, after].filter(({ lines }) => lines === null).map(presentOf));
    }
    for (const id of names.map(blobIdOf)) if (id !== null) wanted.add(id);
  }
  return wanted;
}

function presentOf({ present }: PathState): string {
  return present;
}

function blobIdOf(name: string): string | null {
  return BLOB_NAME.exec(name)?.[1] ?? null;
}
