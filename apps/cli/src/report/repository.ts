/** The repository that a report is about, pinned to one commit. */
import { statSync } from 'node:fs';
import path from 'node:path';
import { HoldfastError, isHoldfastError } from 'holdfast';
import { unreadable } from '../flow-file/read-json.ts';
import { type GitCall, gitText } from './git.ts';

/** The input of the report flow: all facts are read from this commit, never from open files. */
export interface Repository {
  /** The absolute path of its folder. */
  readonly repository: string;
  readonly name: string;
  /** The commit; null in a repository without one. */
  readonly head: string | null;
  readonly shortHead: string;
}

/** Throws `FILE_UNREADABLE`, `NOT_A_REPOSITORY`, `GIT_FAILED`. */
export async function findRepository(folder: string): Promise<Repository> {
  requireFolder(folder);
  const ask = (...args: string[]) => gitText({ repository: folder, args, allow: [1, 128] });
  const repository = await topOf(folder);
  const head = await ask('rev-parse', '--verify', '--quiet', 'HEAD^{commit}');
  const shortHead = head === null ? 'no commit' : await ask('rev-parse', '--short', head);
  const name = path.basename(repository).replace(/\.git$/, '') || 'repository';
  return { repository, name, head, shortHead: shortHead ?? 'no commit' };
}

function requireFolder(folder: string): void {
  try {
    if (statSync(folder).isDirectory()) return;
  } catch (error) {
    throw unreadable(folder, '--repo', error);
  }
  throw new HoldfastError('NOT_A_REPOSITORY', `${folder} is a file, not a folder.`, { folder });
}

/** The top of the work tree, or the folder of a bare repository. */
async function topOf(folder: string): Promise<string> {
  const call = (...args: string[]): GitCall => ({ repository: folder, args });
  try {
    const bare = await gitText(call('rev-parse', '--is-bare-repository'));
    const asked = bare === 'true' ? '--absolute-git-dir' : '--show-toplevel';
    return path.resolve((await gitText(call('rev-parse', asked))) ?? folder);
  } catch (error) {
    if (!isHoldfastError(error, 'GIT_FAILED') || error.cause !== undefined) throw error;
    throw new HoldfastError(
      'NOT_A_REPOSITORY',
      `${folder} is not in a git repository. ${error.message}`,
      { folder },
    );
  }
}
