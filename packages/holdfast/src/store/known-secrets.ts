/**
 * Known secrets: text that must never reach a store, in the forms in which it may hide.
 *
 * Invariant: no message or detail of this file ever holds a secret, nor the text that held one.
 */
import { hasLoneSurrogate } from '../base/text.ts';
import { StorageError } from './storage-error.ts';

/** Shorter pieces of a base64 text would be found by chance in harmless digests. */
const MIN_BASE64_PIECE = 8;

/** Finds known secrets in text and bytes. Without secrets there is nothing to call. */
export class SecretScreen {
  readonly #needles: readonly string[];

  private constructor(needles: readonly string[]) {
    this.#needles = needles;
  }

  /** Null when there is nothing to look for. Throws `INVALID_OPTION` for an empty secret. */
  static of(knownSecrets: readonly string[]): SecretScreen | null {
    const forms = new Set<string>();
    knownSecrets.forEach((secret, index) => {
      if (typeof secret !== 'string' || secret.trim() === '') {
        throw new StorageError(
          'INVALID_OPTION',
          `knownSecrets[${index}] is not a text with visible characters. Leave it out.`,
        );
      }
      for (const form of formsOf(secret)) forms.add(form);
    });
    return forms.size === 0 ? null : new SecretScreen([...forms]);
  }

  /** True when plain text (not JSON text) holds a secret in any form. */
  found(text: string): boolean {
    return this.#needles.some((needle) => text.includes(needle));
  }

  /** True when JSON text holds a secret in any form, in a key, a string or across tokens. */
  foundInJson(json: string): boolean {
    return this.#needles.some((needle) => json.includes(needle) || json.includes(escaped(needle)));
  }

  /** True when bytes hold the UTF-8 text of a secret in any form, JSON-escaped too. */
  foundInBytes(bytes: Uint8Array): boolean {
    const haystack = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    return this.#needles.some((needle) => haystack.includes(needle));
  }
}

function formsOf(secret: string): readonly string[] {
  const plain = [secret, escaped(secret)];
  if (hasLoneSurrogate(secret)) return plain;
  const encoded = encodeURIComponent(secret);
  return [
    ...plain,
    encoded,
    encoded.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()),
    encoded.replaceAll('%20', '+'),
    ...base64Forms(secret),
  ];
}

/** The text as it stands inside a JSON string. */
function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/**
 * Base64 works on three bytes at a time, so a secret inside a longer text has one of three forms.
 * Of each only the characters that the secret alone decides are looked for.
 */
function base64Forms(secret: string): readonly string[] {
  const bytes = Buffer.from(secret, 'utf8');
  const forms = [0, 1, 2].map((offset) => {
    const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64');
    const first = Math.ceil((offset * 8) / 6);
    const last = Math.floor(((offset + bytes.length) * 8) / 6);
    return text.slice(first, last);
  });
  return forms
    .filter((form) => form.length >= MIN_BASE64_PIECE)
    .flatMap((form) => [form, form.replaceAll('+', '-').replaceAll('/', '_')]);
}
