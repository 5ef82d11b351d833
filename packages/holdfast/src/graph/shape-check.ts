/**
 * Collects what is wrong with a JSON value of a known shape, so that all of it is told at once.
 *
 * Invariant: the value has already passed `cloneFrozenJson`; each check returns the part in its
 * type, or `undefined` after it has noted why not. A part noted as wrong is not looked into.
 */
import { boundedIdentifierFault, textFault } from '../base/identifier.ts';
import {
  cloneFrozenJson,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  jsonPointer,
} from '../base/json.ts';
import { truncateText } from '../base/text.ts';
import { type GraphIssue, GraphValidationError, jsonIssue } from './validation-error.ts';

/** Which fields an object must and may have. */
export interface FieldNames {
  readonly required: readonly string[];
  readonly optional?: readonly string[];
  /** Fields that are not named are allowed. */
  readonly open?: boolean;
}

const VALUE_LENGTH = 80;

/** `value` as bounded text for a message. */
export function shown(value: unknown): string {
  return truncateText(JSON.stringify(value) ?? String(value), VALUE_LENGTH);
}

/** A frozen copy of `value`, or `GraphValidationError` when it is not JSON. */
export function jsonOf(what: string, value: unknown): JsonValue {
  try {
    return cloneFrozenJson(value);
  } catch (error) {
    throw new GraphValidationError(what, [jsonIssue(error, '')]);
  }
}

export class ShapeCheck {
  readonly issues: GraphIssue[] = [];

  note(code: string, path: string, message: string): undefined {
    this.issues.push({ code, path, message });
    return undefined;
  }

  object(value: unknown, path: string, fields: FieldNames): JsonObject | undefined {
    if (!isJsonObject(value)) {
      return this.note('INVALID_SHAPE', path, `expected an object, found ${shown(value)}`);
    }
    for (const name of fields.required) {
      if (Object.hasOwn(value, name)) continue;
      this.note('MISSING_FIELD', jsonPointer(path, name), `the field "${name}" is missing`);
    }
    if (fields.open !== true) this.#refuseOthers(value, path, fields);
    return value;
  }

  #refuseOthers(value: JsonObject, path: string, fields: FieldNames): void {
    for (const name of Object.keys(value)) {
      if (fields.required.includes(name) || fields.optional?.includes(name)) continue;
      const known = [...fields.required, ...(fields.optional ?? [])].join(', ');
      const at = jsonPointer(path, name);
      this.note('UNKNOWN_FIELD', at, `no such field; the fields are ${known}`);
    }
  }

  /** The entries of an array with their paths; none when it is no array. */
  list(value: unknown, path: string): readonly (readonly [JsonValue, string])[] {
    if (value === undefined) return [];
    if (!Array.isArray(value)) {
      this.note('INVALID_SHAPE', path, `expected an array, found ${shown(value)}`);
      return [];
    }
    return value.map((entry: JsonValue, index) => [entry, `${path}/${index}`] as const);
  }

  text(value: unknown, path: string, code = 'INVALID_TEXT'): string | undefined {
    if (value === undefined) return undefined;
    const fault = textFault(value);
    return fault === null ? (value as string) : this.note(code, path, `${fault}: ${shown(value)}`);
  }

  id(value: unknown, path: string): string | undefined {
    if (value === undefined) return undefined;
    const fault = boundedIdentifierFault(value);
    return fault === null
      ? (value as string)
      : this.note('INVALID_ID', path, `${fault}: ${shown(value)}`);
  }

  version(value: unknown, path: string): number | undefined {
    if (value === undefined) return undefined;
    return isPositiveInteger(value)
      ? value
      : this.note('INVALID_VERSION', path, `expected an integer from 1, found ${shown(value)}`);
  }

  oneOf(
    value: unknown,
    path: string,
    allowed: readonly string[],
    code: string,
  ): string | undefined {
    if (value === undefined) return undefined;
    if (typeof value === 'string' && allowed.includes(value)) return value;
    return this.note(code, path, `expected one of ${allowed.join(', ')}, found ${shown(value)}`);
  }

  /** Notes `code` for each text that stands more than once; `undefined` entries are passed over. */
  unique(texts: readonly (readonly [string | undefined, string])[], code: string): void {
    const seen = new Set<string>();
    for (const [text, path] of texts) {
      if (text === undefined) continue;
      if (seen.has(text)) this.note(code, path, `${shown(text)} stands more than once`);
      seen.add(text);
    }
  }

  /** Throws everything that was noted as one `GraphValidationError`. */
  done(what: string): void {
    if (this.issues.length > 0) throw new GraphValidationError(what, this.issues);
  }
}

export function isPositiveInteger(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 1;
}
