/** Where engines are checked: a directory of its own, so that a check sees nobody's work. */
import { lstatSync, realpathSync } from 'node:fs';
import { isAbsolute, normalize } from 'node:path';
import { errorText, HoldfastError } from '../base/errors.ts';

/** The directory, which exists. Throws `INVALID_PREFLIGHT_CONFIG`. */
export function requireScratch(given: string | undefined): string {
  if (typeof given !== 'string') return refuse('it is missing');
  if (!isAbsolute(given)) return refuse(`${shown(given)} is not absolute`);
  if (normalize(given) !== given) return refuse(`${shown(given)} is not in its shortest form`);
  const fault = directoryFault(given);
  return fault === null ? given : refuse(`${shown(given)} ${fault}`);
}

function directoryFault(path: string): string | null {
  try {
    const found = lstatSync(path);
    if (!found.isDirectory()) return found.isSymbolicLink() ? 'is a link' : 'is no directory';
    const real = realpathSync(path);
    return real === path ? null : `leads through a symbolic link to ${shown(real)}`;
  } catch (error) {
    return `cannot be read: ${errorText(error)}`;
  }
}

function shown(path: string): string {
  return JSON.stringify(path.slice(0, 200));
}

function refuse(what: string): never {
  throw new HoldfastError(
    'INVALID_PREFLIGHT_CONFIG',
    `The plan asks for engine checks, and they need preflightScratchDirectory: ${what}. Give the ` +
      'absolute path of an existing directory.',
  );
}
