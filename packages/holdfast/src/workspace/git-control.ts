/**
 * What git goes by beside HEAD and the index: refs, settings, hooks, rules, work half done.
 *
 * Invariants: a file in the folder of git counts unless it is named here as one that does not;
 * refs count by what they name, however they are stored. What belongs to another worktree of the
 * repository is outside, as its files are.
 */
import { createHash } from 'node:crypto';
import { type BigIntStats, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import path from 'node:path';
import { runGit } from './git-command.ts';
import { type GitCapture, type GitLayout, identityAt, standingAt } from './git-layout.ts';
import { keyIn, pathOnDisk, pathText } from './git-path.ts';
import { contentOf, type GitSettings } from './git-settings.ts';
import { modeOf, stampOf } from './worktree-file.ts';

/** By name, as it is shown behind `@git/`. */
export type GitControls = ReadonlyMap<string, string>;

/** What is needed to read them. */
export interface ControlScope {
  readonly capture: GitCapture;
  readonly layout: GitLayout;
  readonly settings: GitSettings;
  /** Folders of git by their identity: those of nested repositories, which are read for them. */
  readonly others: ReadonlySet<string>;
}

/** Told otherwise (HEAD, refs, index), rewritten at every step, or a store of contents. */
const QUIET: RegExp = new RegExp(
  `^(?:${[
    'HEAD|refs|packed-refs|reftable|index|sharedindex\\..*',
    'logs|lfs|gc\\.(?:log|pid)|.*\\.lock|fsmonitor--daemon.*',
    'ORIG_HEAD|FETCH_HEAD|AUTO_MERGE',
    '(?:COMMIT|TAG|NOTES)_EDITMSG|(?:MERGE|SQUASH)_MSG',
  ].join('|')})$`,
  's',
);
/** A list that git writes for others to fetch, and hooks that have no name of one. */
const QUIET_BELOW = /(?:^|\/)(?:info\/refs|hooks\/[^/]+\.sample)$/;
/** What the main worktree has for itself in the folder that all share. */
const OF_ONE_WORKTREE = /^(?:[A-Z][A-Z_]*|config\.worktree|rebase-.*|sequencer)$/;
const STORE_FILES = ['objects/info/alternates', 'objects/info/http-alternates'];
/** Larger files are known by their stamp. */
const MAX_READ_BYTES = 1024n * 1024n;

/** Throws `WORKSPACE_INSPECTION`, and `ABORTED` by the signal. */
export async function readControls(scope: ControlScope): Promise<GitControls> {
  const { capture, layout, settings } = scope;
  const { commonDirectory, gitDirectory } = layout;
  const controls = new Map<string, string>(await readRefs(capture));
  const shared = new ControlReader(commonDirectory, scope, controls);
  shared.readRepository('');
  if (gitDirectory !== commonDirectory) new ControlReader(gitDirectory, scope, controls).readOwn();
  if (settings.hooks !== null) {
    new ControlReader(settings.hooks, scope, controls).readHooks('core.hooksPath');
  }
  controls.set('config', `${controls.get('config')} ${settings.digest}`);
  controls.set('core.excludesFile', digestOf(settings.excludes));
  controls.set('core.attributesFile', digestOf(settings.attributes));
  controls.set('gitdir', `${identityAt(gitDirectory)} ${identityAt(commonDirectory)}`);
  return controls;
}

/** The branches that other worktrees of the repository stand on, as refs. */
export function refsElsewhere({ commonDirectory, gitDirectory }: GitLayout): ReadonlySet<string> {
  const worktrees = path.join(commonDirectory, 'worktrees');
  const linked = standingAt(worktrees)?.isDirectory() === true ? readdirSync(worktrees) : [];
  const own = identityAt(gitDirectory);
  const refs = new Set<string>();
  for (const folder of [commonDirectory, ...linked.map((name) => path.join(worktrees, name))]) {
    if (identityAt(folder) === own) continue;
    const [, ref] = /^ref: (.*)\n$/.exec(contentOf(path.join(folder, 'HEAD')).toString()) ?? [];
    if (ref !== undefined) refs.add(ref);
  }
  return refs;
}

async function readRefs(capture: GitCapture): Promise<readonly (readonly [string, string])[]> {
  const args = ['for-each-ref', '--format=%(refname) %(objectname) %(symref)'];
  const said = (await runGit({ ...capture, args })).toString('utf8');
  return said
    .split('\n')
    .slice(0, -1)
    .map((line) => {
      const [name = '', ...value] = line.split(' ');
      return [name, value.join(' ')] as const;
    });
}

function digestOf(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}

/** Reads the files of one folder of git. */
class ControlReader {
  readonly #root: string;
  readonly #scope: ControlScope;
  readonly #controls: Map<string, string>;

  constructor(root: string, scope: ControlScope, controls: Map<string, string>) {
    this.#root = root;
    this.#scope = scope;
    this.#controls = controls;
  }

  /** A whole repository: the root, or one of a submodule in it. */
  readRepository(base: string): void {
    const { gitDirectory, commonDirectory } = this.#scope.layout;
    const isShared = base === '' && gitDirectory !== commonDirectory;
    for (const name of this.#names(base)) {
      const key = keyIn(base, name);
      if (QUIET.test(name) || (isShared && OF_ONE_WORKTREE.test(name))) continue;
      if (name === 'objects') for (const file of STORE_FILES) this.#readFile(keyIn(base, file));
      else if (name === 'worktrees') this.#readWorktrees(key);
      else if (name === 'modules') this.#readModules(key);
      else this.#readAll(key);
    }
  }

  /** What a linked worktree has for itself. */
  readOwn(): void {
    for (const name of this.#names('')) {
      if (!QUIET.test(name)) this.#readAll(name);
    }
  }

  /** Hooks stand in the folder itself; what else is in it is none. */
  readHooks(shown: string): void {
    for (const name of this.#names('')) this.#readFile(name, `${shown}/${name}`);
  }

  #readAll(key: string): void {
    const found = standingAt(pathOnDisk(this.#root, key));
    if (found?.isDirectory() !== true) return this.#note(key, key, found);
    for (const name of this.#names(key)) {
      if (!QUIET_BELOW.test(keyIn(key, name))) this.#readAll(keyIn(key, name));
    }
  }

  /** Of another worktree only what may name programs that run in it. */
  #readWorktrees(folder: string): void {
    for (const name of this.#names(folder)) this.#readFile(`${folder}/${name}/config.worktree`);
  }

  #readModules(folder: string): void {
    for (const name of this.#names(folder)) {
      const key = `${folder}/${name}`;
      const place = pathOnDisk(this.#root, key);
      if (standingAt(place)?.isDirectory() !== true) this.#readFile(key);
      else if (standingAt(pathOnDisk(this.#root, `${key}/HEAD`)) === undefined) {
        this.#readModules(key);
      } else if (!this.#scope.others.has(identityAt(place))) this.readRepository(key);
    }
  }

  #readFile(key: string, shown: string = key): void {
    this.#note(key, shown, standingAt(pathOnDisk(this.#root, key)));
  }

  #note(key: string, shown: string, found: BigIntStats | undefined): void {
    if (found === undefined || found.isDirectory()) return;
    const place = pathOnDisk(this.#root, key);
    this.#controls.set(pathText(shown), controlValue(place, found));
  }

  #names(key: string): readonly string[] {
    const place = pathOnDisk(this.#root, key);
    if (standingAt(place)?.isDirectory() !== true) return [];
    return readdirSync(place, { encoding: 'buffer' }).map((name) => name.toString('latin1'));
  }
}

function controlValue(place: Buffer, found: BigIntStats): string {
  if (found.isSymbolicLink()) return `link ${readlinkSync(place, 'latin1')}`;
  if (!found.isFile()) return 'special';
  if (found.size > MAX_READ_BYTES) return stampOf(found);
  return `${modeOf(found)} ${digestOf(readFileSync(place))}`;
}
