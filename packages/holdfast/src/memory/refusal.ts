/** Refusals of a memory, as values: rules return them, nobody throws them. */
import type { JsonValue } from '../base/json.ts';
import type { MemoryError, MemoryErrorCode } from './memory.ts';

export interface RefusalMore {
  readonly path?: string;
  readonly details?: JsonValue;
}

/** A value that an answer may be instead of what was asked for. */
export class Refusal {
  readonly error: MemoryError;

  constructor(code: MemoryErrorCode, message: string, more: RefusalMore = {}) {
    this.error = { code, message, ...more };
  }
}
