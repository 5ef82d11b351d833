/**
 * The live Memory port: files under `/memories` that a model or a node edits by commands.
 *
 * Invariant: `execute` never rejects; what goes wrong is a refusal with a code.
 */
import type { JsonValue } from '../base/json.ts';

/** One edit or look-up. Paths begin with `/memories`; lines count from 1. */
export type MemoryCommand =
  | {
      readonly command: 'view';
      readonly path: string;
      readonly view_range?: readonly [number, number];
    }
  | { readonly command: 'create'; readonly path: string; readonly file_text: string }
  | {
      readonly command: 'str_replace';
      readonly path: string;
      readonly old_str: string;
      readonly new_str: string;
    }
  | {
      readonly command: 'insert';
      readonly path: string;
      readonly insert_line: number;
      readonly insert_text: string;
    }
  | { readonly command: 'delete'; readonly path: string }
  | { readonly command: 'rename'; readonly old_path: string; readonly new_path: string };

/** Why a memory refused a command. */
export type MemoryErrorCode =
  | 'INVALID_COMMAND'
  | 'INVALID_ARGUMENT'
  | 'INVALID_PATH'
  | 'ROOT_PROTECTED'
  | 'INVALID_EXTENSION'
  | 'NOT_FOUND'
  | 'ALREADY_EXISTS'
  | 'PATH_CONFLICT'
  | 'INVALID_RANGE'
  | 'MATCH_NOT_FOUND'
  | 'MATCH_NOT_UNIQUE'
  | 'LIMIT_EXCEEDED'
  | 'CONFLICT'
  | 'LOCKED'
  | 'UNSAFE_STORAGE'
  | 'STORAGE_ERROR';

/** Why a memory refused a command, in words. */
export interface MemoryError {
  readonly code: MemoryErrorCode;
  readonly message: string;
  readonly path?: string;
  readonly details?: JsonValue;
}

/**
 * What a command came to. `value` has the shape that `memory-values.ts` gives for its command; the
 * `command` of a refusal is the name as it was given (cut), or `unknown` where none was.
 */
export type MemoryResult =
  | { readonly ok: true; readonly command: MemoryCommand['command']; readonly value: JsonValue }
  | { readonly ok: false; readonly command: string; readonly error: MemoryError };

/**
 * A live memory. `scope` is a non-blank name of what it is shared by. Commands given to one
 * `Memory` are carried out one after the other, in the order of the calls. Seed 000.
 */
export interface Memory {
  readonly scope: string;
  execute(command: MemoryCommand): Promise<MemoryResult>;
}
