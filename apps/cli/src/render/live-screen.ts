/**
 * A block of lines at the end of the terminal that is redrawn in place.
 *
 * Invariants: a frame is one write, each line of it erased only behind its new text, so nothing
 * flickers; the terminal is in no state that a killed process would leave it in (the cursor stays
 * visible below the block).
 */
import type { Terminal } from '../terminal.ts';

const BEGIN_UPDATE = '\u001B[?2026h';
const END_UPDATE = '\u001B[?2026l';
const ERASE_LINE_END = '\u001B[K';
const ERASE_BELOW = '\u001B[J';

export class LiveScreen {
  readonly #terminal: Pick<Terminal, 'out' | 'size'>;
  #shown: readonly string[] = [];
  #shownWidths: readonly number[] = [];

  constructor(terminal: Pick<Terminal, 'out' | 'size'>) {
    this.#terminal = terminal;
  }

  /** Draws a frame over the one before; `widths` are the columns that its lines take. */
  draw(lines: readonly string[], widths: readonly number[]): void {
    if (this.#shown.length > 0 && sameLines(lines, this.#shown)) return;
    const body = lines.map((line) => `${line}${ERASE_LINE_END}\n`).join('');
    this.#terminal.out(`${BEGIN_UPDATE}${this.#toTop()}${body}${ERASE_BELOW}${END_UPDATE}`);
    this.#shown = lines;
    this.#shownWidths = widths;
  }

  /** Takes the block away; what is written next stands in its place. */
  clear(): void {
    if (this.#shown.length === 0) return;
    this.#terminal.out(`${this.#toTop()}${ERASE_BELOW}`);
    this.leave();
  }

  /** Leaves the block where it is; what is written next stands below it. */
  leave(): void {
    this.#shown = [];
    this.#shownWidths = [];
  }

  /** The block may have been wrapped by a screen that became narrower since. */
  #toTop(): string {
    const { columns } = this.#terminal.size();
    const height = this.#shownWidths.reduce(
      (rows, width) => rows + Math.max(1, Math.ceil(width / columns)),
      0,
    );
    return height === 0 ? '\r' : `\r\u001B[${height}A`;
  }
}

function sameLines(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((line, index) => line === right[index]);
}
