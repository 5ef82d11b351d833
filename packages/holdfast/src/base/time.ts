/** Moments as text: RFC 3339 in UTC with milliseconds, the only form that payloads hold. */

/** `2026-11-30T10:00:00.000Z`. */
export type IsoTime = string;

/** The text of a moment given in milliseconds since the epoch. */
export function isoTime(ms: number): IsoTime {
  return new Date(ms).toISOString();
}

/** Writes moments that most often are the one it has just written. */
export class MomentText {
  #ms = Number.NaN;
  #text: IsoTime = '';

  of(ms: number): IsoTime {
    if (ms !== this.#ms) {
      this.#text = isoTime(ms);
      this.#ms = ms;
    }
    return this.#text;
  }
}

/** Milliseconds since the epoch of a text that `isIsoTime` accepts. */
export function millisecondsOf(time: IsoTime): number {
  return Date.parse(time);
}

/** Days that every month has; later ones are looked up in the calendar. */
const CERTAIN =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/;

/** True for exactly the form that `isoTime` writes. */
export function isIsoTime(value: unknown): value is IsoTime {
  if (typeof value !== 'string') return false;
  if (CERTAIN.test(value)) return true;
  const ms = Date.parse(value);
  return Number.isFinite(ms) && new Date(ms).toISOString() === value;
}
