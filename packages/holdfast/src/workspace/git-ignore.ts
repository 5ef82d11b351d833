/**
 * What git ignores by given rules, whatever the rules of the worktree have become.
 *
 * Invariant: git is asked in a folder of our own that holds nothing but the rules and empty
 * folders, with no settings but ours; nothing that an attempt can write there or elsewhere answers.
 */
import {
  type BigIntStats,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { runGit } from './git-command.ts';
import { type GitCapture, isAbsent } from './git-layout.ts';
import { keyIn, pathOnDisk } from './git-path.ts';

/** The rules by which a worktree ignores. */
export interface IgnoreRules {
  /** The content of each `.gitignore` by its folder. */
  readonly byFolder: ReadonlyMap<string, Buffer>;
  /** `info/exclude`. */
  readonly repository: Buffer;
  /** The file that `core.excludesFile` names. */
  readonly user: Buffer;
  readonly isCaseIgnored: boolean;
}

/** Whether two sets of rules are the same to the byte. */
export function areSameRules(one: IgnoreRules, other: IgnoreRules): boolean {
  return textOf(one) === textOf(other);
}

/** The file of rules that may stand in each folder. */
export const RULES_NAME = '.gitignore';

/** Rules in a folder of their own, which has to be removed. */
export class IgnoreShadow {
  readonly #capture: GitCapture;
  readonly #folder: string;
  #hasRules: boolean;

  constructor(capture: GitCapture, rules: IgnoreRules) {
    this.#folder = mkdtempSync(path.join(tmpdir(), 'holdfast-ignore-'));
    this.#capture = { ...capture, directory: this.#folder };
    this.#hasRules = rules.repository.length + rules.user.length > 0;
    const git = path.join(this.#folder, '.git');
    for (const name of ['objects', 'refs', 'info']) {
      mkdirSync(path.join(git, name), { recursive: true });
    }
    writeFileSync(path.join(git, 'HEAD'), 'ref: refs/heads/none\n');
    writeFileSync(path.join(git, 'config'), `[core]\nignoreCase = ${rules.isCaseIgnored}\n`);
    writeFileSync(path.join(git, 'info', 'exclude'), rules.repository);
    writeFileSync(path.join(git, 'user'), rules.user);
    for (const [folder, content] of rules.byFolder) this.addRules(folder, content);
  }

  /** When the shadow was made, by the clock of the file system. */
  madeAtNs(): bigint {
    const { ctimeNs }: BigIntStats = lstatSync(this.#folder, { bigint: true });
    return ctimeNs;
  }

  /** Has to be told before something in the folder is asked for. */
  addRules(folder: string, content: Buffer): void {
    mkdirSync(this.#at(folder), { recursive: true });
    writeFileSync(this.#at(keyIn(folder, RULES_NAME)), content);
    this.#hasRules = true;
  }

  /** Some rules are for folders only; git takes for one what is one here. */
  addFolder(key: string): void {
    try {
      mkdirSync(this.#at(key), { recursive: true });
    } catch (error) {
      // What is not there is no folder to git, and hides nothing.
      if (!isAbsent(error) && !isPresent(error)) throw error;
    }
  }

  /** Those of the paths that are ignored by themselves or by a folder on the way. */
  async ignored(keys: readonly string[]): Promise<ReadonlySet<string>> {
    if (keys.length === 0 || !this.#hasRules) return new Set();
    const user = `core.excludesFile=${path.join(this.#folder, '.git', 'user')}`;
    const args = ['-c', user, 'check-ignore', '--no-index', '-z', '--stdin'];
    // A name that begins with a colon would be read as more than a name.
    const input = Buffer.from(keys.map((key) => `./${key}\0`).join(''), 'latin1');
    const call = { ...this.#capture, args, input, mayFindNothing: true, isAlone: true };
    const said = (await runGit(call)).toString('latin1');
    const ignored = said.split('\0').slice(0, -1);
    return new Set(ignored.map((name) => name.slice(2)));
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #at(key: string): Buffer {
    return pathOnDisk(this.#folder, key);
  }
}

function textOf({ byFolder, repository, user, isCaseIgnored }: IgnoreRules): string {
  const folders = [...byFolder].map(([key, content]) => [key, content.toString('latin1')]);
  const shared = [repository.toString('latin1'), user.toString('latin1'), isCaseIgnored];
  return JSON.stringify([folders.sort(), shared]);
}

function isPresent(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EEXIST';
}
