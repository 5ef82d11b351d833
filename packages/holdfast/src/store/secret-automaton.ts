/**
 * What all scans for the same secrets share: the secrets as a tree of code points, and tables that
 * say which units of text a secret may begin with, so that all others cost one look.
 *
 * The tree grows where scans go; it never has more nodes than the secrets have characters, twice.
 */
import { BYTE, goesOnEscape, opensEscape } from './secret-escapes.ts';
import { byteLength, MIN_ENCODED_BYTES } from './secret-forms.ts';
import { pairsOf, sextet } from './secret-lanes.ts';

/** Base64 at three places, and hexadecimal. */
const ALL_LANES = 15;
const ASCII: readonly number[] = Array.from({ length: 0x80 }, (_, code) => code);
/** ASCII that an escape begins with. */
const OPENERS: readonly number[] = ASCII.filter(opensEscape);

/** What may stand behind the first character of an escape, of the same or of another one. */
const AFTER_OPENERS = ASCII.filter((next) => {
  return opensEscape(next) || OPENERS.some((opener) => goesOnEscape(opener, next));
});
const ESCAPE_SECONDS = escapeSeconds();
const OPENER_PAIRS = filled(new Uint8Array(64 * 64), OPENERS);
const ESCAPE_PAIRS = filled(new Uint8Array(64 * 64), AFTER_OPENERS);

/** A place in one or more secrets: what may follow, and whether one is whole. */
export class SecretNode {
  readonly isWhole: boolean;
  readonly #rests: readonly (readonly number[])[];
  readonly #depth: number;
  #children: Map<number, SecretNode> | null = null;

  constructor(rests: readonly (readonly number[])[], depth: number = 0) {
    this.#rests = rests.filter((rest) => rest.length > depth);
    this.isWhole = this.#rests.length < rests.length;
    this.#depth = depth;
  }

  get isLeaf(): boolean {
    return this.#rests.length === 0;
  }

  next(code: number): SecretNode | undefined {
    this.#children ??= this.#grown();
    return this.#children.get(code);
  }

  /** The code points that lead on. */
  get codes(): readonly number[] {
    this.#children ??= this.#grown();
    return [...this.#children.keys()];
  }

  #grown(): Map<number, SecretNode> {
    const groups = new Map<number, (readonly number[])[]>();
    for (const rest of this.#rests) {
      const code = rest[this.#depth] as number;
      const group = groups.get(code);
      if (group === undefined) groups.set(code, [rest]);
      else group.push(rest);
    }
    return new Map(
      [...groups].map(([code, group]) => [code, new SecretNode(group, this.#depth + 1)]),
    );
  }
}

export class SecretAutomaton {
  readonly root: SecretNode;
  /** Of the secrets that are long enough to be looked for in base64 and hexadecimal. */
  readonly laneRoot: SecretNode;
  /** How many characters of a lane a secret takes at least; infinite when there is none. */
  readonly leastLane: number;
  /** ASCII that a secret or an escape begins with. */
  readonly #starts = new Uint8Array(0x80);
  /** For two units of ASCII: whether one may begin with them. */
  readonly #seconds = ESCAPE_SECONDS.slice();
  readonly #farStarts = new Set<number>();
  /** For two characters: the lanes in which a secret, or an escape in it, may begin with them. */
  readonly #pairs: Uint8Array<ArrayBuffer>;
  /** The same of the second byte. */
  readonly #nextPairs: Uint8Array<ArrayBuffer>;
  /** For one character: the lanes in which it may be the first. */
  readonly #firsts = new Uint8Array(64);

  constructor(forms: readonly string[]) {
    const codes = (texts: readonly string[]) => {
      return texts.map((text) => [...text].map((mark) => mark.codePointAt(0) as number));
    };
    const long = forms.filter((form) => byteLength(form) >= MIN_ENCODED_BYTES);
    this.root = new SecretNode(codes(forms));
    this.laneRoot = new SecretNode(codes(long));
    this.leastLane = Math.floor((Math.min(...long.map(byteLength)) * 8) / 6);
    for (const code of OPENERS) this.#starts[code] = 1;
    for (const code of this.root.codes) this.#begin(code);
    const hasLanes = !this.laneRoot.isLeaf;
    this.#pairs = hasLanes ? OPENER_PAIRS.slice() : new Uint8Array(0);
    this.#nextPairs = hasLanes ? ESCAPE_PAIRS.slice() : new Uint8Array(0);
    if (hasLanes) this.#fillLanes();
  }

  /** True when a secret, or an escape in one, may begin with `label`. */
  begins(label: number): boolean {
    return label < 0x80 ? this.#starts[label] === 1 : this.#farStarts.has(label);
  }

  /**
   * The first place from `from` on where one may begin with two units, or `to`. `far` is added to
   * units beyond ASCII: `BYTE` when they are bytes.
   */
  nextStart(text: string, from: number, to: number, far: number): number {
    const starts = this.#starts;
    for (let place = from; place < to; place += 1) {
      const unit = text.charCodeAt(place);
      if (unit >= 0x80) {
        if (this.#farStarts.has(far + unit)) return place;
      } else if (starts[unit] === 1) {
        const next = text.charCodeAt(place + 1);
        if (!(next < 0x80) || this.#seconds[(unit << 7) | next] === 1) return place;
      }
    }
    return to;
  }

  /** True when the text of a lane may begin with `label`. */
  mayBeFirst(label: number): boolean {
    const first = sextet(label);
    return first >= 0 && this.#firsts[first] !== 0;
  }

  /** The lanes that may begin with `label`, one bit each. */
  firstLanes(label: number): number {
    return this.#firsts[sextet(label)] as number;
  }

  /** The lanes that may begin with `last` when `label` comes next. */
  lanes(last: number, label: number): number {
    const next = sextet(label);
    if (next >= 0) return this.#pairs[(sextet(last) << 6) | next] as number;
    return isBetween(label) ? this.firstLanes(last) : 0;
  }

  /**
   * The lanes that may go on when two characters have come and `text` from `place` on is next:
   * says no most often. All of them where the next characters are not plain ones.
   */
  lanesAhead(text: string, place: number): number {
    const last = sextet(text.charCodeAt(place - 1));
    const one = sextet(text.charCodeAt(place));
    const other = sextet(text.charCodeAt(place + 1));
    if (!(last >= 0 && one >= 0 && other >= 0)) return ALL_LANES;
    const near = this.#nextPairs[(last << 6) | one] as number;
    const far = this.#nextPairs[(one << 6) | other] as number;
    // The byte behind the first one begins where that ends, or one character later.
    return ((near >> 1) & 3) | ((far & 1) << 2) | (far & 8);
  }

  #begin(code: number): void {
    if (code < 0x80) {
      this.#starts[code] = 1;
      for (const next of ASCII) {
        if (this.#goesOn(code, next)) this.#seconds[(code << 7) | next] = 1;
      }
      return;
    }
    const text = String.fromCodePoint(code);
    this.#farStarts.add(text.charCodeAt(0));
    this.#farStarts.add(BYTE + (Buffer.from(text)[0] as number));
  }

  #goesOn(code: number, next: number): boolean {
    const node = this.root.next(code);
    return (
      opensEscape(next) ||
      node?.isWhole === true ||
      node?.next(next) !== undefined ||
      (next === 0x2b && node?.next(0x20) !== undefined)
    );
  }

  #fillLanes(): void {
    const bytes = new Set<number>();
    const nextBytes = new Set<number>();
    for (const code of this.laneRoot.codes) {
      const [first = 0, second] = Buffer.from(String.fromCodePoint(code));
      bytes.add(first);
      if (second !== undefined) nextBytes.add(second);
      else this.#addNext(nextBytes, code);
    }
    filled(this.#pairs, bytes);
    filled(this.#nextPairs, nextBytes);
    this.#pairs.forEach((lanes, pair) => {
      this.#firsts[pair >> 6] = (this.#firsts[pair >> 6] as number) | lanes;
    });
  }

  /** The bytes that may follow a first character of ASCII; a `+` for a space may anyway. */
  #addNext(bytes: Set<number>, code: number): void {
    for (const next of this.laneRoot.next(code)?.codes ?? []) {
      bytes.add(Buffer.from(String.fromCodePoint(next))[0] as number);
    }
  }
}

/** `pairs` with those of characters that give one of `bytes`, in each lane. */
function filled(pairs: Uint8Array<ArrayBuffer>, bytes: Iterable<number>): Uint8Array<ArrayBuffer> {
  for (const byte of bytes) {
    for (const { bit, pair } of pairsOf(byte)) pairs[pair] = (pairs[pair] as number) | bit;
  }
  return pairs;
}

/** For two units of ASCII, 128 times the first and the second: whether an escape begins so. */
function escapeSeconds(): Uint8Array<ArrayBuffer> {
  const seconds = new Uint8Array(0x80 * 0x80);
  for (const one of OPENERS) {
    for (const next of ASCII) {
      if (opensEscape(next) || goesOnEscape(one, next)) seconds[(one << 7) | next] = 1;
    }
  }
  return seconds;
}

/** What may stand between two characters of a lane: a line break, or the beginning of an escape. */
function isBetween(label: number): boolean {
  return label === 0x0a || label === 0x0d || (label < 0x80 && opensEscape(label));
}
