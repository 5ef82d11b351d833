/**
 * Redacts text that arrives in pieces, also where a secret is split over them.
 *
 * Invariants: what is shown is the redaction of the whole text, however it was split; it never
 * holds a secret in any form; what is held back is shorter than the longest text of a secret.
 */
import type { SecretAutomaton } from './secret-automaton.ts';
import { SecretScan } from './secret-scan.ts';

/** What a stream puts in place of a secret, and how it finds one. */
export interface StreamRedaction {
  readonly automaton: SecretAutomaton;
  readonly mark: string;
}

/** A part of the held text that belongs to a secret. */
interface Covered {
  from: number;
  to: number;
  /** True once its mark stands in what was shown. */
  marked: boolean;
}

/**
 * One stream of text, redacted. Made by `Redactor.stream`.
 *
 * @example
 * const stream = redactor.stream();
 * process.stdout.on('data', (chunk) => show(stream.push(chunk)));
 * process.stdout.on('end', () => show(stream.end()));
 */
export class SecretStream {
  readonly #redaction: StreamRedaction | null;
  #scan: SecretScan | null;
  #held = '';
  #covered: Covered[] = [];

  /** Null = there are no secrets: everything is shown as it comes. */
  constructor(redaction: StreamRedaction | null) {
    this.#redaction = redaction;
    this.#scan = this.#newScan();
  }

  /** What may be shown once `chunk` has come; the rest may be the beginning of a secret. */
  push(chunk: string): string {
    const scan = this.#scan;
    if (scan === null) return chunk;
    const text = this.#held + chunk;
    for (let place = this.#held.length; place < text.length; place += 1) {
      if (!scan.step(text.charCodeAt(place))) continue;
      const { from, to } = scan.found;
      this.#cover(place + 1 - from, place + 1 - to);
    }
    return this.#show(text, text.length - scan.pending);
  }

  /** The rest. The stream may then begin anew. */
  end(): string {
    const shown = this.#show(this.#held, this.#held.length);
    this.#scan = this.#newScan();
    return shown;
  }

  #newScan(): SecretScan | null {
    return this.#redaction === null ? null : new SecretScan(this.#redaction.automaton);
  }

  /** Secrets that overlap get one mark together, secrets side by side one each. */
  #cover(from: number, to: number): void {
    const covered = { from, to, marked: false };
    for (let last = this.#covered.at(-1); last !== undefined && last.to > covered.from; ) {
      covered.from = Math.min(covered.from, last.from);
      covered.to = Math.max(covered.to, last.to);
      covered.marked ||= last.marked;
      this.#covered.pop();
      last = this.#covered.at(-1);
    }
    this.#covered.push(covered);
  }

  /** Shows `text` up to `end` and holds the rest. */
  #show(text: string, end: number): string {
    let shown = '';
    let place = 0;
    const left: Covered[] = [];
    for (const covered of this.#covered) {
      const { from, to } = covered;
      if (from < end) {
        shown += text.slice(place, from);
        if (!covered.marked) shown += this.#redaction?.mark ?? '';
        place = Math.min(to, end);
      }
      if (to > end) {
        const marked = covered.marked || from < end;
        left.push({ from: Math.max(0, from - end), to: to - end, marked });
      }
    }
    this.#covered = left;
    this.#held = text.slice(end);
    return shown + text.slice(place, end);
  }
}
