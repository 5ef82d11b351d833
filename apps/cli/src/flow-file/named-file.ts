/** Files by the names that the command line gives them. */
import path from 'node:path';
import { HoldfastError } from 'holdfast';

/**
 * The absolute path of a file; `what` says which argument names it. Throws `INVALID_COMMAND` for a
 * blank name, which would mean the folder itself.
 */
export function namedFile(cwd: string, name: string, what: string): string {
  if (name.trim() !== '') return path.resolve(cwd, name);
  throw new HoldfastError('INVALID_COMMAND', `${what} is empty: it must name a file.`, { what });
}
