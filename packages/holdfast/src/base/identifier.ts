/** The rules for identifiers, in one place. */
import { hasControlCharacter, hasLoneSurrogate, utf8Length } from './text.ts';

/** The longest identifier accepted anywhere, in UTF-8 bytes. */
const MAX_IDENTIFIER_BYTES = 256;

const STREAM_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

/** Trimmed printable ASCII: nearly every identifier, and nothing in it can be refused. */
const PLAIN = /^[!-~](?:[ -~]*[!-~])?$/;

/** Why `value` is no graph identifier (graph, node, edge id), or null when it is one. */
export function identifierFault(value: unknown): string | null {
  if (typeof value !== 'string') return `an identifier must be a string, not ${typeof value}`;
  if (PLAIN.test(value)) return null;
  if (value.trim() === '') return 'an identifier must not be empty';
  if (value !== value.trim()) return 'an identifier must not begin or end with white space';
  return textFault(value);
}

/** Why `value` is no text for a name, position or code, or null when it is one. */
export function textFault(value: unknown): string | null {
  if (typeof value !== 'string') return `expected text, not ${typeof value}`;
  if (PLAIN.test(value)) return null;
  if (value.trim() === '') return 'text must not be blank';
  if (hasControlCharacter(value)) return 'text must not hold control characters';
  if (hasLoneSurrogate(value)) return 'text must not hold a lone surrogate';
  return null;
}

/** Why `value` is no identifier of at most `MAX_IDENTIFIER_BYTES`, or null when it is one. */
export function boundedIdentifierFault(value: unknown): string | null {
  const fault = identifierFault(value);
  if (fault !== null) return fault;
  const bytes = utf8Length(value as string);
  return bytes > MAX_IDENTIFIER_BYTES
    ? `an identifier must be at most ${MAX_IDENTIFIER_BYTES} bytes, this one has ${bytes}`
    : null;
}

/**
 * True for a namespace, stream or run id: 1–128 letters, digits, `.`, `_`, `-`, beginning with a
 * letter or digit.
 */
export function isStreamName(value: unknown): value is string {
  return typeof value === 'string' && STREAM_NAME.test(value);
}
