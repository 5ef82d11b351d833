/** Reads the index of a worktree, and where its HEAD is: both as git stores them. */
import { inspectionFailed, runGit } from './git-command.ts';
import type { GitCapture } from './git-layout.ts';

/** What the index holds at a path. */
export interface IndexEntry {
  /** Mode and object id; of a conflict all of its stages. */
  readonly staged: string;
  /** The letter of `git ls-files -v`: it tells the marks by which git looks away from a file. */
  readonly mark: string;
}

export type GitIndex = ReadonlyMap<string, IndexEntry>;

/** HEAD: the commit, null before the first, and the branch, null when it names a commit. */
export interface GitHead {
  readonly commit: string | null;
  readonly branch: string | null;
}

const RECORD = /^(\S) ((\d+) [0-9a-f]+) (\d)\t/;
const BRANCH = /^refs\/heads\//;

/** The index by path. Throws `WORKSPACE_INSPECTION`, and `ABORTED` by the signal. */
export async function readIndex(capture: GitCapture): Promise<GitIndex> {
  const args = ['ls-files', '-v', '--stage', '-z'];
  const entries = new Map<string, IndexEntry>();
  for (const record of (await runGit({ ...capture, args })).toString('latin1').split('\0')) {
    if (record === '') continue;
    const [head = '', mark = '', object = '', , stage = ''] = RECORD.exec(record) ?? [];
    if (head === '') {
      const said = JSON.stringify(record.slice(0, 40));
      throw inspectionFailed(capture.directory, `git ls-files said ${said}.`);
    }
    const key = record.slice(head.length);
    const others = entries.get(key)?.staged ?? 'unmerged';
    entries.set(key, { mark, staged: stage === '0' ? object : `${others} ${object} ${stage}` });
  }
  return entries;
}

/** The paths that HEAD has and the index has no more. */
export async function leftIndex(capture: GitCapture): Promise<readonly string[]> {
  const what = ['--cached', '--name-only', '--diff-filter=D', '--no-renames'];
  const args = ['diff-index', '-z', ...what, '--ignore-submodules=none', 'HEAD', '--'];
  return (await runGit({ ...capture, args })).toString('latin1').split('\0').slice(0, -1);
}

/** HEAD as it stands. */
export async function readHead(capture: GitCapture): Promise<GitHead> {
  const ask = { ...capture, mayFindNothing: true };
  const [ref, commit] = await Promise.all([
    runGit({ ...ask, args: ['symbolic-ref', '--quiet', 'HEAD'] }),
    runGit({ ...ask, args: ['rev-parse', '--quiet', '--verify', 'HEAD'] }),
  ]);
  return {
    commit: commit.toString('latin1').trim() || null,
    branch: ref.toString('utf8').trim().replace(BRANCH, '') || null,
  };
}
