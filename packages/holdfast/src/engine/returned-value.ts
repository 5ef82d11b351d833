/**
 * Reading what an engine has handed over: perhaps plain JavaScript, perhaps hostile.
 *
 * Invariants: each property is read once; whatever a getter or proxy throws becomes
 * `RESULT_INVALID` at the field that was being read; a message shows a value of `SHOWN_LENGTH`
 * characters at most whole, and of a longer one only its length: half a secret is no longer found.
 */
import { HoldfastError, isHoldfastError } from '../base/errors.ts';
import { textFault } from '../base/identifier.ts';
import { hasLoneSurrogate } from '../base/text.ts';

const SHOWN_LENGTH = 80;
/** Names stand in receipts. */
const MAX_NAME_LENGTH = 200;

/** A value and where it stands, as a JSON pointer ('' is what the engine returned). */
export interface Returned {
  readonly value: unknown;
  readonly path: string;
}

/** What a refusal may say beside the value itself. */
interface RefusalNote {
  /** In place of the value, when that cannot be shown. */
  readonly seen?: string;
  readonly cause?: unknown;
}

/** Throws `RESULT_INVALID` naming the field, what stands there and what is expected. */
export function refuse(at: Returned, expected: string, note: RefusalNote = {}): never {
  const field = at.path === '' ? 'the returned value' : at.path;
  const seen = note.seen === undefined ? shown(at.value) : brief(note.seen, note.seen);
  const message = `The engine's answer is malformed: ${field} is ${seen}, expected ${expected}.`;
  throw new HoldfastError('RESULT_INVALID', message, { field: at.path, expected }, note.cause);
}

/** The properties of an object, each to be read once. */
export type Properties = (name: string) => Returned;

/** The properties of the object at `at`; `expected` says what kind of object is wanted. */
export function propertiesOf(at: Returned, expected: string): Properties {
  const { value, path } = at;
  const isObject = typeof value === 'object' && value !== null;
  if (!isObject || guarded(at, () => Array.isArray(value))) refuse(at, expected);
  return (name) => read(value, name, `${path}/${name}`);
}

/** How long an array may be, and how a refusal says so. */
export interface ArrayBounds {
  readonly least: number;
  readonly most: number;
  readonly what: string;
}

/** The items of the array at `at`. */
export function itemsOf(at: Returned, { least, most, what }: ArrayBounds): readonly Returned[] {
  const { value, path } = at;
  if (!guarded(at, () => Array.isArray(value))) refuse(at, what);
  const list = value as readonly unknown[];
  const { value: length } = read(list, 'length', path);
  if (typeof length !== 'number' || !(length >= least && length <= most)) {
    return refuse({ value: length, path: `${path}/length` }, what);
  }
  const items: Returned[] = [];
  for (let index = 0; index < length; index += 1) {
    items.push(read(list, String(index), `${path}/${index}`));
  }
  return items;
}

/** A name: text that is not blank, has no control character and fits an event beside others. */
export function nameAt(at: Returned, expected: string): string {
  const { value } = at;
  const isName = textFault(value) === null && (value as string).length <= MAX_NAME_LENGTH;
  return isName
    ? (value as string)
    : refuse(at, `${expected} of up to ${MAX_NAME_LENGTH} characters`);
}

/** Any text that has a UTF-8 form. */
export function textAt(at: Returned): string {
  const { value } = at;
  if (typeof value !== 'string') return refuse(at, 'text');
  return hasLoneSurrogate(value) ? refuse(at, 'text without half surrogate pairs') : value;
}

/** What `work` returns; what it throws, if it is no refusal yet, is one of `at`. */
export function guarded<T>(at: Returned, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (isRefusal(error)) throw error;
    return refuse(at, 'plain JSON values', { seen: 'a value that cannot be read', cause: error });
  }
}

function read(object: object, name: string, path: string): Returned {
  const at = { value: undefined, path };
  return { value: guarded(at, () => Reflect.get(object, name) as unknown), path };
}

/** A hostile getter may throw what cannot even be looked at. */
function isRefusal(error: unknown): boolean {
  try {
    return isHoldfastError(error, 'RESULT_INVALID');
  } catch {
    return false;
  }
}

function shown(value: unknown): string {
  if (typeof value === 'string') return brief(value, JSON.stringify(value));
  if (typeof value === 'bigint') return 'a bigint';
  if (typeof value === 'function') return 'a function';
  if (typeof value !== 'object' || value === null) return brief(String(value), String(value));
  try {
    return Array.isArray(value) ? 'an array' : 'an object';
  } catch {
    return 'an object that cannot be looked at';
  }
}

function brief(text: string, shownAs: string): string {
  return text.length > SHOWN_LENGTH ? `a text of ${text.length} characters` : shownAs;
}
