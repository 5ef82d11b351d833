/** Reads JSON from files, from the command line and from standard input. */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { HoldfastError, type JsonValue } from 'holdfast';
import type { Terminal } from '../terminal.ts';
import { type JsonFault, jsonFault, repeatedKey } from './json-fault.ts';

/** The bytes of a file. Throws `FILE_UNREADABLE`. */
function readBytes(file: string, what: string): Uint8Array {
  try {
    return readFileSync(file);
  } catch (error) {
    throw unreadable(file, what, error);
  }
}

/** The text of UTF-8 without its byte order mark. Throws `FILE_NOT_JSON`. */
function utf8Text(bytes: Uint8Array, place: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    const offset = firstFaultyByte(bytes);
    throw new HoldfastError(
      'FILE_NOT_JSON',
      `${place}: this is not UTF-8 at byte ${offset} (from 0).`,
      { place, offset },
      error,
    );
  }
}

/** Where the first character begins that is none. */
function firstFaultyByte(bytes: Uint8Array): number {
  let good = 0;
  let bad = bytes.length + 1;
  while (bad - good > 1) {
    const middle = Math.floor((good + bad) / 2);
    if (isUtf8(bytes.subarray(0, middle), { stream: true })) good = middle;
    else bad = middle;
  }
  // The bytes before may begin a character that does not end.
  while (!isUtf8(bytes.subarray(0, good))) good -= 1;
  return good;
}

/** As a stream, what may become UTF-8 is UTF-8. */
function isUtf8(bytes: Uint8Array, options: { readonly stream?: boolean } = {}): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, options);
    return true;
  } catch {
    return false;
  }
}

/** The error for a file that cannot be used. */
export function unreadable(file: string, what: string, cause: unknown): HoldfastError {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  const why = { ENOENT: 'it does not exist', EISDIR: 'it is a folder', EACCES: 'no permission' };
  const shown = why[code as keyof typeof why] ?? (cause instanceof Error ? cause.message : code);
  return new HoldfastError(
    'FILE_UNREADABLE',
    `${what} ${file}: ${shown}.`,
    { file, reason: code },
    cause,
  );
}

/** Parses a text; `place` names it in the refusal. Throws `FILE_NOT_JSON`. */
export function parseJson(text: string, place: string): JsonValue {
  try {
    const value = JSON.parse(text) as JsonValue;
    const repeated = repeatedKey(text);
    if (repeated === null) return value;
    throw notJson(place, repeated);
  } catch (error) {
    throw error instanceof HoldfastError ? error : notJson(place, jsonFault(text), error);
  }
}

function notJson(place: string, fault: JsonFault, cause?: unknown): HoldfastError {
  const { line, column, message } = fault;
  return new HoldfastError(
    'FILE_NOT_JSON',
    `${place}, line ${line}, column ${column}: ${message}.`,
    { place, line, column },
    cause,
  );
}

/** Throws `FILE_UNREADABLE`, `FILE_NOT_JSON`. */
export function readJsonFile(file: string, what: string): JsonValue {
  return parseJson(utf8Text(readBytes(file, what), file), file);
}

/**
 * A value given as a file name, as JSON, or as `-` for standard input. What begins like JSON is
 * JSON, unless a file of that name exists.
 */
export async function readJsonArgument(
  given: string,
  option: string,
  terminal: Terminal,
): Promise<JsonValue> {
  if (given === '-') {
    const place = `${option} (standard input)`;
    return parseJson(utf8Text(await terminal.readInput(), place), place);
  }
  const file = path.resolve(terminal.cwd, given);
  if (given.trim() !== '' && existsSafely(file))
    return readJsonFile(file, `${option} names the file`);
  if (/^\s*(?:[[{"\-\d]|(?:true|false|null)\s*$)/.test(given)) return parseJson(given, option);
  throw new HoldfastError(
    'FILE_UNREADABLE',
    `${option}: ${JSON.stringify(given.slice(0, 200))} is neither JSON nor the name of a file.`,
    { file: given.slice(0, 200) },
  );
}

function existsSafely(file: string): boolean {
  return !file.includes('\0') && existsSync(file);
}
