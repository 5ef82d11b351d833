/**
 * What stands on disk at a path, without following any symbolic link: not the last name, nor one
 * on the way to it.
 */
import { constants } from 'node:fs';
import { type FileHandle, lstat, open, readlink } from 'node:fs/promises';
import { inspectionAborted, inspectionFailed } from './git-command.ts';
import { pathOnDisk, pathText } from './git-path.ts';
import { type LineList, LineListBuilder } from './line-list.ts';

/** What a path leads to. `special` is a pipe, a socket or a device: it is never opened. */
export type WorktreeFile =
  | { readonly kind: 'absent' }
  | { readonly kind: 'file'; readonly isExecutable: boolean; readonly lines: LineList }
  | { readonly kind: 'link'; readonly target: Buffer }
  | { readonly kind: 'folder' }
  | { readonly kind: 'special' };

const CHUNK_BYTES = 64 * 1024;
const EXECUTABLE = 0o100;
/** On Windows there are neither links of this kind nor pipes in the way. */
const OPEN_FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
const ABSENT: WorktreeFile = { kind: 'absent' };

/** Looks at paths of one worktree at one instant. */
export class WorktreeReader {
  readonly #directory: string;
  readonly #signal: AbortSignal;
  /** Whether a folder on the way is one; many paths have the same. */
  readonly #folders: Map<string, boolean> = new Map();

  constructor(directory: string, signal: AbortSignal) {
    this.#directory = directory;
    this.#signal = signal;
  }

  /** Throws `WORKSPACE_INSPECTION` when it cannot be read, `ABORTED` by the signal. */
  async read(key: string): Promise<WorktreeFile> {
    try {
      if (!(await this.#isReachable(key))) return ABSENT;
      return await this.#readPath(key);
    } catch (error) {
      if (this.#signal.aborted) throw inspectionAborted(this.#signal);
      if (isAbsent(error)) return ABSENT;
      const why = `${JSON.stringify(pathText(key))} cannot be read.`;
      throw inspectionFailed(this.#directory, why, error);
    }
  }

  async #isReachable(key: string): Promise<boolean> {
    for (let at = key.indexOf('/'); at >= 0; at = key.indexOf('/', at + 1)) {
      const folder = key.slice(0, at);
      const known = this.#folders.get(folder) ?? (await this.#isFolder(folder));
      this.#folders.set(folder, known);
      if (!known) return false;
    }
    return true;
  }

  async #isFolder(key: string): Promise<boolean> {
    return (await lstat(pathOnDisk(this.#directory, key))).isDirectory();
  }

  async #readPath(key: string): Promise<WorktreeFile> {
    const place = pathOnDisk(this.#directory, key);
    const found = await lstat(place);
    if (found.isSymbolicLink()) {
      return { kind: 'link', target: await readlink(place, { encoding: 'buffer' }) };
    }
    if (found.isDirectory()) return { kind: 'folder' };
    if (!found.isFile()) return { kind: 'special' };
    const isExecutable = (found.mode & EXECUTABLE) !== 0;
    return { kind: 'file', isExecutable, lines: await this.#readLines(place) };
  }

  async #readLines(place: Buffer): Promise<LineList> {
    const file = await open(place, OPEN_FLAGS);
    try {
      const builder = new LineListBuilder();
      const buffer = Buffer.alloc(CHUNK_BYTES);
      for (;;) {
        this.#signal.throwIfAborted();
        const size = await fill(file, buffer);
        builder.push(buffer.subarray(0, size));
        if (size < buffer.length) return builder.end();
      }
    } finally {
      await file.close();
    }
  }
}

/** Reads until the buffer is full or the file ends: a short read must not look like an end. */
async function fill(file: FileHandle, buffer: Buffer): Promise<number> {
  let size = 0;
  while (size < buffer.length) {
    const { bytesRead } = await file.read(buffer, size, buffer.length - size);
    if (bytesRead === 0) break;
    size += bytesRead;
  }
  return size;
}

function isAbsent(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : null;
  return code === 'ENOENT' || code === 'ENOTDIR';
}
