/**
 * Canonical JSON (RFC 8785) and digests over it.
 *
 * A digest names content: `sha256:` and 64 lower-case hex digits. The hash function is a port,
 * since the browser-safe one is ten times slower than a host's own.
 */
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import canonicalize from 'canonicalize';
import { cloneFrozenJson, isFrozenJson, type JsonObject, type JsonValue } from './json.ts';
import { utf8Length } from './text.ts';

export type Sha256Digest = `sha256:${string}`;

/** SHA-256 of the UTF-8 bytes of `text`, as 64 lower-case hex digits. */
export type HashText = (text: string) => string;

/** The hash that works everywhere, in the browser too. */
export const portableHash: HashText = (text) => bytesToHex(sha256(utf8ToBytes(text)));

/** SHA-256 of raw bytes, as 64 lower-case hex digits. */
export function hashBytes(bytes: Uint8Array): string {
  return bytesToHex(sha256(bytes));
}

/** The canonical text of a JSON value: sorted keys, no spaces. Throws `INVALID_JSON_VALUE`. */
export function canonicalJson(value: unknown): string {
  return canonicalText(cloneFrozenJson(value));
}

/** The canonical text of a value that is known to be JSON already. */
export function canonicalText(value: JsonValue): string {
  return canonicalize(value) ?? 'null';
}

/**
 * The digest of a value's canonical text. Throws `INVALID_JSON_VALUE`.
 *
 * @example digestJson({ b: 1, a: 2 }) === digestJson({ a: 2, b: 1 })
 */
export function digestJson(value: unknown, hash: HashText = portableHash): Sha256Digest {
  return `sha256:${hash(canonicalJson(value))}`;
}

const SHA256_DIGEST = /^sha256:[0-9a-f]+$/;
const SHA256_DIGEST_LENGTH = 'sha256:'.length + 64;

/** True for text of the form that `digestJson` returns. */
export function isSha256Digest(value: unknown): value is Sha256Digest {
  if (typeof value !== 'string' || value.length !== SHA256_DIGEST_LENGTH) return false;
  return SHA256_DIGEST.test(value);
}

/** The text of a container longer than this is replaced by its hash inside its parent's text. */
const MERKLE_INLINE_BYTES = 256;

/**
 * Merkle digests of frozen JSON: the canonical text in which every container whose own text
 * exceeds 256 bytes is replaced by `#` and its hash. Large parts that were digested before are
 * remembered, so a small change in a large state costs only the path to it; to remember small
 * ones would cost more than their text.
 *
 * @example const merkle = new MerkleDigest(); merkle.digest({ a: 1 }) // 'sha256:…'
 */
export class MerkleDigest {
  readonly #texts = new WeakMap<object, string>();
  readonly #hash: HashText;

  constructor(hash: HashText = portableHash) {
    this.#hash = hash;
  }

  digest(value: JsonValue): Sha256Digest {
    return `sha256:${this.#hash(this.#ownText(value))}`;
  }

  #text(value: JsonValue): string {
    if (typeof value !== 'object' || value === null) return JSON.stringify(value);
    const known = this.#texts.get(value);
    if (known !== undefined) return known;
    const own = this.#ownText(value);
    if (!exceedsInline(own)) return own;
    const text = `#${this.#hash(own)}`;
    if (isFrozenJson(value)) this.#texts.set(value, text);
    return text;
  }

  #ownText(value: JsonValue): string {
    if (typeof value !== 'object' || value === null) return JSON.stringify(value);
    if (Array.isArray(value)) return `[${value.map((item) => this.#text(item)).join(',')}]`;
    const object = value as JsonObject;
    let fields = '';
    for (const key of sortedKeys(object)) {
      const field = `${JSON.stringify(key)}:${this.#text(object[key] as JsonValue)}`;
      fields = fields === '' ? field : `${fields},${field}`;
    }
    return `{${fields}}`;
  }
}

/** Most objects have their keys in order: sorting those again would cost more than their text. */
function sortedKeys(object: JsonObject): readonly string[] {
  const keys = Object.keys(object);
  for (let place = 1; place < keys.length; place += 1) {
    if ((keys[place] as string) < (keys[place - 1] as string)) return keys.sort();
  }
  return keys;
}

function exceedsInline(text: string): boolean {
  if (text.length > MERKLE_INLINE_BYTES) return true;
  return text.length * 3 > MERKLE_INLINE_BYTES && utf8Length(text) > MERKLE_INLINE_BYTES;
}
