/** What the content of an artifact must be by its mode, and what of it is stored. */
import { errorText } from '../base/errors.ts';
import { hasLoneSurrogate } from '../base/text.ts';
import type { ArtifactContentMode } from './artifact-store.ts';
import type { SecretScreen } from './known-secrets.ts';
import { StorageError } from './storage-error.ts';

export interface ArtifactContent {
  readonly bytes: Uint8Array;
  readonly mediaType: string;
  readonly mode: ArtifactContentMode;
}

const JSON_MEDIA_TYPE = /^application\/(?:json|[^/]*\+json)$/i;
/** One string of sound JSON text. */
const JSON_STRING = /"(?:[^"\\]|\\.)*"/g;

/** The bytes to store: a copy. Throws `INVALID_STORED_VALUE`, `KNOWN_SECRET`. */
export function screenedContent(
  content: ArtifactContent,
  screen: SecretScreen | null,
): Uint8Array<ArrayBuffer> {
  const { bytes, mediaType, mode } = content;
  // A copy first: the caller's bytes may change under what was checked.
  const copy = Uint8Array.from(bytes);
  const stored = mode === 'free-text' ? redacted(copy, screen) : copy;
  if (screen?.foundInBytes(stored)) refuseSecret('The bytes of the artifact hold');
  if (mode === 'state' && JSON_MEDIA_TYPE.test(mediaType)) checkJson(stored, screen);
  return stored;
}

function redacted(
  bytes: Uint8Array<ArrayBuffer>,
  screen: SecretScreen | null,
): Uint8Array<ArrayBuffer> {
  const text = decoded(bytes, 'free text');
  const harmless = screen?.redact(text) ?? text;
  return harmless === text ? bytes : new TextEncoder().encode(harmless);
}

/**
 * Strings are taken out of the text and not out of the parsed value: of a key that stands twice
 * the parser keeps the last one only.
 */
function checkJson(bytes: Uint8Array, screen: SecretScreen | null): void {
  const text = decoded(bytes, 'JSON');
  try {
    JSON.parse(text);
  } catch (error) {
    const why = error instanceof SyntaxError ? 'it does not parse' : errorText(error);
    refuse(`it is stored as JSON state, but ${why}`);
  }
  for (const [token] of text.matchAll(JSON_STRING)) {
    if (!token.includes('\\')) continue;
    const value = JSON.parse(token) as string;
    if (hasLoneSurrogate(value)) refuse('it is stored as JSON state, but holds a lone surrogate');
    if (screen?.found(value)) refuseSecret('The JSON of the artifact holds');
  }
}

function decoded(bytes: Uint8Array, what: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    refuse(`it is stored as ${what}, but its bytes are no UTF-8`);
  }
}

function refuse(what: string): never {
  throw new StorageError('INVALID_STORED_VALUE', `Artifact: ${what}.`);
}

function refuseSecret(what: string): never {
  throw new StorageError(
    'KNOWN_SECRET',
    `${what} a known secret. Remove it, or store it as free text, which is redacted.`,
  );
}
