/**
 * Paths as git knows them: bytes. A key holds one character for each byte, so that no name is lost
 * or taken for another; text is for people and for globs.
 */
import { isUtf8 } from 'node:buffer';
import path from 'node:path';

/** The text of a path: its bytes as UTF-8, or `\xHH` for each byte beyond ASCII when it is none. */
export function pathText(key: string): string {
  const bytes = Buffer.from(key, 'latin1');
  if (isUtf8(bytes)) return bytes.toString('utf8');
  return key.replace(/[\x80-\xff]/g, (byte) => `\\x${byte.charCodeAt(0).toString(16)}`);
}

/** Where the path is on disk. */
export function pathOnDisk(directory: string, key: string): Buffer {
  return Buffer.concat([Buffer.from(directory + path.sep), Buffer.from(key, 'latin1')]);
}

/** The same as text, for what takes no bytes; null when the name is no UTF-8. */
export function pathOnDiskText(directory: string, key: string): string | null {
  return isUtf8(Buffer.from(key, 'latin1')) ? path.join(directory, pathText(key)) : null;
}

/** The key of `name` in `folder`; the top folder is ''. */
export function keyIn(folder: string, name: string): string {
  return folder === '' ? name : `${folder}/${name}`;
}
