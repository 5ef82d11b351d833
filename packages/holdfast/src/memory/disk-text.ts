/** One file of a memory on disk: read whole, or written whole beside its place. */
import { type BigIntStats, constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { type AnchoredDirectory, NotPlainError, systemCode } from './anchored-directory.ts';
import { UNFINISHED } from './disk-walk.ts';

const READ = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
const NS_PER_MS = 1_000_000n;

/** The text of a file, and which file it was. */
export interface ReadText {
  readonly text: string;
  readonly stamp: BigIntStats;
}

/**
 * Reads a file; null where it is gone, is over `maxBytes` or changes meanwhile. Throws
 * `NotPlainError` for a link, and an error for bytes that are no UTF-8.
 */
export async function readText(
  directory: AnchoredDirectory,
  name: string,
  maxBytes: number,
): Promise<ReadText | null> {
  let file: FileHandle;
  try {
    file = await open(directory.at(name), READ);
  } catch (error) {
    const code = systemCode(error);
    if (code === 'ENOENT') return null;
    if (code === 'ELOOP') throw new NotPlainError(name);
    throw error;
  }
  try {
    const stamp = await file.stat({ bigint: true });
    if (!stamp.isFile()) throw new NotPlainError(name);
    if (stamp.size > BigInt(maxBytes)) return null;
    const bytes = await file.readFile();
    if (BigInt(bytes.length) !== stamp.size) return null;
    return { text: decoded(bytes), stamp };
  } finally {
    await file.close();
  }
}

function decoded(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new Error('the file holds bytes that are no UTF-8 text');
  }
}

/** True when both are the same file, and nothing has written to it between them. */
export function isSameFile(one: BigIntStats, other: BigIntStats): boolean {
  return (
    one.ino === other.ino &&
    one.dev === other.dev &&
    one.size === other.size &&
    one.mtimeNs === other.mtimeNs
  );
}

export interface NewText {
  readonly text: string;
  /** The file gets a time after this one. */
  readonly after: bigint;
}

/** What a write leaves in the root until its file has its place. */
export interface UnfinishedFile {
  readonly name: string;
  /** When the file system says it was written. */
  readonly writtenAt: bigint;
}

/** Writes `text` under a hidden name of the root, and makes its bytes durable. */
export async function writeUnfinished(
  root: AnchoredDirectory,
  { text, after }: NewText,
  firstNumber: number,
): Promise<UnfinishedFile> {
  const { file, name } = await openUnfinished(root, firstNumber);
  try {
    await file.writeFile(text, 'utf8');
    const { mtimeNs } = await file.stat({ bigint: true });
    if (mtimeNs <= after) {
      // Two writes within one tick of the file system still have an order.
      const seconds = Number(after / NS_PER_MS + 1n) / 1_000;
      await file.utimes(seconds, seconds);
    }
    await file.sync();
    return { name, writtenAt: mtimeNs };
  } finally {
    await file.close();
  }
}

/** A free name: a process of the same number in another container, or a killed one, has some. */
async function openUnfinished(
  root: AnchoredDirectory,
  firstNumber: number,
): Promise<{ readonly file: FileHandle; readonly name: string }> {
  for (let number = firstNumber; ; number += 1) {
    const name = `${UNFINISHED}${process.pid}-${number}`;
    try {
      return { file: await open(root.at(name), 'wx', 0o600), name };
    } catch (error) {
      if (systemCode(error) !== 'EEXIST') throw error;
    }
  }
}
