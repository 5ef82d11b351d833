/** Small checks that the event catalog is written with: each returns null, or what is wrong. */
import { isSha256Digest } from '../base/digest.ts';
import { textFault } from '../base/identifier.ts';
import { isJsonObject, type JsonValue } from '../base/json.ts';
import { isIsoTime } from '../base/time.ts';

export type PayloadCheck = (value: JsonValue) => string | null;

export type FieldChecks = Readonly<Record<string, PayloadCheck>>;

/** An object with exactly these keys; the optional ones may be absent. */
export function exact(required: FieldChecks, optional: FieldChecks = {}): PayloadCheck {
  const names = Object.keys(required);
  const all = new Map(Object.entries({ ...required, ...optional }));
  return (value) => {
    if (!isJsonObject(value)) return 'expected an object';
    for (const name of names) {
      if (!Object.hasOwn(value, name)) return `${name} is missing`;
    }
    for (const key of Object.keys(value)) {
      const check = all.get(key);
      if (check === undefined) return `${key} is not a field of this event`;
      const fault = check(value[key] ?? null);
      if (fault !== null) return `${key}: ${fault}`;
    }
    return null;
  };
}

export const json: PayloadCheck = () => null;

export const string: PayloadCheck = (value) =>
  typeof value === 'string' ? null : 'expected a string';

export const text: PayloadCheck = (value) => textFault(value);

export const boolean: PayloadCheck = (value) =>
  typeof value === 'boolean' ? null : 'expected true or false';

export const falseOnly: PayloadCheck = (value) => (value === false ? null : 'expected false');

export const trueOnly: PayloadCheck = (value) => (value === true ? null : 'expected true');

export const digest: PayloadCheck = (value) =>
  isSha256Digest(value) ? null : 'expected sha256: and 64 hex digits';

export const isoTime: PayloadCheck = (value) =>
  isIsoTime(value) ? null : 'expected a moment such as 2026-11-30T10:00:00.000Z';

export const positiveInteger: PayloadCheck = (value) =>
  Number.isSafeInteger(value) && Number(value) >= 1 ? null : 'expected a positive integer';

export const wholeNumber: PayloadCheck = (value) =>
  Number.isSafeInteger(value) && Number(value) >= 0 ? null : 'expected a whole number from 0';

/** One of a closed list of words. */
export function oneOf(...words: readonly string[]): PayloadCheck {
  return (value) =>
    typeof value === 'string' && words.includes(value)
      ? null
      : `expected one of ${words.join(', ')}`;
}

/** The key by which a pause of each of these kinds is ended. */
const ENDED_BY: ReadonlyMap<JsonValue | undefined, string> = new Map([
  ['signal', 'name'],
  ['child', 'runId'],
  ['reconcile-attempt', 'attemptId'],
]);

/** What a pause waits for: an object with a `kind`, perhaps a `dueAt`, and the host's own keys. */
export const pauseRequest: PayloadCheck = (value) => {
  if (!isJsonObject(value)) return 'expected an object';
  const fault = text(value['kind'] ?? null);
  if (fault !== null) return `kind: ${fault}`;
  const key = ENDED_BY.get(value['kind']);
  const keyFault = key === undefined ? null : text(value[key] ?? null);
  if (keyFault !== null) return `${key}: ${keyFault}`;
  return value['dueAt'] === undefined ? null : isoTime(value['dueAt']);
};
