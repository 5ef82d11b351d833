/**
 * The escapes in which writers of JSON, URLs, forms and HTML hide characters, read one at a time.
 *
 * A *label* is what has been read: a code point, half of a surrogate pair, or a byte that is a part
 * of UTF-8 (`BYTE + byte`). A *frame* is an escape that has begun and awaits its next label, which
 * may itself be the outcome of another escape on top of it: JSON in a URL in JSON.
 *
 * Invariants: pure; an escape of depth n has inside none that is deeper than n - 1, so its text is
 * bounded; what is no escape is no frame.
 */

/** Labels of bytes from 0x80 stand behind all code points. */
export const BYTE = 0x110000;

/** Escapes within escapes: JSON three times within a URL, or four times within itself. */
const MAX_DEPTH = 4;

const BACKSLASH = 0x5c;
const PERCENT = 0x25;
const AMPERSAND = 0x26;
const SEMICOLON = 0x3b;
const MAX_ENTITY = 8;

const CONTROLS: ReadonlyMap<number, number> = new Map(
  Object.entries({ n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' }).map(([letter, control]) => [
    letter.charCodeAt(0),
    control.charCodeAt(0),
  ]),
);
const ENTITIES: ReadonlyMap<string, number> = new Map(
  Object.entries({ amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }).map(([name, mark]) => [
    name,
    mark.charCodeAt(0),
  ]),
);

/** An escape that has begun. */
export interface Frame {
  readonly kind: 'backslash' | 'unicode' | 'percent' | 'entity' | 'utf8' | 'pair';
  /** What its digits, bytes or half have given so far. */
  readonly value: number;
  /** The labels that are still to come, where that is known. */
  readonly left: number;
  /** The characters of an entity. */
  readonly name: string;
  /** Of the deepest escape that it has read. */
  readonly depth: number;
  /** What awaits its outcome. */
  readonly below: Frame | null;
}

/** A label and how many escapes are around it. */
export interface Outcome {
  readonly label: number;
  readonly depth: number;
}

export function isOutcome(step: Frame | Outcome): step is Outcome {
  return 'label' in step;
}

/** True for what an escape can begin with. */
export function opensEscape(label: number): boolean {
  return label === BACKSLASH || label === PERCENT || label === AMPERSAND || isPart(label);
}

/** True when an escape that begins with `label` may go on with `next`. */
export function goesOnEscape(label: number, next: number): boolean {
  const frame = opened(null, label, 0);
  return frame !== null && advanced(frame, next, 0) !== null;
}

/** The frame that `label` begins above `below`, or null. */
export function opened(below: Frame | null, label: number, depth: number): Frame | null {
  if (!opensEscape(label) || !mayStandIn(below, label, depth)) return null;
  if (label === BACKSLASH) return frame('backslash', 0, { depth, below });
  if (label === PERCENT) return frame('percent', 2, { depth, below });
  if (label === AMPERSAND) return frame('entity', 0, { depth, below });
  if (label < BYTE) return frame('pair', 1, { depth, below, value: label });
  const byte = label - BYTE;
  const left = byte >= 0xf0 ? 3 : byte >= 0xe0 ? 2 : 1;
  return frame('utf8', left, { depth, below, value: byte & (0x3f >> left) });
}

/**
 * Which escapes writers put where another one goes on. All others are ruled out, or long runs of
 * marks could be read in ever more ways: one backslash of a run halves what is left for the next.
 */
function mayStandIn(below: Frame | null, label: number, depth: number): boolean {
  switch (below?.kind) {
    case undefined:
      return true;
    case 'backslash':
      return label === BACKSLASH ? depth < below.depth : label === PERCENT || label === AMPERSAND;
    case 'pair':
      return label === BACKSLASH || label === PERCENT;
    case 'utf8':
    case 'entity':
      return label === PERCENT;
    default:
      return false;
  }
}

/** What `frame` is after one more label: still open, done, or null = no such escape. */
export function advanced(frame: Frame, label: number, depth: number): Frame | Outcome | null {
  const next = frame.depth >= depth ? frame : more(frame, { depth });
  switch (frame.kind) {
    case 'backslash':
      // Writers escape both of a pair of backslashes, or neither.
      if (label === BACKSLASH && depth !== frame.depth) return null;
      return afterBackslash(next, label);
    case 'percent':
    case 'unicode':
      return afterDigit(next, hexDigit(label));
    case 'entity':
      return afterEntity(next, label);
    case 'utf8':
      if (label < BYTE + 0x80 || label >= BYTE + 0xc0) return null;
      return afterByte(next, (frame.value << 6) | (label & 0x3f));
    case 'pair':
      if (label < 0xdc00 || label > 0xdfff) return null;
      return {
        label: 0x10000 + ((frame.value - 0xd800) << 10) + (label - 0xdc00),
        depth: next.depth,
      };
  }
}

/** True when both await the same. */
export function sameFrames(one: Frame | null, other: Frame | null): boolean {
  if (one === other) return true;
  if (one === null || other === null) return false;
  return (
    one.kind === other.kind &&
    one.value === other.value &&
    one.left === other.left &&
    one.name === other.name &&
    one.depth === other.depth &&
    sameFrames(one.below, other.below)
  );
}

/** The value of a hexadecimal digit of either case, or -1. */
export function hexDigit(label: number): number {
  if (label >= 0x30 && label <= 0x39) return label - 0x30;
  const lower = label | 0x20;
  return lower >= 0x61 && lower <= 0x66 && label < 0x80 ? lower - 0x57 : -1;
}

/** The first half of a surrogate pair, or a byte that begins a character of several. */
function isPart(label: number): boolean {
  if (label >= BYTE) return label >= BYTE + 0xc2 && label <= BYTE + 0xf4;
  return label >= 0xd800 && label <= 0xdbff;
}

function afterBackslash(open: Frame, label: number): Frame | Outcome | null {
  if (label === 0x75) {
    return frame('unicode', 4, { depth: open.depth, below: open.below });
  }
  const control = CONTROLS.get(label);
  if (control !== undefined) return done(open, control);
  return isMark(label) ? done(open, label) : null;
}

function afterDigit(open: Frame, digit: number): Frame | Outcome | null {
  if (digit < 0) return null;
  const value = open.value * 16 + digit;
  if (open.left > 1) return more(open, { value, left: open.left - 1 });
  return done(open, open.kind === 'percent' && value >= 0x80 ? BYTE + value : value);
}

function afterEntity(open: Frame, label: number): Frame | Outcome | null {
  if (label !== SEMICOLON) {
    if (label >= 0x80 || open.name.length === MAX_ENTITY) return null;
    const name = open.name + String.fromCharCode(label);
    return /^(?:[a-z]+|#(?:\d*|[xX][\dA-Fa-f]*))$/.test(name) ? more(open, { name }) : null;
  }
  const digits = /^#(?:(\d+)|[xX](.+))$/.exec(open.name);
  const [, decimal, hex = ''] = digits ?? [];
  const value = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
  const code = digits === null ? ENTITIES.get(open.name) : value;
  return code === undefined || !(code < BYTE) ? null : done(open, code);
}

function done(open: Frame, label: number): Outcome | null {
  return open.depth >= MAX_DEPTH ? null : { label, depth: open.depth + 1 };
}

/** UTF-8 and pairs are no escapes of their own: they add no depth. */
function afterByte(open: Frame, value: number): Frame | Outcome {
  if (open.left > 1) return more(open, { value, left: open.left - 1 });
  return { label: value, depth: open.depth };
}

/** ASCII that is visible and neither letter nor digit. */
function isMark(label: number): boolean {
  return label > 0x20 && label < 0x7f && !/[0-9A-Za-z]/.test(String.fromCharCode(label));
}

function frame(
  kind: Frame['kind'],
  left: number,
  { depth, below, value = 0 }: { depth: number; below: Frame | null; value?: number },
): Frame {
  return { kind, value, left, name: '', depth, below };
}

/** Members are named one by one: spreading them is many times slower. */
function more(
  open: Frame,
  change: Partial<Pick<Frame, 'value' | 'left' | 'name' | 'depth'>>,
): Frame {
  const { kind, below } = open;
  const { value = open.value, left = open.left, name = open.name, depth = open.depth } = change;
  return { kind, value, left, name, depth, below };
}
