/** A screen that acts on the few sequences that the live tree writes, and counts its writes. */

export class Screen {
  readonly columns: number;
  readonly rows: number;
  writes = 0;
  #lines: string[] = [''];
  #row = 0;
  #column = 0;

  constructor(columns: number, rows: number) {
    this.columns = columns;
    this.rows = rows;
  }

  size(): { readonly columns: number; readonly rows: number } {
    return { columns: this.columns, rows: this.rows };
  }

  out(text: string): void {
    this.writes += 1;
    // biome-ignore lint/suspicious/noControlCharactersInRegex: terminals speak in them
    for (const [part] of text.matchAll(/\u001B\[\??\d*[A-Za-z]|[^\u001B]/gu)) this.#take(part);
  }

  /** All lines ever written, without the empty ones at the end. */
  lines(): readonly string[] {
    const lines = this.#lines.map((line) => line.trimEnd());
    while (lines.at(-1) === '') lines.pop();
    return lines;
  }

  #take(part: string): void {
    if (part === '\n') {
      this.#row += 1;
      this.#column = 0;
      if (this.#lines.length === this.#row) this.#lines.push('');
    } else if (part === '\r') this.#column = 0;
    else if (part.startsWith('\u001B')) this.#act(part);
    else {
      if (this.#column >= this.columns) throw new Error(`A line is wider than ${this.columns}.`);
      const line = (this.#lines[this.#row] ?? '').padEnd(this.#column);
      this.#lines[this.#row] = line.slice(0, this.#column) + part + line.slice(this.#column + 1);
      this.#column += 1;
    }
  }

  #act(sequence: string): void {
    const up = /\[(\d+)A$/.exec(sequence);
    if (up !== null) {
      const top = Math.max(0, this.#lines.length - this.rows);
      this.#row -= Number(up[1]);
      if (this.#row < top) throw new Error('The cursor left the screen.');
    } else if (sequence.endsWith('K')) {
      this.#lines[this.#row] = (this.#lines[this.#row] ?? '').slice(0, this.#column);
    } else if (sequence.endsWith('J')) {
      this.#lines[this.#row] = (this.#lines[this.#row] ?? '').slice(0, this.#column);
      this.#lines.length = this.#row + 1;
    }
  }
}
