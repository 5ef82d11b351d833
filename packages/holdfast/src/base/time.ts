/** Moments as text: RFC 3339 in UTC with milliseconds, the only form that payloads hold. */

/** `2026-11-30T10:00:00.000Z`. */
export type IsoTime = string;

/** The text of a moment given in milliseconds since the epoch. */
export function isoTime(ms: number): IsoTime {
  return new Date(ms).toISOString();
}

const MINUTE_MS = 60_000;
/** How much of a moment's text changes within a minute: `00.000Z`. */
const SECONDS_LENGTH = 7;
/** The one minute of which not all is a moment: time ends with its beginning. */
const LAST_MINUTE = 8.64e15 / MINUTE_MS;

/** Writes moments as `isoTime` does; most often each is near the one before, or the same. */
export class MomentText {
  #ms = Number.NaN;
  #text: IsoTime = '';
  #minute = Number.NaN;
  #minuteText = '';

  /** Throws a `RangeError` for what is no moment. */
  of(ms: number): IsoTime {
    if (ms !== this.#ms) {
      this.#text = this.#textOf(Math.trunc(ms));
      this.#ms = ms;
    }
    return this.#text;
  }

  #textOf(ms: number): IsoTime {
    const minute = Math.floor(ms / MINUTE_MS);
    if (minute !== this.#minute || minute === LAST_MINUTE) {
      this.#minuteText = isoTime(ms).slice(0, -SECONDS_LENGTH);
      this.#minute = minute;
    }
    // `103007` for 3.007 seconds: the digit in front keeps the zeros.
    const digits = String(100_000 + ms - minute * MINUTE_MS);
    return `${this.#minuteText}${digits.slice(1, 3)}.${digits.slice(3)}Z`;
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

/** The longest delay or deadline, a hundred years: beyond it a due moment would leave the dates. */
export const LONGEST_DELAY_MS = 3_155_760_000_000;
