/**
 * Text that gives bytes: base64, plain or URL-safe, and hexadecimal, also broken into lines.
 *
 * A *lane* is one way to read such text: base64 takes four characters for three bytes, so text in
 * the middle of which a secret begins can be read in three ways. Pure.
 */
import { hexDigit } from './secret-escapes.ts';

/** One bit for each way to read: base64 from the first, second, third character; hexadecimal. */
const LANE_BITS: readonly number[] = [1, 2, 4, 8];

const HEX = 3;
/** Of base64: the fourth character has no bit of the byte that comes next. */
const FOURTH = 3;

/** How far a lane has read. */
export interface Lane {
  readonly isHex: boolean;
  /** Which character of its group came last: base64 0 to 3, hexadecimal 0 or 1. */
  readonly phase: number;
  /** The value of that character. */
  readonly last: number;
  /** True behind a line break: what follows may be indented. */
  readonly isIndent: boolean;
  /** Where in the text that character ends, and the one before it. */
  readonly end: number;
  readonly before: number;
}

/** True when no bit of the last character belongs to the byte that comes next. */
export function isGroupEnd(lane: Lane): boolean {
  return lane.phase === (lane.isHex ? 1 : FOURTH);
}

/** True when all bits of the first character belong to the first byte. */
export function isGroupStart(lane: Lane): boolean {
  return lane.phase === 0;
}

/** A lane after one more character, and the byte that this gave, or -1. */
export interface LaneStep {
  readonly lane: Lane;
  readonly byte: number;
}

/** The six bits of a character of base64, or -1. */
export function sextet(label: number): number {
  return label < 0x80 ? (SEXTETS[label] as number) : -1;
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const SEXTETS: Readonly<Int8Array> = sextets();

/** What a unit is to a run of a lane: a mark is one of those that escapes are made of. */
const OTHER = 0;
const CHARACTER = 1;
const MARK = 2;
const BREAK = 3;
const BLANK = 4;
const KINDS: Readonly<Uint8Array> = Uint8Array.from(SEXTETS, (value, label) => {
  const mark = String.fromCharCode(label);
  if (value >= 0) return CHARACTER;
  if ('\\%&#;'.includes(mark)) return MARK;
  if ('\r\n'.includes(mark)) return BREAK;
  return ' \t'.includes(mark) ? BLANK : OTHER;
});

/** Two characters, as their sextets side by side, and the lane in which they give a byte. */
export interface LanePair {
  readonly bit: number;
  readonly pair: number;
}

/** All pairs of characters that give `byte`. */
export function pairsOf(byte: number): readonly LanePair[] {
  const pairs: LanePair[] = [];
  for (let phase = 0; phase < HEX; phase += 1) {
    const bit = LANE_BITS[phase] as number;
    // Of the twelve bits, 2 * phase before the byte and the rest behind it may be anything.
    const behind = 4 - 2 * phase;
    for (let before = 0; before < 1 << (2 * phase); before += 1) {
      for (let rest = 0; rest < 1 << behind; rest += 1) {
        pairs.push({ bit, pair: (before << (8 + behind)) | (byte << behind) | rest });
      }
    }
  }
  const [high = '', low = ''] = byte.toString(16).padStart(2, '0');
  for (const one of new Set([high, high.toUpperCase()])) {
    for (const other of new Set([low, low.toUpperCase()])) {
      const pair = (sextet(one.charCodeAt(0)) << 6) | sextet(other.charCodeAt(0));
      pairs.push({ bit: LANE_BITS[HEX] as number, pair });
    }
  }
  return pairs;
}

/** The lanes of `bits` once their first character, `first`, has come; it ends at `end`. */
export function lanesAt(first: number, bits: number, end: number): readonly Lane[] {
  const lanes: Lane[] = [];
  LANE_BITS.forEach((bit, phase) => {
    if ((bits & bit) === 0) return;
    const isHex = phase === HEX;
    const last = isHex ? hexDigit(first) : sextet(first);
    const before = end;
    if (last < 0) return;
    lanes.push({ isHex, phase: isHex ? 0 : phase, last, isIndent: false, end, before });
  });
  return lanes;
}

/** Where in a whole text a lane is long enough to be read. */
export class LaneRuns {
  readonly #text: string;
  readonly #least: number;
  #end = 0;
  #isLong = false;

  /** `least` = how many characters of a lane a secret takes. */
  constructor(text: string, least: number) {
    this.#text = text;
    this.#least = least;
  }

  /** True when `place`, asked for in order, stands in a run that is long enough. */
  holds(place: number): boolean {
    if (place >= this.#end) this.#measure(place);
    return this.#isLong;
  }

  /** Where the run ends that was asked for last. */
  get end(): number {
    return this.#end;
  }

  #measure(from: number): void {
    const text = this.#text;
    let place = from;
    let count = 0;
    let last = 0;
    for (let isIndent = false; place < text.length; place += 1) {
      const unit = text.charCodeAt(place);
      const kind = unit < 0x80 ? KINDS[unit] : OTHER;
      if (kind === CHARACTER) count += 1;
      else if (kind === OTHER || (kind === BLANK && !isIndent)) break;
      isIndent = kind === BREAK || (isIndent && kind === BLANK) || isEscapedBlank(last, unit);
      last = unit;
    }
    // The unit that ends a run belongs to it: no lane begins there.
    this.#end = Math.min(place + 1, text.length);
    this.#isLong = count >= this.#least;
  }
}

/** A line break or a tab, as JSON writes it. */
function isEscapedBlank(last: number, unit: number): boolean {
  return last === 0x5c && (unit === 0x6e || unit === 0x72 || unit === 0x74);
}

/** Null when `label`, which ends at `end`, is no character of such text. */
export function laneStep(lane: Lane, label: number, end: number): LaneStep | null {
  const { isHex, phase, last } = lane;
  const value = isHex ? hexDigit(label) : sextet(label);
  if (value < 0) return breakStep(lane, label);
  const isWhole = isGroupEnd(lane);
  const next = {
    isHex,
    phase: isWhole ? 0 : phase + 1,
    last: value,
    isIndent: false,
    end,
    before: lane.end,
  };
  if (isWhole) return { lane: next, byte: -1 };
  return { lane: next, byte: isHex ? last * 16 + value : base64Byte(phase, last, value) };
}

function breakStep(lane: Lane, label: number): LaneStep | null {
  const kind = label < 0x80 ? KINDS[label] : OTHER;
  return kind === BREAK || (kind === BLANK && lane.isIndent)
    ? { lane: { ...lane, isIndent: true }, byte: -1 }
    : null;
}

/** Of two characters one behind the other, the first of which is at `phase`. */
function base64Byte(phase: number, one: number, other: number): number {
  return ((one << (2 + 2 * phase)) | (other >> (4 - 2 * phase))) & 0xff;
}

function sextets(): Int8Array {
  const values = new Int8Array(0x80).fill(-1);
  [...ALPHABET].forEach((letter, value) => {
    values[letter.charCodeAt(0)] = value;
  });
  for (const [marks, value] of [
    ['+-', 62],
    ['/_', 63],
  ] as const) {
    for (const mark of marks) values[mark.charCodeAt(0)] = value;
  }
  return values;
}
