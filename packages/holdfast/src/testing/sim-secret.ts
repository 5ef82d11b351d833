/** A secret that engines and nodes of a simulation leak now and then, and where it must not be. */
import { SimViolation } from './sim-violation.ts';

/** A text that nothing may ever hold: with characters that JSON and addresses write otherwise. */
export const SIMULATED_SECRET = 'sim"secret/4711+key';

/** One of several lines, which no message may hold as it is: not even the long pieces of it. */
export const SECRET_LINES = 'key of\tthe sim:\r\nMIIBVgIBADANBg\r\n\r\nkqhkiG9w0BAQ  x\tend';

/** One that is no secret yet when it is written. */
export const LATE_SECRET = 'late+sim/secret 0815';

const FORMS: readonly string[] = formsOf(SIMULATED_SECRET);

/** Text that is left of the lines once they were cleaned, cut or written otherwise. */
const PIECES: readonly string[] = [...formsOf(SECRET_LINES), 'MIIBVgIBAD', 'kqhkiG9w0B'];

const LATE_FORMS: readonly string[] = formsOf(LATE_SECRET);

function formsOf(secret: string): readonly string[] {
  return [
    secret,
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(secret),
    Buffer.from(secret).toString('base64'),
  ];
}

/** A text that holds the secret lines, by a number: some begin where such texts are cut. */
export function textWithLines(number: number): string {
  const before = [0, 90, 470, 1_960, 1_985][number % 5] ?? 0;
  return `${'y'.repeat(before)} it has ${SECRET_LINES} and more`;
}

/** A form of the secret, by a number. */
export function secretForm(number: number): string {
  return FORMS[number % FORMS.length] ?? SIMULATED_SECRET;
}

/** Two pieces that are the secret together. */
export const SECRET_PIECES: readonly [string, string] = [
  SIMULATED_SECRET.slice(0, 9),
  SIMULATED_SECRET.slice(9),
];

/** Whether an answer holds a secret as it is, or as it is written elsewhere. */
export function holdsSecret(text: string): boolean {
  return [...FORMS, ...PIECES].some((form) => text.includes(form));
}

/** Two pieces that are the secret lines together: neither holds one of their long pieces. */
export const LINE_PIECES: readonly [string, string] = [
  SECRET_LINES.slice(0, 24),
  SECRET_LINES.slice(24),
];

/** Throws `SimViolation` for text that holds the secret in one of its forms. */
export function refuseSecret(where: string, text: string): void {
  if (FORMS.some((form) => text.includes(form))) throw new SimViolation(`${where} holds a secret`);
  if (!PIECES.some((piece) => text.includes(piece))) return;
  throw new SimViolation(`${where} holds lines of a secret`);
}

/** Whether a text holds the secret that becomes known late. */
export function holdsLateSecret(text: string): boolean {
  return LATE_FORMS.some((form) => text.includes(form));
}

/** Throws `SimViolation` for text that holds it. */
export function refuseLateSecret(where: string, text: string): void {
  if (holdsLateSecret(text)) throw new SimViolation(`${where} holds what is a secret by now`);
}

/** The texts of each call's stream, of which pieces may make a secret together. */
export class SimStreams {
  readonly #tails = new Map<string, string>();

  /** Takes in a piece of a stream. Throws `SimViolation`. */
  hear(stream: string, text: string): void {
    const heard = (this.#tails.get(stream) ?? '') + text;
    refuseSecret(`what was heard of ${stream}`, heard);
    this.#tails.set(stream, heard.slice(-2 * SECRET_LINES.length));
  }
}
