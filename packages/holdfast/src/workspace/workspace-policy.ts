/**
 * What an attempt may do to a working directory: nothing, look, or change what its globs name.
 *
 * Invariants: a checked policy is frozen and holds no second meaning (`none` has no directory,
 * only `write` has paths). The policy is looked after by comparing the worktree before and after;
 * it is a check, no sandbox: it says what was done, it does not prevent it.
 */
import { isAbsolute } from 'node:path';
import picomatch from 'picomatch';
import { errorText, HoldfastError } from '../base/errors.ts';
import { hasControlCharacter, hasLoneSurrogate, oneLine } from '../base/text.ts';
import { GIT_PATHS, HEAD_PATH } from './workspace-inspection.ts';

/** Seed 000, the workspace of a node binding. The directory is the top of a git worktree. */
export type NodeWorkspacePolicy =
  | { readonly mode: 'none'; readonly directory: null; readonly allowedPaths: readonly [] }
  | { readonly mode: 'read'; readonly directory: string; readonly allowedPaths: readonly [] }
  | {
      readonly mode: 'write';
      /** Absolute. */
      readonly directory: string;
      /** Globs relative to `directory`, with `/` between names. */
      readonly allowedPaths: readonly string[];
    };

/** A policy under which something is looked at. */
export type InspectedWorkspacePolicy = Exclude<NodeWorkspacePolicy, { readonly mode: 'none' }>;

const NO_PATHS: readonly [] = Object.freeze([]) as readonly [];

/** The policy of a node that names none. */
export const noWorkspace: NodeWorkspacePolicy = Object.freeze({
  mode: 'none',
  directory: null,
  allowedPaths: NO_PATHS,
});

const MAX_GLOBS = 1_000;
const MAX_GLOB_LENGTH = 1_000;
const MAX_SHOWN_LENGTH = 200;
const FIELDS: ReadonlySet<string> = new Set(['mode', 'directory', 'allowedPaths']);

/**
 * The frozen policy that `value` is. `place` names it in messages. Throws `INVALID_OPTION`.
 *
 * `*` and `**` match names that begin with a dot too. A glob names what is allowed: one that
 * begins with `!` is refused, since beside other globs it would allow nearly everything.
 *
 * @example
 * checkWorkspacePolicy({ mode: 'write', directory: '/srv/repo', allowedPaths: ['src/**'] })
 */
export function checkWorkspacePolicy(value: unknown, place = 'workspace'): NodeWorkspacePolicy {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return refuse(place, 'an object { mode, directory, allowedPaths }', value);
  }
  const { mode, directory, allowedPaths }: Readonly<Record<string, unknown>> = { ...value };
  const unknown = Object.keys(value).find((key) => !FIELDS.has(key));
  if (unknown !== undefined) refuse(place, 'mode, directory and allowedPaths only', unknown);
  const globs = checkList(`${place}.allowedPaths`, allowedPaths);
  if (mode === 'none') {
    if (directory !== null) refuse(`${place}.directory`, 'null in mode none', directory);
    requireNoPaths(place, mode, globs);
    return noWorkspace;
  }
  if (mode !== 'read' && mode !== 'write') {
    return refuse(`${place}.mode`, 'none, read or write', mode);
  }
  const root = checkDirectory(`${place}.directory`, directory);
  if (mode === 'write') {
    const allowed = checkGlobs(`${place}.allowedPaths`, globs);
    return Object.freeze({ mode, directory: root, allowedPaths: allowed });
  }
  requireNoPaths(place, mode, globs);
  return Object.freeze({ mode, directory: root, allowedPaths: NO_PATHS });
}

/**
 * Those of the changed `paths` that the policy does not allow: every one in mode `read`, in mode
 * `write` those that match none of its globs. `src/**` is all that is in `src`, and no file or link
 * in its place. What begins with `@git/` is allowed by a glob that begins so too, and by no other:
 * `**` is all files. HEAD alone moves with them, since a commit of what is allowed moves it.
 *
 * @example
 * const policy = { mode: 'write', directory: '/repo', allowedPaths: ['src/**'] } as const;
 * foreignPaths(policy, ['src/a.ts', 'README.md']) // ['README.md']
 */
export function foreignPaths(
  policy: NodeWorkspacePolicy,
  paths: readonly string[],
): readonly string[] {
  if (policy.mode === 'none') return [];
  if (policy.mode === 'read') return paths;
  const isAllowed = matcher(policy.allowedPaths);
  const isAllowedOfGit = matcher(policy.allowedPaths.filter((glob) => glob.startsWith(GIT_PATHS)));
  return paths.filter((path) => {
    const isOfGit = path.startsWith(GIT_PATHS) && path !== HEAD_PATH;
    return !(isOfGit ? isAllowedOfGit(path) : isAllowed(path));
  });
}

function matcher(globs: readonly string[]): (path: string) => boolean {
  // The flag lets ** match names that hold a line end.
  const strict = { nonegate: true, strictBrackets: true, strictSlashes: true };
  return picomatch(globs, { dot: true, windows: false, flags: 's', ...strict });
}

function checkDirectory(place: string, directory: unknown): string {
  const isUsable =
    typeof directory === 'string' && isAbsolute(directory) && !directory.includes('\0');
  return isUsable ? directory : refuse(place, 'an absolute path', directory);
}

/** The list as it is now: a proxy or getter is read once. */
function checkList(place: string, list: unknown): readonly unknown[] {
  if (!Array.isArray(list)) return refuse(place, 'a list', list);
  if (list.length > MAX_GLOBS) refuse(place, `a list of at most ${MAX_GLOBS} globs`, list.length);
  return Array.from(list);
}

function requireNoPaths(place: string, mode: string, globs: readonly unknown[]): void {
  if (globs.length > 0) refuse(`${place}.allowedPaths`, `empty in mode ${mode}`, globs);
}

function checkGlobs(place: string, globs: readonly unknown[]): readonly string[] {
  if (globs.length === 0) refuse(place, 'a list of at least one glob in mode write', globs);
  const seen = new Set<string>();
  for (const [index, glob] of globs.entries()) {
    const at = `${place}[${index}]`;
    const checked = checkGlob(at, glob);
    if (seen.has(checked)) refuse(at, 'named once', checked);
    seen.add(checked);
  }
  return Object.freeze([...seen]);
}

function checkGlob(place: string, glob: unknown): string {
  if (typeof glob !== 'string' || glob === '') return refuse(place, 'a relative glob', glob);
  const fault = globFault(glob);
  return fault === null ? glob : refuse(place, fault, glob);
}

/** What a glob would have to be and is not, or null. */
function globFault(glob: string): string | null {
  if (glob.length > MAX_GLOB_LENGTH) return `at most ${MAX_GLOB_LENGTH} characters long`;
  if (glob !== glob.trim()) return 'without white space around it';
  if (hasControlCharacter(glob) || hasLoneSurrogate(glob)) return 'without control characters';
  if (glob.includes('\\')) return 'written with / and without backslashes';
  if (glob.startsWith('/') || /^[A-Za-z]:/.test(glob)) return 'relative to the directory';
  if (glob.startsWith('!')) return 'a glob of what is allowed, not of what is not';
  // Braces and groups may hold a part of a path each.
  if (glob.split(/[/{},()|]/).includes('..')) return 'without ".."';
  if (glob.split('/').some((part) => part === '' || part === '.')) {
    return 'without "." and empty parts ("src/**" is all that is in src)';
  }
  return isReadable(glob) ? null : 'a glob with its brackets closed';
}

function isReadable(glob: string): boolean {
  try {
    matcher([glob]);
    return true;
  } catch {
    return false;
  }
}

function refuse(place: string, expected: string, value: unknown): never {
  const shown = oneLine(errorText(value), MAX_SHOWN_LENGTH, 'blank');
  const text = `${place} must be ${expected}, not ${shown}.`;
  throw new HoldfastError('INVALID_OPTION', text, { option: place });
}
