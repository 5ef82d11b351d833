/** A secret that engines and nodes of a simulation leak now and then, and where it must not be. */
import { SimViolation } from './sim-violation.ts';

/** A text that nothing may ever hold: with characters that JSON and addresses write otherwise. */
export const SIMULATED_SECRET = 'sim"secret/4711+key';

const FORMS: readonly string[] = [
  SIMULATED_SECRET,
  JSON.stringify(SIMULATED_SECRET).slice(1, -1),
  encodeURIComponent(SIMULATED_SECRET),
  Buffer.from(SIMULATED_SECRET).toString('base64'),
];

/** A form of the secret, by a number. */
export function secretForm(number: number): string {
  return FORMS[number % FORMS.length] ?? SIMULATED_SECRET;
}

/** Two pieces that are the secret together. */
export const SECRET_PIECES: readonly [string, string] = [
  SIMULATED_SECRET.slice(0, 9),
  SIMULATED_SECRET.slice(9),
];

/** Throws `SimViolation` for text that holds the secret in one of its forms. */
export function refuseSecret(where: string, text: string): void {
  if (!FORMS.some((form) => text.includes(form))) return;
  throw new SimViolation(`${where} holds a secret`);
}

/** The texts of each call's stream, of which pieces may make a secret together. */
export class SimStreams {
  readonly #tails = new Map<string, string>();

  /** Takes in a piece of a stream. Throws `SimViolation`. */
  hear(stream: string, text: string): void {
    const heard = (this.#tails.get(stream) ?? '') + text;
    refuseSecret(`what was heard of ${stream}`, heard);
    this.#tails.set(stream, heard.slice(-2 * SIMULATED_SECRET.length));
  }
}
