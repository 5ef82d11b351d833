/** Relative links in Markdown that lead to no file of the same commit. */
import path from 'node:path';
import { type BrokenLink, bounded, counted, type Links } from './facts.ts';
import { eachFile, type TreeFile } from './file-tree.ts';
import { git } from './git.ts';
import type { Repository } from './repository.ts';

const FIRST_LINKS = 20;
const MAX_PAGES = 2_000;
const MAX_PAGE_BYTES = 512 * 1024;
const PAGES_AT_ONCE = 50;

export async function brokenLinks(of: Repository, signal: AbortSignal): Promise<Links> {
  const places = new Set<string>();
  const pages: TreeFile[] = [];
  await eachFile(of, signal, (file) => {
    for (
      let place = file.path;
      place !== '.' && !places.has(place);
      place = path.posix.dirname(place)
    ) {
      places.add(place);
    }
    const isPage = /\.(?:md|markdown)$/i.test(file.path) && file.bytes <= MAX_PAGE_BYTES;
    if (isPage && pages.length < MAX_PAGES) pages.push(file);
  });
  let links = 0;
  let broken = 0;
  const first: BrokenLink[] = [];
  for (let at = 0; at < pages.length; at += PAGES_AT_ONCE) {
    const some = pages.slice(at, at + PAGES_AT_ONCE);
    const texts = await contents(of, some, signal);
    some.forEach((page, index) => {
      for (const { target, line } of relativeLinks(texts[index] ?? '')) {
        links += 1;
        if (leadsSomewhere(page.path, target, places)) continue;
        broken += 1;
        if (first.length < FIRST_LINKS) {
          first.push({ path: bounded(page.path, 200), line, target: bounded(target, 200) });
        }
      }
    });
  }
  const where = counted(pages.length, 'page');
  const summary = `${broken} of ${counted(links, 'link')} broken, in ${where}`;
  return { pages: pages.length, links, broken, first, summary };
}

/** `git cat-file --batch` answers `<id> blob <size> LF <content> LF` for each id. */
async function contents(
  { repository }: Repository,
  files: readonly TreeFile[],
  signal: AbortSignal,
): Promise<readonly string[]> {
  const input = files.map(({ id }) => `${id}\n`).join('');
  const { output } = await git({ repository, args: ['cat-file', '--batch'], input, signal });
  const texts: string[] = [];
  let at = 0;
  for (const { bytes } of files) {
    const start = output.indexOf('\n', at) + 1;
    texts.push(output.toString('utf8', start, start + bytes));
    at = start + bytes + 1;
  }
  return texts;
}

export interface RelativeLink {
  readonly target: string;
  readonly line: number;
}

const INLINE =
  /\]\(\s*(?:<([^>\n]*)>|([^\s()<>]*(?:\([^\s()]*\)[^\s()<>]*)*))(?:\s+["'(][^\n]*?)?\s*\)/g;
const DEFINITION = /^ {0,3}\[[^\]\n]+\]:\s*(?:<([^>\n]*)>|(\S+))/g;
const FENCE = /^ {0,3}(`{3,}|~{3,})/;

/** The links of a page that lead into its own repository; code is left out. */
export function relativeLinks(markdown: string): readonly RelativeLink[] {
  const links: RelativeLink[] = [];
  let fence: string | null = null;
  markdown.split('\n').forEach((text, index) => {
    const mark = FENCE.exec(text)?.[1];
    if (mark !== undefined) {
      if (fence === null) fence = mark;
      else if (mark.startsWith(fence)) fence = null;
      return;
    }
    if (fence !== null) return;
    const prose = text.replaceAll(/(`+)(?:(?!\1).)+\1/g, '');
    for (const pattern of [INLINE, DEFINITION]) {
      for (const match of prose.matchAll(pattern)) {
        const target = match[1] ?? match[2] ?? '';
        if (isRelative(target)) links.push({ target, line: index + 1 });
      }
    }
  });
  return links;
}

function isRelative(target: string): boolean {
  return target !== '' && !/^(?:[a-z][a-z0-9+.-]*:|\/\/|#|\{)/i.test(target);
}

/** Links out of the repository are not this repository's to break. */
function leadsSomewhere(page: string, target: string, places: ReadonlySet<string>): boolean {
  const plain = decoded(target.replace(/[?#].*$/s, ''));
  if (plain === '') return true;
  const from = plain.startsWith('/') ? '' : path.posix.dirname(page);
  const place = path.posix.normalize(path.posix.join(from, plain)).replace(/^\/+|\/+$/g, '');
  return place === '' || place === '.' || place.startsWith('..') || places.has(place);
}

function decoded(target: string): string {
  try {
    return decodeURIComponent(target);
  } catch {
    return target;
  }
}
