/** What the settings of git come to, and the files that they name. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { runGit } from './git-command.ts';
import { type GitCapture, isAbsent } from './git-layout.ts';

/** The settings that hold in a worktree, from every file that git reads them from. */
export interface GitSettings {
  readonly digest: string;
  /** The lists that every repository of the user has; empty when there is none. */
  readonly excludes: Buffer;
  readonly attributes: Buffer;
  /** Absolute; null when hooks stand in the folder of git. */
  readonly hooks: string | null;
  readonly isCaseIgnored: boolean;
}

const YES = /^(?:true|yes|on|[1-9]\d*|)$/i;

/** Throws `WORKSPACE_INSPECTION`, and `ABORTED` by the signal. */
export async function readSettings(capture: GitCapture): Promise<GitSettings> {
  const args = ['config', '--list', '--show-scope', '-z'];
  const items = (await runGit({ ...capture, args })).toString('utf8').split('\0');
  const hash = createHash('sha256');
  const last = new Map<string, string>();
  for (let at = 0; at + 1 < items.length; at += 2) {
    const [scope = '', setting = ''] = [items[at], items[at + 1]];
    // Those that this inspection brings along.
    if (scope === 'command') continue;
    hash.update(`${scope}\0${setting}\0`);
    const [key = ''] = setting.split('\n', 1);
    last.set(key, setting.slice(key.length + 1));
  }
  const named = (key: string) => placeOf(capture.directory, last.get(key));
  return {
    digest: hash.digest('hex'),
    excludes: contentOf(named('core.excludesfile') ?? userFile('ignore')),
    attributes: contentOf(named('core.attributesfile') ?? userFile('attributes')),
    hooks: named('core.hookspath'),
    isCaseIgnored: YES.test(last.get('core.ignorecase') ?? 'false'),
  };
}

/** The bytes of a file; none when there is no such file. */
export function contentOf(place: string): Buffer {
  try {
    return readFileSync(place);
  } catch (error) {
    if (isAbsent(error)) return Buffer.alloc(0);
    throw error;
  }
}

function placeOf(directory: string, named: string | undefined): string | null {
  if (named === undefined || named === '') return null;
  const isAtHome = named === '~' || named.startsWith('~/');
  return path.resolve(directory, isAtHome ? path.join(homedir(), named.slice(1)) : named);
}

function userFile(name: string): string {
  const folder = process.env['XDG_CONFIG_HOME'] || path.join(homedir(), '.config');
  return path.join(folder, 'git', name);
}
