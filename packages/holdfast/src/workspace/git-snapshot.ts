/**
 * Looks at a worktree: HEAD, the index, what git goes by, and every path on disk by its bytes.
 *
 * Invariants: nothing is written, into the repository neither; what an earlier look did not ignore
 * is not ignored, and what was no repository to it is none, so that what an attempt does in
 * between cannot take anything out of sight. A nested repository that was there is one path, whose
 * name tells all that this look would tell of it.
 */
import { createHash } from 'node:crypto';
import path from 'node:path';
import { errorText, HoldfastError } from '../base/errors.ts';
import { inspectionAborted, inspectionFailed } from './git-command.ts';
import { type GitControls, readControls, refsElsewhere } from './git-control.ts';
import { areSameRules, type IgnoreRules, IgnoreShadow } from './git-ignore.ts';
import { type GitHead, type GitIndex, leftIndex, readHead, readIndex } from './git-index.ts';
import {
  findLayout,
  folderIdentity,
  type GitCapture,
  type GitLayout,
  identityAt,
} from './git-layout.ts';
import { pathOnDiskText, pathText } from './git-path.ts';
import { contentOf, type GitSettings, readSettings } from './git-settings.ts';
import { lineList } from './line-list.ts';
import type { WorkspaceEntry, WorkspaceSnapshot } from './workspace-inspection.ts';
import { type FileState, StateReader } from './worktree-file.ts';
import { holdsGit, type WalkedPaths, walkWorktree } from './worktree-walk.ts';

/** What a look is done with. */
export interface LookScope {
  readonly capture: GitCapture;
  /** The look before the attempt: its rules hold. */
  readonly since: GitLook | null;
  /** Any earlier look, whose digests hold where the stamps do. */
  readonly known: GitLook | null;
  /** How long ago a change must be for the stamp to tell it from a later one. */
  readonly settleNs: bigint;
}

/** All that a look found. */
export interface GitLook {
  readonly identity: string;
  readonly head: GitHead;
  readonly index: GitIndex;
  readonly files: ReadonlyMap<string, FileState>;
  readonly controls: GitControls;
  readonly elsewhere: ReadonlySet<string>;
  readonly rules: IgnoreRules;
  readonly nested: ReadonlyMap<string, GitLook>;
  /** The folders of git of the nested repositories, here and in the earlier look. */
  readonly nestedGit: ReadonlySet<string>;
  readonly gitIdentity: string;
}

/** The worktree as it is now. Throws `WORKSPACE_INSPECTION`, or `ABORTED` by the signal. */
export async function lookAtWorktree(scope: LookScope): Promise<GitLook> {
  const { directory } = scope.capture;
  try {
    const identity = folderIdentity(directory);
    if (identity === null) throw inspectionFailed(directory, 'there is no such folder.');
    if (scope.since !== null && scope.since.identity !== identity) {
      throw inspectionFailed(directory, 'it is another folder than the one looked at before.');
    }
    const layout = await findLayout(scope.capture);
    if (layout !== null) return { identity, ...(await lookAtTop(scope, layout)) };
  } catch (error) {
    throw lookFailure(scope.capture, error);
  }
  throw inspectionFailed(directory, 'it is not the top folder of a git worktree.');
}

function lookFailure({ directory, signal, timeoutMs }: GitCapture, error: unknown): unknown {
  if (signal.aborted) return inspectionAborted(signal);
  if (error instanceof HoldfastError && error.code !== 'ABORTED') return error;
  if (error instanceof HoldfastError || isTimeout(error)) {
    const advice = 'Name in .gitignore what is no part of the work, or give more time.';
    return inspectionFailed(directory, `reading it took over ${timeoutMs} ms. ${advice}`, error);
  }
  return inspectionFailed(directory, `the file system says: ${errorText(error)}.`, error);
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.name === 'TimeoutError';
}

/** The snapshot of a look, by which it is compared. */
export function snapshotOf(directory: string, look: GitLook): WorkspaceSnapshot {
  const entries = new Map<string, WorkspaceEntry>();
  for (const key of [...new Set([...look.index.keys(), ...look.files.keys()])].sort()) {
    const { staged = '', mark = '' } = look.index.get(key) ?? {};
    const { name: present = '', lines = null, stored = null } = look.files.get(key) ?? {};
    entries.set(key, { staged, mark, present, lines, stored });
  }
  const { head, controls, elsewhere } = look;
  return { directory, ...head, entries, controls, elsewhere };
}

type Top = Omit<GitLook, 'identity'>;

async function lookAtTop(scope: LookScope, layout: GitLayout): Promise<Top> {
  const { capture, since } = scope;
  const [head, index, settings] = await Promise.all([
    readHead(capture),
    readIndex(capture),
    readSettings(capture),
  ]);
  const left = since === null && head.commit !== null ? await leftIndex(capture) : [];
  const named = new Set([...index.keys(), ...left, ...(since?.files.keys() ?? [])]);
  const found = await lookAtFiles(scope, { layout, index, settings, named });
  const nested = [...found.nested.values()];
  const nestedGit = new Set(nested.map(({ gitIdentity }) => gitIdentity));
  for (const known of since?.nestedGit ?? []) nestedGit.add(known);
  const controls = await readControls({ capture, layout, settings, others: nestedGit });
  return {
    gitIdentity: identityAt(layout.gitDirectory),
    head,
    index,
    controls,
    elsewhere: refsElsewhere(layout),
    nestedGit,
    ...found,
  };
}

interface Read {
  readonly layout: GitLayout;
  readonly index: GitIndex;
  readonly settings: GitSettings;
  readonly named: ReadonlySet<string>;
}

type FoundFiles = Pick<GitLook, 'files' | 'rules' | 'nested'>;

async function lookAtFiles(look: LookScope, read: Read): Promise<FoundFiles> {
  // Reading may not take for ever either: a file may be as large as an attempt likes.
  const limit = AbortSignal.timeout(look.capture.timeoutMs);
  const signal = AbortSignal.any([look.capture.signal, limit]);
  const scope = { ...look, capture: { ...look.capture, signal } };
  const { capture, since } = scope;
  const { named } = read;
  const found = rulesOf(read);
  const shadow = new IgnoreShadow(capture, since?.rules ?? found);
  try {
    const startedAtNs = shadow.madeAtNs();
    const walked = await walkWorktree({
      capture,
      named,
      shadow,
      mayAddRules: since === null,
      isRepository: (key) => isRepository(scope, key),
    });
    const nested = await lookAtNested(scope, walked.repositories);
    const settledBeforeNs = startedAtNs - scope.settleNs;
    const files = await readStates({ scope, read, walked, settledBeforeNs });
    for (const [key, look] of nested) files.set(key, nestedState(look));
    const rules = { ...found, byFolder: walked.rules };
    if (since === null) return { files, rules, nested };
    for (const key of await ignoredSince({ capture, since, rules, index: read.index, files })) {
      files.delete(key);
    }
    return { files, rules: since.rules, nested };
  } finally {
    shadow.remove();
  }
}

function rulesOf({ layout, settings }: Read): IgnoreRules {
  const repository = contentOf(path.join(layout.commonDirectory, 'info', 'exclude'));
  const { excludes: user, isCaseIgnored } = settings;
  return { byFolder: new Map(), repository, user, isCaseIgnored };
}

interface IgnoredScope extends Pick<GitLook, 'rules' | 'index' | 'files'> {
  readonly capture: GitCapture;
  readonly since: GitLook;
}

/** The files that changed in nothing but that they are ignored now: they are lost to git. */
async function ignoredSince(scope: IgnoredScope): Promise<ReadonlySet<string>> {
  const { capture, since, rules, index, files } = scope;
  if (areSameRules(since.rules, rules)) return new Set();
  const unchanged = [...files.keys()].filter((key) => {
    return !index.has(key) && since.files.get(key)?.name === files.get(key)?.name;
  });
  const shadow = new IgnoreShadow(capture, rules);
  try {
    return await shadow.ignored(unchanged);
  } finally {
    shadow.remove();
  }
}

interface StatesScope {
  readonly scope: LookScope;
  readonly read: Read;
  readonly walked: WalkedPaths;
  readonly settledBeforeNs: bigint;
}

async function readStates(states: StatesScope): Promise<Map<string, FileState>> {
  const { scope, read, walked, settledBeforeNs } = states;
  const known = scope.known?.files ?? new Map<string, FileState>();
  const { capture } = scope;
  const { format } = read.layout;
  const reader = new StateReader({ capture, format, settledBeforeNs, known });
  const files = new Map<string, FileState>();
  for (const [key, found] of walked.files) {
    files.set(key, await reader.read(key, found, read.index.get(key)?.staged ?? ''));
  }
  return files;
}

/** A repository that was not there before hides nothing. */
async function isRepository({ capture, since }: LookScope, key: string): Promise<boolean> {
  if (since !== null && !since.nested.has(key)) return false;
  if (!holdsGit(capture.directory, key)) return false;
  try {
    return (await findLayout(nestedCapture(capture, key))) !== null;
  } catch (error) {
    if (capture.signal.aborted) throw error;
    return false;
  }
}

async function lookAtNested(
  scope: LookScope,
  keys: readonly string[],
): Promise<ReadonlyMap<string, GitLook>> {
  const looks = new Map<string, GitLook>();
  for (const key of keys) {
    const capture = nestedCapture(scope.capture, key);
    const since = scope.since?.nested.get(key) ?? null;
    const known = scope.known?.nested.get(key) ?? null;
    looks.set(key, await lookAtWorktree({ ...scope, capture, since, known }));
  }
  return looks;
}

function nestedCapture(capture: GitCapture, key: string): GitCapture {
  const directory = pathOnDiskText(capture.directory, key);
  if (directory !== null) return { ...capture, directory };
  const why = `the nested repository ${pathText(key)} has a name that is no UTF-8.`;
  throw inspectionFailed(capture.directory, why);
}

function nestedState(look: GitLook): FileState {
  const { entries, controls, elsewhere, commit, branch } = snapshotOf('', look);
  // The branch of another worktree of a repository is outside of it here too.
  const own = [...controls].filter(([name]) => !elsewhere.has(name));
  const hash = createHash('sha256').update(JSON.stringify([commit, branch]));
  for (const [key, { staged, mark, present }] of entries) {
    hash.update(`${JSON.stringify([key, staged, mark, present])}\n`);
  }
  hash.update(JSON.stringify(own.sort()));
  const name = `repository ${hash.digest('hex')}`;
  const lines = lineList(Buffer.from(name));
  return { name, stamp: '', isSettled: false, lines, stored: null };
}
