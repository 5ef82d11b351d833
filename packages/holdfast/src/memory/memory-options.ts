/** What every adapter of the memory port is given, checked once when a memory is made. */
import { HoldfastError } from '../base/errors.ts';
import { textFault } from '../base/identifier.ts';

/** How much a memory holds. Sizes are in bytes of UTF-8. */
export interface MemoryLimits {
  /** The largest file. 256 KiB by default. */
  readonly maxFileBytes: number;
  /** All files together. 16 MiB by default. */
  readonly maxTotalBytes: number;
  /** 1,000 by default. */
  readonly maxFiles: number;
}

export interface MemoryOptions {
  /** A non-blank name of what the memory is shared by; a label, it chooses no files. */
  readonly scope: string;
  readonly limits?: Partial<MemoryLimits> | undefined;
  /** The endings that files may have, such as `.md`, in any case; any by default. */
  readonly extensions?: readonly string[] | undefined;
  /** Whether a write may give up the files written longest ago for its own; no by default. */
  readonly evict?: 'oldest' | undefined;
}

/** The options with their defaults. */
export interface MemoryRules {
  readonly scope: string;
  readonly limits: MemoryLimits;
  readonly extensions: readonly string[] | null;
  readonly evicts: boolean;
}

/** The limits of a memory that was given none. */
export const defaultMemoryLimits: MemoryLimits = Object.freeze({
  maxFileBytes: 256 * 1024,
  maxTotalBytes: 16 * 1024 * 1024,
  maxFiles: 1_000,
});

const EXTENSION = /^\.[A-Za-z0-9][A-Za-z0-9._-]{0,31}$/;

/** The rules of a memory. Throws `INVALID_OPTION`. */
export function checkedMemoryOptions(options: MemoryOptions): MemoryRules {
  const { scope, limits, extensions, evict } = options;
  const fault = textFault(scope);
  if (fault !== null) throw invalid('scope', fault);
  if (evict !== undefined && evict !== 'oldest') {
    throw invalid('evict', `it must be 'oldest' or left out, not ${String(evict)}`);
  }
  return {
    scope,
    limits: checkedLimits(limits ?? {}),
    extensions: extensions === undefined ? null : checkedExtensions(extensions),
    evicts: evict === 'oldest',
  };
}

/** The refusal of an option of a memory. */
export function invalid(option: string, what: string): HoldfastError {
  return new HoldfastError('INVALID_OPTION', `Option ${option} of a memory: ${what}.`, { option });
}

function checkedLimits(given: Partial<MemoryLimits>): MemoryLimits {
  const limits = { ...defaultMemoryLimits, ...given };
  for (const name of ['maxFileBytes', 'maxTotalBytes', 'maxFiles'] as const) {
    const limit = limits[name];
    if (Number.isSafeInteger(limit) && limit >= 1) continue;
    throw invalid(`limits.${name}`, `it must be a whole number of at least 1, not ${limit}`);
  }
  return Object.freeze(limits);
}

function checkedExtensions(given: readonly string[]): readonly string[] {
  if (!Array.isArray(given) || given.length === 0) {
    throw invalid('extensions', 'it must be a list of at least one ending, or left out');
  }
  return given.map((extension: unknown) => {
    if (typeof extension === 'string' && EXTENSION.test(extension)) return extension.toLowerCase();
    throw invalid('extensions', `an ending is a dot and letters, not ${String(extension)}`);
  });
}
