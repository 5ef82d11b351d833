/** Reads JSON from files, from the command line and from standard input. */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { HoldfastError, type JsonValue } from 'holdfast';
import type { Terminal } from '../terminal.ts';
import { jsonFault } from './json-fault.ts';

/** The text of a file without its byte order mark. Throws `FILE_UNREADABLE`. */
function readText(file: string, what: string): string {
  try {
    return readFileSync(file, 'utf8').replace(/^\uFEFF/, '');
  } catch (error) {
    throw unreadable(file, what, error);
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
    return JSON.parse(text) as JsonValue;
  } catch (error) {
    const { line, column, message } = jsonFault(text);
    throw new HoldfastError(
      'FILE_NOT_JSON',
      `${place}, line ${line}, column ${column}: ${message}.`,
      { place, line, column },
      error,
    );
  }
}

/** Throws `FILE_UNREADABLE`, `FILE_NOT_JSON`. */
export function readJsonFile(file: string, what: string): JsonValue {
  return parseJson(readText(file, what), file);
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
  if (given === '-') return parseJson(await terminal.readInput(), `${option} (standard input)`);
  const file = path.resolve(terminal.cwd, given);
  if (existsSafely(file)) return readJsonFile(file, `${option} names the file`);
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
