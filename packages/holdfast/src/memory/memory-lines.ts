/**
 * Lines of a text: a line ends with `\n`, or with the text. `\r` belongs to its line.
 *
 * Invariant: nothing here changes a byte that it was not asked to change.
 */

/** 'a\nb' and 'a\nb\n' have two lines, '' has none. */
export function countLines(text: string): number {
  let lines = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines += 1;
  return text === '' || text.endsWith('\n') ? lines : lines + 1;
}

/** The line (from 1) that holds the character at `offset`. */
export function lineAt(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at !== -1 && at < offset; at = text.indexOf('\n', at + 1)) {
    line += 1;
  }
  return line;
}

/** The text of the lines `first` to `last`, with their breaks; both must exist. */
export function sliceLines(text: string, first: number, last: number): string {
  return text.slice(endOfLine(text, first - 1), endOfLine(text, last));
}

/** The offset behind `line` and its break; 0 for line 0. */
function endOfLine(text: string, line: number): number {
  let end = 0;
  for (let left = line; left > 0; left -= 1) {
    const at = text.indexOf('\n', end);
    if (at === -1) return text.length;
    end = at + 1;
  }
  return end;
}

/**
 * `text` with `inserted` behind `line` as lines of its own: a break is added where two lines would
 * run together, and nowhere else.
 */
export function insertLines(text: string, line: number, inserted: string): string {
  const at = endOfLine(text, line);
  const [before, after] = [text.slice(0, at), text.slice(at)];
  const opening = before === '' || before.endsWith('\n') ? '' : '\n';
  const closing = after === '' || inserted.endsWith('\n') ? '' : '\n';
  return `${before}${opening}${inserted}${closing}${after}`;
}

/** Where `sought` stands in `text`, overlaps included, at most `most` offsets. */
export function offsetsOf(text: string, sought: string, most: number): readonly number[] {
  const offsets: number[] = [];
  let at = text.indexOf(sought);
  while (at !== -1 && offsets.length < most) {
    offsets.push(at);
    at = text.indexOf(sought, at + 1);
  }
  return offsets;
}
