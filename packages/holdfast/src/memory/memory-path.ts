/**
 * The paths of a memory: `/memories`, or names below it.
 *
 * Invariants: a path that passes is the only spelling of its file, means the same on every system,
 * and none of its names is hidden: a directory of memory files may be a repository as well.
 */
import { hasControlCharacter, hasLoneSurrogate, utf8Length } from '../base/text.ts';

export const MEMORY_ROOT = '/memories';

const MAX_PATH_BYTES = 1024;
const MAX_NAME_BYTES = 200;
const MAX_DEPTH = 16;

const ESCAPE = /%[0-9a-f]{2}/i;
const HOSTILE = /[\\:*?"<>|]/;
/** Names that are devices on Windows, whatever their ending. */
const DEVICE = /^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\.|$)/i;

/** Why `path` is no path of a memory, or null when it is one. */
export function memoryPathFault(path: string): string | null {
  if (path === MEMORY_ROOT) return null;
  if (!path.startsWith(`${MEMORY_ROOT}/`)) return `it must be ${MEMORY_ROOT} or begin with it`;
  // Units are at most bytes, so this bounds the work before bytes are counted.
  if (path.length > MAX_PATH_BYTES || utf8Length(path) > MAX_PATH_BYTES) {
    return `it is longer than ${MAX_PATH_BYTES} bytes`;
  }
  const names = path.slice(MEMORY_ROOT.length + 1).split('/');
  if (names.length > MAX_DEPTH) return `it is deeper than ${MAX_DEPTH} names`;
  for (const name of names) {
    const fault = nameFault(name);
    if (fault !== null) return fault;
  }
  return null;
}

function nameFault(name: string): string | null {
  if (name === '') return 'it has an empty name (a doubled slash, or one at the end)';
  if (name.startsWith('.')) return 'a name in it begins with a dot';
  if (/[. ]$/.test(name)) return 'a name in it ends with a dot or a space';
  if (hasControlCharacter(name)) return 'it holds a control character';
  if (hasLoneSurrogate(name)) return 'it holds a lone surrogate';
  if (HOSTILE.test(name)) return 'it holds one of \\ : * ? " < > |';
  if (ESCAPE.test(name)) return 'it holds a percent escape; write the character itself';
  if (DEVICE.test(name)) return 'a name in it is a device on some systems';
  if (name !== name.normalize('NFC')) return 'it is not in Unicode normal form C';
  if (utf8Length(name) > MAX_NAME_BYTES) return `a name is longer than ${MAX_NAME_BYTES} bytes`;
  return null;
}

/** The names between the root and what the path leads to; none for the root itself. */
export function namesOf(path: string): readonly string[] {
  return path === MEMORY_ROOT ? [] : path.slice(MEMORY_ROOT.length + 1).split('/');
}

/** The directory that `path` stands in. */
export function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/'));
}

/** The last name of `path`. */
export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** True when `path` stands somewhere below `directory`. */
export function isBelow(path: string, directory: string): boolean {
  return path.startsWith(`${directory}/`);
}
