/** The types of the language: those of JSON, and `any` for what is only known in a run. */
import type { JsonArray, JsonObject, JsonValue } from '../base/json.ts';

export type ValueType = 'null' | 'boolean' | 'number' | 'string' | 'list' | 'map';
export type StaticType = ValueType | 'any';

/** The JavaScript type of a value of type `T`. */
export type ValueOf<T extends StaticType> = T extends 'string'
  ? string
  : T extends 'number'
    ? number
    : T extends 'boolean'
      ? boolean
      : T extends 'list'
        ? JsonArray
        : T extends 'map'
          ? JsonObject
          : T extends 'null'
            ? null
            : JsonValue;

/** The type of a value, or undefined for one that is not JSON at all. */
export function typeOfValue(value: unknown): ValueType | undefined {
  switch (typeof value) {
    case 'string':
      return 'string';
    case 'number':
      return 'number';
    case 'boolean':
      return 'boolean';
    case 'object':
      if (value === null) return 'null';
      return Array.isArray(value) ? 'list' : mapType(value);
    default:
      return undefined;
  }
}

function mapType(value: object): 'map' | undefined {
  const prototype: unknown = Object.getPrototypeOf(value);
  // A plain object of another realm has a prototype that itself has none.
  const plain =
    prototype === null ||
    prototype === Object.prototype ||
    (typeof prototype === 'object' && Object.getPrototypeOf(prototype) === null);
  return plain ? 'map' : undefined;
}

/** True when a value of static type `found` may be used where `wanted` is asked for. */
export function fitsType(wanted: StaticType, found: StaticType): boolean {
  return wanted === 'any' || found === 'any' || wanted === found;
}

/** `value`'s type as a word for messages. */
export function typeName(value: unknown): string {
  return typeOfValue(value) ?? `a value that is not JSON`;
}
