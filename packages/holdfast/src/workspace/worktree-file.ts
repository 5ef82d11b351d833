/**
 * What stands on disk at a path: kind, mode and a digest of every byte, and its lines.
 *
 * Invariants: no symbolic link is followed; a content that was digested is believed to be the same
 * only while its stamp is. The time of the last change in a stamp is set by the file system, and
 * only whoever may set the clock of the machine can set it back.
 */
import { createHash } from 'node:crypto';
import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  readSync,
} from 'node:fs';
import { lstat } from 'node:fs/promises';
import process from 'node:process';
import { type GitCapture, identityOf, type ObjectFormat, standingAt } from './git-layout.ts';
import { keyIn, pathOnDisk } from './git-path.ts';
import { type LineList, LineListBuilder, lineList, noLines } from './line-list.ts';

/** A path on disk at one instant. */
export interface FileState {
  /** Kind, mode and digest. */
  readonly name: string;
  readonly stamp: string;
  /** Whether a later change cannot bear the same stamp. */
  readonly isSettled: boolean;
  /** null when the object store has the content. */
  readonly lines: LineList | null;
  /** The object that has the content, when the index names it. */
  readonly stored: string | null;
}

/** What states are read with. */
export interface StateScope {
  readonly capture: GitCapture;
  readonly format: ObjectFormat;
  /** What was changed before is settled. */
  readonly settledBeforeNs: bigint;
  /** What an earlier look found: believed where the stamp is the same and settled. */
  readonly known: ReadonlyMap<string, FileState>;
}

const CHUNK_BYTES = 64 * 1024;
/** As many chunks are read before other work of the host may go on. */
const CHUNKS_AT_ONCE = 64;
/** The owner's right to run it, and the bits that lend a program the rights of its owner. */
const MODE_BITS = 0o7100n;
/** On Windows there are neither links of this kind nor pipes in the way. */
const OPEN_FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
/** Whether the file system alone sets the time of the last change. */
const HAS_CHANGE_TIME = process.platform !== 'win32';

/** The bits of the mode that count. */
export function modeOf(found: BigIntStats): string {
  return (found.mode & MODE_BITS).toString(8);
}

/** Which file it is and when it was last changed. */
export function stampOf(found: BigIntStats): string {
  const { ctimeNs, mtimeNs, size, mode } = found;
  return `${identityOf(found)}:${ctimeNs}:${mtimeNs}:${size}:${mode}`;
}

/** Reads the states of paths of one worktree. */
export class StateReader {
  readonly #scope: StateScope;
  readonly #buffer: Buffer = Buffer.alloc(CHUNK_BYTES);
  #chunks: number = 0;

  constructor(scope: StateScope) {
    this.#scope = scope;
  }

  /** `staged` is what the index holds there. Throws what the file system throws. */
  async read(key: string, found: BigIntStats, staged: string): Promise<FileState> {
    const known = this.#scope.known.get(key);
    if (known?.isSettled === true && known.stamp === stampOf(found)) return known;
    const place = pathOnDisk(this.#scope.capture.directory, key);
    if (found.isFile()) return this.#readFile(place, staged);
    const state = { stamp: stampOf(found), isSettled: false, stored: null };
    if (found.isSymbolicLink()) {
      const target = readlinkSync(place, 'buffer');
      return { ...state, name: `link ${target.toString('latin1')}`, lines: lineList(target) };
    }
    if (found.isDirectory()) return { ...state, ...gitFolder(place) };
    return { ...state, name: 'special', lines: noLines };
  }

  async #readFile(place: Buffer, staged: string): Promise<FileState> {
    const file = openSync(place, OPEN_FLAGS);
    try {
      const found = fstatSync(file, { bigint: true });
      const bytes = createHash('sha256');
      const object = createHash(this.#scope.format).update(`blob ${found.size}\0`);
      await this.#pass(file, place, [bytes, object]);
      const id = object.digest('hex');
      const isStored = staged.startsWith('100') && staged.endsWith(` ${id}`);
      return {
        name: `file ${modeOf(found)} ${bytes.digest('hex')}`,
        stamp: stampOf(found),
        isSettled: HAS_CHANGE_TIME && found.ctimeNs < this.#scope.settledBeforeNs,
        lines: isStored ? null : await this.#readLines(file, place),
        stored: isStored ? id : null,
      };
    } finally {
      closeSync(file);
    }
  }

  async #readLines(file: number, place: Buffer): Promise<LineList> {
    const builder = new LineListBuilder();
    await this.#pass(file, place, [{ update: (chunk) => builder.push(chunk) }]);
    return builder.end();
  }

  async #pass(
    file: number,
    place: Buffer,
    readers: readonly { update(chunk: Buffer): unknown }[],
  ): Promise<void> {
    for (let at = 0; ; at += CHUNK_BYTES) {
      this.#scope.capture.signal.throwIfAborted();
      this.#chunks += 1;
      // Waiting for the file system lets other work of the host go on.
      if (this.#chunks % CHUNKS_AT_ONCE === 0) await lstat(place);
      const size = fill(file, this.#buffer, at);
      const chunk = this.#buffer.subarray(0, size);
      for (const reader of readers) reader.update(chunk);
      if (size < CHUNK_BYTES) return;
    }
  }
}

/** Fills the buffer unless the file ends: a short read must not look like an end. */
function fill(file: number, buffer: Buffer, at: number): number {
  let size = 0;
  while (size < buffer.length) {
    const read = readSync(file, buffer, size, buffer.length - size, at + size);
    if (read === 0) break;
    size += read;
  }
  return size;
}

/** A folder of git that is none of a known repository: one path, known by all stamps in it. */
function gitFolder(place: Buffer): Pick<FileState, 'name' | 'lines'> {
  const hash = createHash('sha256');
  const root = place.toString('latin1');
  const folders = [''];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const inside = folder === '' ? place : Buffer.from(`${root}/${folder}`, 'latin1');
    for (const name of readdirSync(inside, { encoding: 'buffer' })) {
      const key = keyIn(folder, name.toString('latin1'));
      const found = standingAt(Buffer.from(`${root}/${key}`, 'latin1'));
      if (found?.isDirectory() === true) folders.push(key);
      else if (found !== undefined) hash.update(`${stampOf(found)} ${key}\0`);
    }
  }
  const name = `git ${hash.digest('hex')}`;
  return { name, lines: lineList(Buffer.from(name)) };
}
