/**
 * The forms in which a secret may hide in text.
 *
 * Invariant: nothing of this file puts a secret, or a part of one, into a message.
 */
import { hasLoneSurrogate } from '../base/text.ts';
import { StorageError } from './storage-error.ts';

/** Shorter pieces of a base64 text would be found by chance in harmless digests. */
const MIN_BASE64_PIECE = 8;

/**
 * All forms of all secrets, longest first; white space around a secret is no part of it. Throws
 * `INVALID_OPTION` for what is no text to look for.
 */
export function secretForms(knownSecrets: readonly string[]): readonly string[] {
  if (!Array.isArray(knownSecrets)) {
    throw new StorageError('INVALID_OPTION', 'knownSecrets must be an array of texts.');
  }
  const forms = new Set<string>();
  knownSecrets.forEach((secret: unknown, index) => {
    if (typeof secret !== 'string' || secret.trim() === '' || hasLoneSurrogate(secret)) {
      throw new StorageError(
        'INVALID_OPTION',
        `knownSecrets[${index}] is not a text with visible characters. Leave it out.`,
      );
    }
    for (const form of formsOf(secret.trim())) forms.add(form);
  });
  return [...forms].sort((one, other) => other.length - one.length);
}

/** The text as it stands inside a JSON string. */
export function jsonEscaped(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

function formsOf(secret: string): readonly string[] {
  const escaped = jsonEscaped(secret);
  return [
    secret,
    ...jsonForms(secret),
    ...urlForms(secret),
    ...base64Forms(secret),
    ...(escaped === secret ? [] : base64Forms(escaped)),
  ];
}

/** As writers of JSON escape it, and once more as JSON inside a string of JSON. */
function jsonForms(secret: string): readonly string[] {
  const escaped = jsonEscaped(secret);
  const ascii = escaped.replace(/[\u0080-\uFFFF]/g, (unit) => {
    return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
  return [
    escaped,
    ascii,
    ascii.replace(/\\u[0-9a-f]{4}/g, (code) => `\\u${code.slice(2).toUpperCase()}`),
    escaped.replaceAll('/', '\\/'),
    jsonEscaped(escaped),
  ];
}

/** As paths, queries and forms escape it, with hexadecimal digits of either case. */
function urlForms(secret: string): readonly string[] {
  const component = encodeURIComponent(secret);
  const strict = component.replace(/[!'()*]/g, (mark) => {
    return `%${mark.charCodeAt(0).toString(16).toUpperCase()}`;
  });
  const form = new URLSearchParams([['', secret]]).toString().slice(1);
  return [component, strict, form, component.replaceAll('%20', '+')].flatMap((text) => [
    text,
    text.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()),
  ]);
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
