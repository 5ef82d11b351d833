/** The code fences of a Markdown page, with the lines where they stand. */

export interface Fence {
  /** The first word behind the fence: `ts`, `json`, `sh` … */
  readonly language: string;
  /** `file=nodes.ts` gives the snippet a name that later snippets of the page can import. */
  readonly file: string | null;
  /** `no-run`: compiled only, for what needs the outside world. */
  readonly run: boolean;
  /** The line of the first line of code, from 1. */
  readonly line: number;
  readonly code: string;
}

const opening = /^(?<indent> {0,3})(?<marks>`{3,}|~{3,})(?<info>[^`]*)$/;

export function fencesOf(markdown: string): readonly Fence[] {
  const lines = markdown.split('\n');
  const fences: Fence[] = [];
  for (let index = 0; index < lines.length; index += 1) {
    const start = opening.exec(lines[index] ?? '');
    if (start?.groups === undefined) continue;
    const { indent = '', marks = '', info = '' } = start.groups;
    const end = closingLine(lines, index + 1, marks);
    const code = lines.slice(index + 1, end).map((line) => unindent(line, indent.length));
    fences.push({ ...readInfo(info), line: index + 2, code: `${code.join('\n')}\n` });
    index = end;
  }
  return fences;
}

function closingLine(lines: readonly string[], from: number, marks: string): number {
  const closing = new RegExp(`^ {0,3}${marks.charAt(0)}{${marks.length},} *$`);
  const found = lines.findIndex((line, index) => index >= from && closing.test(line));
  return found < 0 ? lines.length : found;
}

function unindent(line: string, width: number): string {
  return line.slice(0, width).trim() === '' ? line.slice(width) : line;
}

function readInfo(info: string): Pick<Fence, 'language' | 'file' | 'run'> {
  const [language = '', ...words] = info.trim().split(/\s+/);
  const file = words.find((word) => word.startsWith('file='))?.slice('file='.length) ?? null;
  return { language, file, run: !words.includes('no-run') };
}
