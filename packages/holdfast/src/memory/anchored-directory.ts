/**
 * An open directory, through which names are reached without following a link on the way.
 *
 * Invariants: it was a real directory when it was opened; on Linux its names are resolved from the
 * open directory itself, so that nobody can put a link in the way later. Elsewhere they are
 * resolved by path, and what was opened is compared with what stands there.
 */
import { constants, type Dirent, existsSync } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, readdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';

const OPEN_DIRECTORY =
  constants.O_RDONLY | (constants.O_DIRECTORY ?? 0) | (constants.O_NOFOLLOW ?? 0);
const OPEN_FILES = '/proc/self/fd';

/** Thrown where a link or special file stands instead of a directory or file. */
export class NotPlainError extends Error {
  constructor(name: string) {
    super(`${name} is a link or a special file`);
    this.name = 'NotPlainError';
  }
}

export class AnchoredDirectory {
  /** Null where directories cannot be opened (Windows). */
  readonly #handle: FileHandle | null;
  readonly #base: string;

  private constructor(handle: FileHandle | null, path: string) {
    this.#handle = handle;
    this.#base = handle !== null && existsSync(OPEN_FILES) ? `${OPEN_FILES}/${handle.fd}` : path;
  }

  /** Opens the directory at `path`. Throws `NotPlainError`, and what the system says. */
  static async open(path: string): Promise<AnchoredDirectory> {
    const before = await lstat(path, { bigint: true });
    if (!before.isDirectory()) throw new NotPlainError(path);
    if (process.platform === 'win32') return new AnchoredDirectory(null, path);
    const handle = await open(path, OPEN_DIRECTORY);
    const opened = await handle.stat({ bigint: true });
    if (opened.ino === before.ino && opened.dev === before.dev) {
      return new AnchoredDirectory(handle, path);
    }
    await handle.close();
    throw new NotPlainError(path);
  }

  /** The path of a name in this directory; good while it is open. */
  at(name: string): string {
    return join(this.#base, name);
  }

  /** Opens a directory in this one. */
  child(name: string): Promise<AnchoredDirectory> {
    return AnchoredDirectory.open(this.at(name));
  }

  /** Opens a directory in this one, and makes it first where nothing stands. */
  async madeChild(name: string): Promise<AnchoredDirectory> {
    try {
      await mkdir(this.at(name));
      await this.sync();
    } catch (error) {
      if (systemCode(error) !== 'EEXIST') throw error;
    }
    return this.child(name);
  }

  entries(): Promise<Dirent[]> {
    return readdir(this.#base, { withFileTypes: true });
  }

  /** Removes a file, or a link itself; nothing where it is gone. */
  async remove(name: string): Promise<void> {
    try {
      await unlink(this.at(name));
    } catch (error) {
      if (systemCode(error) !== 'ENOENT') throw error;
    }
  }

  /** Makes the names in this directory durable, where the system can. */
  async sync(): Promise<void> {
    await this.#handle?.sync();
  }

  async close(): Promise<void> {
    await this.#handle?.close();
  }
}

/** The system's code of an error, such as `ENOENT`, or ''. */
export function systemCode(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string'
    ? error.code
    : '';
}
