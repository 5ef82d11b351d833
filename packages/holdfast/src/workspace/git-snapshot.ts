/**
 * Captures a worktree: HEAD, and every path that git's status lists, by its content.
 *
 * Invariants: a content is named as git names it (mode and object id, after git's own filters), so
 * that a committed and an uncommitted content compare; nothing is written, into the repository
 * neither; a nested repository is one path, whose name tells its HEAD and all that differs from it.
 */
import { createHash } from 'node:crypto';
import { lstat } from 'node:fs/promises';
import { inspectionFailed, runGit } from './git-command.ts';
import { pathOnDiskText, pathText, quotedPath } from './git-path.ts';
import {
  objectName,
  parseStatus,
  REPOSITORY_MODE,
  type StatusPath,
  statusArgs,
} from './git-status.ts';
import { type LineList, lineList, noLines } from './line-list.ts';
import type { WorkspaceEntry, WorkspaceSnapshot } from './workspace-inspection.ts';
import { type WorktreeFile, WorktreeReader } from './worktree-file.ts';

/** Where and how long git may look. */
export interface GitCapture {
  /** Absolute. */
  readonly directory: string;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

type ObjectFormat = 'sha1' | 'sha256';

/** What is on disk at a path; a file's name is known only when git has hashed it. */
interface Present {
  readonly name: string | null;
  readonly mode: string;
  readonly lines: LineList;
}

/** Inside a worktree, at its top (no prefix), and the hash of its objects. */
const TOP_LEVEL = /^true\n\n(sha1|sha256)\n$/;

/** The worktree as it is now. Throws `WORKSPACE_INSPECTION`, or `ABORTED` by the signal. */
export async function captureWorktree(capture: GitCapture): Promise<WorkspaceSnapshot> {
  await requireFolder(capture.directory);
  const format = await objectFormat(capture);
  if (format === null) {
    throw inspectionFailed(capture.directory, 'it is not the top folder of a git worktree.');
  }
  return captureTop(capture, format);
}

async function captureTop(capture: GitCapture, format: ObjectFormat): Promise<WorkspaceSnapshot> {
  const { directory } = capture;
  const output = await runGit({ ...capture, args: statusArgs });
  const { commit, branch, paths } = parseStatus(directory, output);
  const found = await presentPaths(capture, format, paths);
  const names = await hashFiles(capture, found);
  const entries = new Map<string, WorkspaceEntry>();
  for (const [key, { base, staged }] of paths) {
    const { lines = noLines } = found.get(key) ?? {};
    entries.set(key, { base, staged, present: names.get(key) ?? '', lines });
  }
  return { directory, commit, branch, entries };
}

async function requireFolder(directory: string): Promise<void> {
  // spawn would say that git is missing.
  const found = await lstat(`${directory}/.`).catch((error: unknown) => {
    throw inspectionFailed(directory, 'there is no such folder, or it may not be read.', error);
  });
  if (!found.isDirectory()) throw inspectionFailed(directory, 'it is no folder.');
}

/** null when the folder is not the top of a worktree. */
async function objectFormat(capture: GitCapture): Promise<ObjectFormat | null> {
  const args = ['rev-parse', '--is-inside-work-tree', '--show-prefix', '--show-object-format'];
  const said = (await runGit({ ...capture, args })).toString('latin1');
  const format = TOP_LEVEL.exec(said)?.[1];
  return format === 'sha1' || format === 'sha256' ? format : null;
}

async function presentPaths(
  capture: GitCapture,
  format: ObjectFormat,
  paths: ReadonlyMap<string, StatusPath>,
): Promise<ReadonlyMap<string, Present>> {
  const reader = new WorktreeReader(capture.directory, capture.signal);
  const found = new Map<string, Present>();
  for (const [key, status] of paths) {
    const file = await reader.read(key);
    if (file.kind !== 'folder') found.set(key, presentFile(file, status, format));
    else if (status.isRepository) found.set(key, await presentRepository(capture, key, status));
  }
  return found;
}

function presentFile(file: WorktreeFile, status: StatusPath, format: ObjectFormat): Present {
  if (file.kind === 'link') {
    const name = objectName('120000', blobId(file.target, format));
    return { name, mode: '', lines: lineList(file.target) };
  }
  if (file.kind === 'file') {
    return { name: null, mode: fileMode(file.isExecutable, status), lines: file.lines };
  }
  return { name: file.kind === 'special' ? 'special' : '', mode: '', lines: noLines };
}

/** git's own view of the mode: where modes are not kept it is the index that tells. */
function fileMode(isExecutable: boolean, { presentMode }: StatusPath): string {
  if (presentMode === '100644' || presentMode === '100755') return presentMode;
  return isExecutable ? '100755' : '100644';
}

async function presentRepository(
  capture: GitCapture,
  key: string,
  status: StatusPath,
): Promise<Present> {
  const directory = pathOnDiskText(capture.directory, key);
  if (directory === null) {
    const why = `the nested repository ${pathText(key)} has a name that is no UTF-8.`;
    throw inspectionFailed(capture.directory, why);
  }
  const inner = { ...capture, directory };
  const format = await objectFormat(inner);
  // A submodule without a checkout stands where the index says.
  const name = format === null ? status.staged : await repositoryName(inner, format);
  return { name, mode: '', lines: lineList(Buffer.from(name)) };
}

/** The commit alone, as for a clean submodule, and a digest of all that differs from it. */
async function repositoryName(inner: GitCapture, format: ObjectFormat): Promise<string> {
  const { commit, entries } = await captureTop(inner, format);
  const hash = createHash('sha256');
  for (const key of [...entries.keys()].sort()) {
    const entry = entries.get(key);
    hash.update(`${JSON.stringify([key, entry?.staged, entry?.present])}\n`);
  }
  const difference = entries.size === 0 ? '' : `+${hash.digest('hex')}`;
  return objectName(REPOSITORY_MODE, `${commit ?? ''}${difference}`);
}

/** The names of what is present: git hashes files, since a filter may stand before an object. */
async function hashFiles(
  capture: GitCapture,
  found: ReadonlyMap<string, Present>,
): Promise<ReadonlyMap<string, string>> {
  const names = new Map<string, string>();
  const files: string[] = [];
  for (const [key, { name }] of found) {
    if (name === null) files.push(key);
    else names.set(key, name);
  }
  if (files.length === 0) return names;
  const input = `${files.map(quotedPath).join('\n')}\n`;
  const args = ['hash-object', '--stdin-paths'];
  const ids = (await runGit({ ...capture, args, input })).toString('latin1').split('\n');
  for (const [index, key] of files.entries()) {
    names.set(key, objectName(found.get(key)?.mode ?? '', ids[index] ?? ''));
  }
  return names;
}

function blobId(content: Buffer, format: ObjectFormat): string {
  return createHash(format).update(`blob ${content.length}\0`).update(content).digest('hex');
}
