/**
 * Compares two captured worktrees.
 *
 * Invariant: each snapshot names all that it saw, so that what stands in one and not in the other
 * was added or deleted; what is the same to git but other bytes on disk is a change.
 */
import { gitBlobs } from './git-blobs.ts';
import type { GitCapture } from './git-layout.ts';
import { pathText } from './git-path.ts';
import { type LineList, lineDistance, lineList, noLines } from './line-list.ts';
import {
  GIT_PATHS,
  HEAD_PATH,
  type WorkspaceChange,
  type WorkspaceChanges,
  type WorkspaceEntry,
  type WorkspaceSnapshot,
} from './workspace-inspection.ts';

/** The two snapshots and where to ask for contents that git keeps. */
export interface GitComparison extends GitCapture {
  readonly before: WorkspaceSnapshot;
  readonly after: WorkspaceSnapshot;
}

interface ChangedPath {
  readonly key: string;
  readonly before: WorkspaceEntry;
  readonly after: WorkspaceEntry;
}

const NOTHING: WorkspaceEntry = { staged: '', mark: '', present: '', lines: null, stored: null };
const BLOB_NAME = /^1[02]\d{4} ([0-9a-f]+)$/;

/** What became of the worktree. Throws `WORKSPACE_INSPECTION`, or `ABORTED` by the signal. */
export async function compareWorktrees(comparison: GitComparison): Promise<WorkspaceChanges> {
  const changed = changedPaths(comparison);
  const blobs = await gitBlobs(comparison, wantedBlobs(changed));
  const changes = changed.map((path) => changeOf(path, blobs));
  return {
    changes,
    paths: [...changes.map(({ path }) => path), ...changedControls(comparison)],
    filesChanged: changes.length,
    linesChanged: changes.reduce((sum, { lines }) => sum + lines, 0),
  };
}

function changedPaths({ before, after }: GitComparison): readonly ChangedPath[] {
  const changed: ChangedPath[] = [];
  for (const key of [...new Set([...before.entries.keys(), ...after.entries.keys()])].sort()) {
    const old = before.entries.get(key) ?? NOTHING;
    const now = after.entries.get(key) ?? NOTHING;
    const isSame =
      old.present === now.present && old.staged === now.staged && old.mark === now.mark;
    if (!isSame) changed.push({ key, before: old, after: now });
  }
  return changed;
}

/** HEAD, then by name what else git goes by. */
function changedControls({ before, after }: GitComparison): readonly string[] {
  const isMoved = before.commit !== after.commit || before.branch !== after.branch;
  const known = new Set(before.elsewhere);
  // What HEAD names moves with it.
  if (isMoved) for (const { branch } of [before, after]) known.add(`refs/heads/${branch}`);
  const changed: string[] = [];
  for (const name of new Set([...before.controls.keys(), ...after.controls.keys()])) {
    const old = before.controls.get(name);
    if (old === after.controls.get(name) || known.has(name)) continue;
    // A new branch for a new worktree is of that worktree.
    if (old === undefined && after.elsewhere.has(name)) continue;
    changed.push(GIT_PATHS + name);
  }
  return [...(isMoved ? [HEAD_PATH] : []), ...changed.sort()];
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
    kind: kindOf(before, after),
    lines: Math.max(inWorktree, inIndex),
  };
}

function kindOf(before: WorkspaceEntry, after: WorkspaceEntry): WorkspaceChange['kind'] {
  if (before.present === '' && (after.present !== '' || before.staged === '')) return 'added';
  const isGone = after.present === '' && (before.present !== '' || after.staged === '');
  return isGone ? 'deleted' : 'modified';
}

function presentLines(
  { lines, stored }: WorkspaceEntry,
  blobs: ReadonlyMap<string, LineList>,
): LineList {
  return lines ?? (stored === null ? noLines : (blobs.get(stored) ?? noLines));
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
    const ids: (string | null)[] = [];
    if (before.staged !== after.staged) ids.push(blobIdOf(before.staged), blobIdOf(after.staged));
    if (before.present !== after.present) ids.push(before.stored, after.stored);
    for (const id of ids) if (id !== null) wanted.add(id);
  }
  return wanted;
}

function blobIdOf(name: string): string | null {
  return BLOB_NAME.exec(name)?.[1] ?? null;
}
