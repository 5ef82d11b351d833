/** Takes known secrets out of what people and logs see; without secrets it changes nothing. */
import { errorText } from '../base/errors.ts';
import type { JsonValue } from '../base/json.ts';
import { SecretScreen } from './known-secrets.ts';
import { SecretStream } from './secret-stream.ts';

/**
 * Replaces known secrets by `[redacted]`, as they are and as writers of JSON, URLs, forms,
 * HTML, base64 and hexadecimal spell them.
 * Redact before a text is cut: a cut secret is no longer found.
 *
 * Throws `INVALID_OPTION` for a secret that is no visible text.
 *
 * @example
 * const redactor = new Redactor(storage.knownSecrets);
 * log(redactor.text(line), redactor.json(data));
 */
export class Redactor {
  /** Null without secrets. */
  readonly screen: SecretScreen | null;

  constructor(knownSecrets: readonly string[]) {
    this.screen = SecretScreen.of(knownSecrets);
  }

  /** `text` without secrets. */
  text(text: string): string {
    return this.screen?.redact(text) ?? text;
  }

  /** The message of anything thrown, without secrets. */
  error(error: unknown): string {
    return this.text(errorText(error));
  }

  /** `value` without secrets, in its keys, strings and numbers. */
  json(value: JsonValue): JsonValue {
    return this.screen?.redactJson(value) ?? value;
  }

  /** For text that comes in pieces: a secret may be split over them. */
  stream(): SecretStream {
    return this.screen?.stream() ?? new SecretStream(null);
  }
}
