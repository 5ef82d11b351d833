/** Reads `git status --porcelain=v2 -z --branch`: HEAD, and each path that differs from it. */
import { inspectionFailed } from './git-command.ts';

/** A path as status names it. Objects are `mode id`; '' stands for nothing. */
export interface StatusPath {
  readonly base: string;
  readonly staged: string;
  /** The mode of what is in the worktree, when git says it. */
  readonly presentMode: string | null;
  readonly isRepository: boolean;
}

/** What status says. */
export interface GitStatus {
  readonly commit: string | null;
  readonly branch: string | null;
  readonly paths: ReadonlyMap<string, StatusPath>;
}

/** The mode of a submodule or another nested repository. */
export const REPOSITORY_MODE = '160000';

export const statusArgs: readonly string[] = [
  'status',
  '--porcelain=v2',
  '-z',
  '--branch',
  '--untracked-files=all',
  '--ignore-submodules=none',
  '--no-renames',
];

const NO_MODE = '000000';
const CHANGED_FIELDS = 8;
const UNMERGED_FIELDS = 10;

/** `output` read. Throws `WORKSPACE_INSPECTION` for what is no status. */
export function parseStatus(directory: string, output: Buffer): GitStatus {
  let commit: string | null = null;
  let branch: string | null = null;
  const paths = new Map<string, StatusPath>();
  for (const record of output.toString('latin1').split('\0')) {
    if (record === '') continue;
    if (record.startsWith('# branch.oid ')) commit = headOf(record.slice(13), '(initial)');
    else if (record.startsWith('# branch.head ')) branch = headOf(record.slice(14), '(detached)');
    else if (!record.startsWith('# ')) addPath(directory, record, paths);
  }
  return { commit, branch, paths };
}

/** A mode and an object id as one word; '' for nothing. */
export function objectName(mode: string, id: string): string {
  return mode === NO_MODE ? '' : `${mode} ${id}`;
}

function headOf(text: string, none: string): string | null {
  return text === none ? null : text;
}

function addPath(directory: string, record: string, paths: Map<string, StatusPath>): void {
  const kind = record[0];
  if (kind === '?') {
    const name = record.slice(2);
    const isRepository = name.endsWith('/');
    const path = isRepository ? name.slice(0, -1) : name;
    // A path that left the index and stayed on disk is named twice.
    const { base, staged } = paths.get(path) ?? { base: '', staged: '' };
    paths.set(path, { base, staged, presentMode: null, isRepository });
    return;
  }
  if (kind !== '1' && kind !== 'u') {
    throw inspectionFailed(directory, `git status said ${JSON.stringify(record.slice(0, 40))}.`);
  }
  const fields = record.split(' ', kind === '1' ? CHANGED_FIELDS : UNMERGED_FIELDS);
  const path = record.slice(fields.join(' ').length + 1);
  paths.set(path, kind === '1' ? changedPath(fields) : unmergedPath(fields));
}

function changedPath(fields: readonly string[]): StatusPath {
  const [, , , baseMode = '', stagedMode = '', presentMode = '', baseId = '', stagedId = ''] =
    fields;
  return {
    base: objectName(baseMode, baseId),
    staged: objectName(stagedMode, stagedId),
    presentMode,
    isRepository: [baseMode, stagedMode, presentMode].includes(REPOSITORY_MODE),
  };
}

/** HEAD is "ours", the second of the three that a merge left in the index. */
function unmergedPath(fields: readonly string[]): StatusPath {
  const [, , , , ours = '', , presentMode = '', , ourId = ''] = fields;
  return {
    base: objectName(ours, ourId),
    staged: `unmerged ${fields.slice(3).join(' ')}`,
    presentMode,
    isRepository: presentMode === REPOSITORY_MODE,
  };
}
