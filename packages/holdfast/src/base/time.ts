/** Moments as text: RFC 3339 in UTC with milliseconds, the only form that payloads hold. */

/** `2026-11-30T10:00:00.000Z`. */
export type IsoTime = string;

/** The text of a moment given in milliseconds since the epoch. */
export function isoTime(ms: number): IsoTime {
  return new Date(ms).toISOString();
}

/** Milliseconds since the epoch of a text that `isIsoTime` accepts. */
export function millisecondsOf(time: IsoTime): number {
  return Date.parse(time);
}

/** True for exactly the form that `isoTime` writes. */
export function isIsoTime(value: unknown): value is IsoTime {
  if (typeof value !== 'string') return false;
  const ms = Date.parse(value);
  return Number.isFinite(ms) && new Date(ms).toISOString() === value;
}
