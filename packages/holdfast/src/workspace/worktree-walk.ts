/**
 * Finds every path of a worktree that is not ignored, with our own eyes: folder by folder, and all
 * that the index names, whatever git is told to look away from.
 */
import { type BigIntStats, readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { type IgnoreShadow, RULES_NAME } from './git-ignore.ts';
import { type GitCapture, standingAt } from './git-layout.ts';
import { keyIn, pathOnDisk } from './git-path.ts';

/** What a walk goes by. */
export interface WalkScope {
  readonly capture: GitCapture;
  /** Paths that are looked at wherever they are, since git tracks them or an earlier look did. */
  readonly named: ReadonlySet<string>;
  readonly shadow: IgnoreShadow;
  /** Whether the rules that are met on the way hold. */
  readonly mayAddRules: boolean;
  /** Whether the folder is a nested repository, which is one path and not walked. */
  readonly isRepository: (key: string) => Promise<boolean>;
}

/** What stands in a worktree. */
export interface WalkedPaths {
  /** All but folders, and folders of git that belong to no known repository. */
  readonly files: ReadonlyMap<string, BigIntStats>;
  readonly repositories: readonly string[];
  /** The content of each file of rules that was met, by its folder. */
  readonly rules: ReadonlyMap<string, Buffer>;
}

type Standing = readonly [key: string, found: BigIntStats];

const GIT_NAME = '.git';

/** Throws what the file system throws, `WORKSPACE_INSPECTION`, and `ABORTED` by the signal. */
export async function walkWorktree(scope: WalkScope): Promise<WalkedPaths> {
  const files = new Map<string, BigIntStats>();
  const repositories: string[] = [];
  const rules = new Map<string, Buffer>();
  const open = foldersOf(scope.named);
  let folders: readonly string[] = [''];
  while (folders.length > 0) {
    const level = await levelBelow(scope, folders);
    for (const [key, found] of level) if (isRules(key) && found.isFile()) meet(scope, key, rules);
    const next: string[] = [];
    for (const [key, found] of await withoutIgnored(scope, level, open)) {
      if (!found.isDirectory() || isGitFolder(key)) files.set(key, found);
      else if (await scope.isRepository(key)) repositories.push(key);
      else next.push(key);
    }
    folders = next;
  }
  addNamed(scope, files);
  return { files, repositories, rules };
}

/** What stands directly in the folders. */
async function levelBelow(
  scope: WalkScope,
  folders: readonly string[],
): Promise<readonly Standing[]> {
  const { directory, signal } = scope.capture;
  const level: Standing[] = [];
  for (const folder of folders) {
    signal.throwIfAborted();
    for (const name of await readdir(pathOnDisk(directory, folder), { encoding: 'buffer' })) {
      const key = keyIn(folder, name.toString('latin1'));
      const found = key === GIT_NAME ? undefined : standingAt(pathOnDisk(directory, key));
      if (found !== undefined) level.push([key, found]);
    }
  }
  return level;
}

/** Rules hold for what stands beside them already. */
function meet(scope: WalkScope, key: string, rules: Map<string, Buffer>): void {
  const folder = key.slice(0, Math.max(0, key.length - RULES_NAME.length - 1));
  const content = readFileSync(pathOnDisk(scope.capture.directory, key));
  rules.set(folder, content);
  if (scope.mayAddRules) scope.shadow.addRules(folder, content);
}

function isRules(key: string): boolean {
  return key === RULES_NAME || key.endsWith(`/${RULES_NAME}`);
}

/**
 * What is named is not ignored, nor is a folder of git. A folder that leads to what is named is
 * open: git says of each path in it whether it is ignored, be it by the folder. Other folders are
 * asked for only so that what is in them need not be.
 */
async function withoutIgnored(
  { named, shadow }: WalkScope,
  level: readonly Standing[],
  open: ReadonlySet<string>,
): Promise<readonly Standing[]> {
  const asked: string[] = [];
  for (const [key, found] of level) {
    const isFolder = found.isDirectory();
    if (named.has(key) || isGitFolder(key) || (isFolder && open.has(key))) continue;
    if (isFolder) shadow.addFolder(key);
    asked.push(key);
  }
  const ignored = await shadow.ignored(asked);
  return level.filter(([key]) => !ignored.has(key));
}

/** Every folder on the way to one of the paths. */
function foldersOf(keys: ReadonlySet<string>): ReadonlySet<string> {
  const folders = new Set<string>();
  for (const key of keys) {
    for (let at = key.lastIndexOf('/'); at > 0; at = key.lastIndexOf('/', at - 1)) {
      const folder = key.slice(0, at);
      if (folders.has(folder)) break;
      folders.add(folder);
    }
  }
  return folders;
}

/** What is named and stands in an ignored folder or in a nested repository. */
function addNamed({ capture, named }: WalkScope, files: Map<string, BigIntStats>): void {
  const folders = new Map<string, boolean>();
  for (const key of named) {
    if (files.has(key) || !isReachable(capture, key, folders)) continue;
    const found = standingAt(pathOnDisk(capture.directory, key));
    if (found !== undefined && !found.isDirectory()) files.set(key, found);
  }
}

/** Whether all that leads to the path is folders, and no link. */
function isReachable(
  { directory }: GitCapture,
  key: string,
  folders: Map<string, boolean>,
): boolean {
  for (let at = key.indexOf('/'); at >= 0; at = key.indexOf('/', at + 1)) {
    const folder = key.slice(0, at);
    const isFolder = () => standingAt(pathOnDisk(directory, folder))?.isDirectory() === true;
    const known = folders.get(folder) ?? isFolder();
    folders.set(folder, known);
    if (!known) return false;
  }
  return true;
}

/** Whether a repository may be there. */
export function holdsGit(directory: string, key: string): boolean {
  return standingAt(pathOnDisk(directory, keyIn(key, GIT_NAME))) !== undefined;
}

function isGitFolder(key: string): boolean {
  return key.endsWith(`/${GIT_NAME}`);
}
