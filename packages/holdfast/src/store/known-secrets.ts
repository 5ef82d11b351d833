/**
 * Known secrets: text that must never reach a store, a log or a screen, in the forms in which it
 * may hide.
 *
 * Invariants: no message or detail of this file ever holds a secret, nor the text that held one;
 * what was redacted holds no secret in any form, so redacting it again changes nothing.
 */
import { isJsonObject, type JsonObject, type JsonValue, setOwn } from '../base/json.ts';
import { SecretAutomaton } from './secret-automaton.ts';
import { BYTE } from './secret-escapes.ts';
import { secretForms } from './secret-forms.ts';
import { LaneRuns } from './secret-lanes.ts';
import { SecretScan } from './secret-scan.ts';
import { SecretStream, type StreamRedaction } from './secret-stream.ts';

/** What stands in place of a secret, unless a secret could be read out of it. */
const REDACTED = '[redacted]';

/** Where the search for a mark begins that no secret holds: U+2588, a full block. */
const FIRST_MARK = 0x2588;

/** Finds known secrets in text and bytes, and takes them out. Without secrets there is none. */
export class SecretScreen {
  readonly #forms: readonly string[];
  /** Made when first needed: many processes neither write nor show anything. */
  #redaction: StreamRedaction | null = null;

  private constructor(forms: readonly string[]) {
    this.#forms = forms;
  }

  /** Null when there is nothing to look for. Throws `INVALID_OPTION` for an empty secret. */
  static of(knownSecrets: readonly string[]): SecretScreen | null {
    const forms = secretForms(knownSecrets);
    return forms.length === 0 ? null : new SecretScreen(forms);
  }

  /** True when JSON text holds a secret in any form, in a key, a string or across tokens. */
  foundInJson(json: string): boolean {
    return this.found(json);
  }

  /** True when text holds a secret in any form. */
  found(text: string): boolean {
    return this.#forms.some((form) => text.includes(form)) || this.#holds(text, false);
  }

  /** True when bytes hold the UTF-8 text of a secret in any form. */
  foundInBytes(bytes: Uint8Array): boolean {
    const haystack = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    return (
      this.#forms.some((form) => haystack.includes(form)) ||
      this.#holds(haystack.toString('latin1'), true)
    );
  }

  /** The text with a mark in place of every secret; of base64 what the secret alone decides. */
  redact(text: string): string {
    if (!this.found(text)) return text;
    const stream = this.stream();
    return stream.push(text) + stream.end();
  }

  /** A stream of text to redact, piece by piece. */
  stream(): SecretStream {
    return new SecretStream(this.#streamRedaction());
  }

  /**
   * The value with its secrets redacted, in keys and strings; a number that holds one becomes a
   * mark, and so does the whole when one can still be read across its parts.
   */
  redactJson(value: JsonValue): JsonValue {
    // Callers without types may have given what is no JSON at all.
    if (!this.found(JSON.stringify(value) ?? '')) return value;
    const redacted = this.#redacted(value);
    return this.found(JSON.stringify(redacted)) ? this.#streamRedaction().mark : redacted;
  }

  #redacted(value: JsonValue): JsonValue {
    if (typeof value === 'string') return this.redact(value);
    if (Array.isArray(value)) return value.map((item: JsonValue) => this.#redacted(item));
    if (isJsonObject(value)) return this.#redactedObject(value);
    return this.found(String(value)) ? this.#streamRedaction().mark : value;
  }

  #redactedObject(object: JsonObject): JsonObject {
    const redacted: Record<string, JsonValue> = {};
    for (const [key, value] of Object.entries(object)) {
      const name = this.redact(key);
      let free = name;
      // Two keys that are alike once they are redacted both stay.
      for (let count = 2; Object.hasOwn(redacted, free); count += 1) free = `${name} ${count}`;
      setOwn(redacted, free, this.#redacted(value));
    }
    return redacted;
  }

  #holds(text: string, isBytes: boolean): boolean {
    const { automaton } = this.#streamRedaction();
    const scan = new SecretScan(automaton);
    const runs = new LaneRuns(text, automaton.leastLane);
    const far = isBytes ? BYTE : 0;
    for (let place = 0; place < text.length; place += 1) {
      scan.readsLanes = runs.holds(place);
      if (!scan.readsLanes && scan.isIdle) {
        const start = automaton.nextStart(text, place, runs.end, far);
        scan.skip(start - place);
        place = start - 1;
        if (start === runs.end) continue;
        place = start;
      }
      const unit = text.charCodeAt(place);
      const lanes = scan.readsLanes ? automaton.lanesAhead(text, place + 1) : 0;
      if (scan.step(unit < 0x80 ? unit : far + unit, lanes)) return true;
    }
    return false;
  }

  #streamRedaction(): StreamRedaction {
    this.#redaction ??= {
      automaton: new SecretAutomaton(this.#forms),
      mark: markBeside(this.#forms),
    };
    return this.#redaction;
  }
}

/** A mark that can be no part of a secret, whatever text stands around it. */
function markBeside(forms: readonly string[]): string {
  let mark = REDACTED;
  for (let next = FIRST_MARK; forms.some((form) => touches(form, mark)); next += 1) {
    mark = String.fromCharCode(next);
  }
  return mark;
}

/** True when a text that holds `form` can share characters with `mark` in it. */
function touches(form: string, mark: string): boolean {
  if (form.includes(mark) || mark.includes(form)) return true;
  for (let length = 1; length < mark.length; length += 1) {
    if (form.startsWith(mark.slice(-length)) || form.endsWith(mark.slice(0, length))) return true;
  }
  return false;
}
