/**
 * The JSON domain: what may stand in a definition, a state, an event or a result.
 *
 * Invariants: values handed out by `cloneFrozenJson` and `freezeJson` are plain, acyclic, at most
 * `MAX_JSON_DEPTH` deep and frozen at every level; a container they have frozen once is never
 * walked or copied again (it carries a private brand: `Object.isFrozen` is shallow).
 */
import { HoldfastTypeError } from './errors.ts';
import { Stamped } from './stamped.ts';
import { hasLoneSurrogate } from './text.ts';

export type JsonPrimitive = string | number | boolean | null;
export type JsonArray = readonly JsonValue[];
export interface JsonObject {
  readonly [key: string]: JsonValue;
}
export type JsonValue = JsonPrimitive | JsonArray | JsonObject;

/** The deepest container nesting allowed; the root value is at depth 0. */
export const MAX_JSON_DEPTH = 256;

/** Thrown when a value is outside the JSON domain. `path` is a JSON pointer ('' is the root). */
export class JsonValueError extends HoldfastTypeError {
  readonly path: string;

  constructor(path: string, what: string) {
    super('INVALID_JSON_VALUE', `${path === '' ? '<root>' : path}: ${what}`, { path });
    this.name = 'JsonValueError';
    this.path = path;
  }
}

/** The mark of what this module has frozen. */
class FrozenBrand extends Stamped {
  readonly #frozen = true;

  static has(value: object): boolean {
    return #frozen in value;
  }

  /** Brands, then freezes: engines may refuse new private fields on frozen objects. */
  static freeze<T extends object>(value: T): T {
    new FrozenBrand(value);
    return Object.freeze(value);
  }
}

/** True for a container that `cloneFrozenJson` or `freezeJson` has already checked and frozen. */
export function isFrozenJson(value: object): boolean {
  return FrozenBrand.has(value);
}

function isKnown(value: unknown): boolean {
  return typeof value === 'object' && value !== null && FrozenBrand.has(value);
}

/**
 * A frozen deep copy of `value`. Throws `JsonValueError` (`INVALID_JSON_VALUE`) for anything that
 * is not JSON. `-0` becomes `0`; `__proto__` stays an ordinary own key.
 *
 * @example cloneFrozenJson({ a: [1] }) // frozen { a: [1] }
 */
export function cloneFrozenJson<T = JsonValue>(value: unknown): T {
  return (isKnown(value) ? value : walk(value, new Walk(true))) as T;
}

/**
 * Like `cloneFrozenJson`, but freezes a value that the caller gives away in place where it can:
 * nothing is copied except containers that hold a `-0`.
 */
export function freezeJson<T = JsonValue>(value: unknown): T {
  return (isKnown(value) ? value : walk(value, new Walk(false))) as T;
}

/**
 * Freezes what `JSON.parse` has just returned: such a value is plain and acyclic by construction,
 * so nothing is checked. For readers of text that was written from checked values only.
 */
export function freezeParsedJson(value: JsonValue): JsonValue {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    for (const item of value) freezeParsedJson(item);
  } else {
    for (const key in value) freezeParsedJson((value as JsonObject)[key] as JsonValue);
  }
  return FrozenBrand.freeze(value);
}

/**
 * Freezes an object that the caller has just built from primitives and frozen JSON. Its strings
 * are known to be sound; anything that is not frozen yet is checked and frozen as usual.
 *
 * @example sealJson({ at, nodeId, result }) // only `result`, if it is new, is walked
 */
export function sealJson<T extends object>(built: T): T {
  if (FrozenBrand.has(built)) return built;
  const isFrozen = Array.isArray(built) ? built.every(isFrozenPart) : hasFrozenParts(built);
  return isFrozen ? FrozenBrand.freeze(built) : freezeJson<T>(built);
}

function hasFrozenParts<T extends object>(built: T): boolean {
  for (const key in built) if (!isFrozenPart(built[key])) return false;
  return true;
}

function isFrozenPart(value: unknown): boolean {
  return typeof value !== 'object' || value === null || FrozenBrand.has(value);
}

/** Appends one key to a JSON pointer, escaping `~` and `/`. */
export function jsonPointer(path: string, key: string | number): string {
  return `${path}/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

/** True for a plain JSON object (not null, not an array). */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Where a walk stands: the containers and keys between the root and the value in hand. */
class Walk {
  readonly keys: (string | number)[] = [];
  readonly open: object[] = [];
  /** Copy every container, instead of freezing in place. */
  readonly copy: boolean;

  constructor(copy: boolean) {
    this.copy = copy;
  }

  path(): string {
    return this.keys.reduce<string>((path, key) => jsonPointer(path, key), '');
  }

  refuse(what: string): never {
    throw new JsonValueError(this.path(), what);
  }
}

function walk(value: unknown, at: Walk): JsonValue {
  switch (typeof value) {
    case 'boolean':
      return value;
    case 'string':
      return hasLoneSurrogate(value) ? at.refuse('a string with a lone surrogate') : value;
    case 'number':
      if (!Number.isFinite(value)) at.refuse(`${value} is not a JSON number`);
      return value === 0 ? 0 : value;
    case 'object':
      return value === null ? null : container(value, at);
    default:
      return at.refuse(`${typeof value} is not a JSON value`);
  }
}

function container(value: object, at: Walk): JsonValue {
  if (FrozenBrand.has(value)) return value as JsonValue;
  if (at.open.length > MAX_JSON_DEPTH) at.refuse(`nested deeper than ${MAX_JSON_DEPTH} levels`);
  if (at.open.includes(value)) at.refuse('the value contains itself');
  at.open.push(value);
  // What others have frozen cannot be branded in place.
  const anew = at.copy || !Object.isExtensible(value);
  const result = Array.isArray(value) ? array(value, anew, at) : object(value, anew, at);
  at.open.pop();
  return FrozenBrand.freeze(result);
}

/** `anew`: give back a copy in any case; else only if a part had to be copied. */
function array(value: readonly unknown[], anew: boolean, at: Walk): JsonArray {
  if (Object.getPrototypeOf(value) !== Array.prototype) at.refuse('not a plain array');
  if (Reflect.ownKeys(value).length !== value.length + 1) {
    at.refuse('a sparse array, extra properties or a symbol key');
  }
  let result: JsonValue[] | undefined = anew ? [] : undefined;
  for (let index = 0; index < value.length; index += 1) {
    at.keys.push(index);
    const before = dataProperty(value, String(index), at);
    const after = walk(before, at);
    if (result === undefined && !Object.is(before, after)) {
      result = value.slice(0, index) as JsonValue[];
    }
    result?.push(after);
    at.keys.pop();
  }
  return result ?? (value as JsonArray);
}

function object(value: object, anew: boolean, at: Walk): JsonObject {
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) {
    at.refuse(`not a plain object (${prototype?.constructor?.name ?? 'class instance'})`);
  }
  const keys = Reflect.ownKeys(value);
  let result: Record<string, JsonValue> | undefined = anew ? {} : undefined;
  for (let index = 0; index < keys.length; index += 1) {
    const key = keys[index];
    if (typeof key !== 'string') return at.refuse('a symbol key');
    at.keys.push(key);
    if (hasLoneSurrogate(key)) at.refuse('a key with a lone surrogate');
    const before = dataProperty(value, key, at);
    const after = walk(before, at);
    if (result === undefined && !Object.is(before, after)) result = copied(value, keys, index);
    if (result !== undefined) setOwn(result, key, after);
    at.keys.pop();
  }
  return result ?? (value as JsonObject);
}

/** A copy of the first `count` keys, which are known to hold JSON. */
function copied(
  value: object,
  keys: readonly PropertyKey[],
  count: number,
): Record<string, JsonValue> {
  const result: Record<string, JsonValue> = {};
  for (const key of keys.slice(0, count)) {
    setOwn(result, String(key), (value as JsonObject)[String(key)] as JsonValue);
  }
  return result;
}

function dataProperty(value: object, key: string, at: Walk): unknown {
  const property = Object.getOwnPropertyDescriptor(value, key);
  if (property === undefined || !('value' in property)) at.refuse('an accessor property');
  if (!property.enumerable) at.refuse('a property that is not enumerable');
  return property.value;
}

/** Assigns an own key; `__proto__` becomes an ordinary property instead of the prototype. */
export function setOwn(target: Record<string, JsonValue>, key: string, value: JsonValue): void {
  if (key !== '__proto__') {
    target[key] = value;
    return;
  }
  Object.defineProperty(target, key, {
    value,
    enumerable: true,
    writable: true,
    configurable: true,
  });
}
