/**
 * The texts to look for: known secrets, and what writers of URLs make of their line breaks.
 *
 * Invariant: nothing of this file puts a secret, or a part of one, into a message.
 */
import { hasLoneSurrogate } from '../base/text.ts';
import { StorageError } from './storage-error.ts';

/**
 * Six bytes are eight characters of base64: of less, harmless digests would be found by chance.
 * A secret without its line breaks must be as long, lest it is found in ordinary text.
 */
export const MIN_ENCODED_BYTES = 6;

/**
 * All secrets, each once; white space around a secret is no part of it. Throws `INVALID_OPTION`
 * for what is no text to look for.
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
  return [...forms];
}

export function byteLength(text: string): number {
  return Buffer.byteLength(text, 'utf8');
}

/** Parsers of URLs drop tabs and line breaks; forms and editors write breaks in their own way. */
function formsOf(secret: string): readonly string[] {
  if (!/[\t\r\n]/.test(secret)) return [secret];
  const joined = secret.replace(/[\t\r\n]/g, '');
  return [
    secret,
    secret.replace(/\r\n?|\n/g, '\n'),
    secret.replace(/\r\n?|\n/g, '\r\n'),
    ...(byteLength(joined) < MIN_ENCODED_BYTES ? [] : [joined]),
  ];
}
