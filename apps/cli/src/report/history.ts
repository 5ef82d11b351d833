/** What happened since the last tag: commits, and the areas of the files they changed. */
import { type Area, type Areas, bounded, type Commits, counted, type Survey } from './facts.ts';
import { gitItems, gitText } from './git.ts';
import type { Repository } from './repository.ts';

const NEWEST_COMMITS = 30;
const MAX_AUTHOR_COMMITS = 10_000;
const MAX_AREAS = 12;
const MAX_AREA_NAMES = 10_000;

/** Finds the last tag and counts the commits since. */
export async function survey(of: Repository, signal: AbortSignal): Promise<Survey> {
  if (of.head === null) return { base: null, commits: 0, summary: 'no commit yet' };
  const { repository, head } = of;
  const args = ['describe', '--tags', '--abbrev=0', head];
  const base = await gitText({ repository, args, signal, allow: [128] });
  const count = ['rev-list', '--count', ...rangeOf(base, head)];
  const commits = Number(await gitText({ repository, args: count, signal }));
  return { base, commits, summary: base === null ? 'no tag yet' : `since ${bounded(base, 60)}` };
}

/** The newest commits since the base, and how many people wrote them. */
export async function commitsSince(
  of: Repository,
  { base, commits: total }: Survey,
  signal: AbortSignal,
): Promise<Commits> {
  const newest: Commits['newest'][number][] = [];
  const authors = new Set<string>();
  if (of.head !== null && total > 0) {
    const limit = [`--max-count=${MAX_AUTHOR_COMMITS}`, '--format=%h%x1f%aN%x1f%aI%x1f%s'];
    const args = ['log', '-z', ...limit, ...rangeOf(base, of.head)];
    await gitItems({ repository: of.repository, args, signal }, '\0', (item) => {
      const [hash = '', author = '', date = '', subject = ''] = item.split('\u001F');
      authors.add(author);
      if (newest.length < NEWEST_COMMITS) {
        newest.push({ hash, author: bounded(author, 60), date, subject: bounded(subject) });
      }
      return true;
    });
  }
  const summary = `${counted(total, 'commit')} by ${counted(authors.size, 'person', 'people')}`;
  return { total, authors: authors.size, newest, summary };
}

/** The changed files by area; without a base, all files. */
export async function changedAreas(
  of: Repository,
  { base }: Survey,
  signal: AbortSignal,
): Promise<Areas> {
  const areas = new AreaTable();
  const { repository, head } = of;
  if (head !== null && base !== null) {
    const plain = ['--numstat', '-z', '--no-renames', '--no-ext-diff', '--no-textconv'];
    const args = ['diff', ...plain, `refs/tags/${base}`, head, '--'];
    await gitItems({ repository, args, signal }, '\0', (item) => {
      const [added = '', deleted = '', path = ''] = item.split('\t');
      areas.add(path, { added: lines(added), deleted: lines(deleted) });
      return true;
    });
  } else if (head !== null) {
    const args = ['ls-tree', '-r', '-z', '--name-only', '--full-tree', head];
    await gitItems({ repository, args, signal }, '\0', (path) => {
      areas.add(path, null);
      return true;
    });
  }
  const { total, list } = areas;
  const summary = `${counted(total, 'file')} in ${counted(list().length, 'area')}`;
  return { total, areas: list().slice(0, MAX_AREAS), summary };
}

function rangeOf(base: string | null, head: string): readonly string[] {
  return [base === null ? head : `refs/tags/${base}..${head}`, '--'];
}

/** Binary files have no lines: git says `-`. */
function lines(text: string): number {
  return /^\d+$/.test(text) ? Number(text) : 0;
}

class AreaTable {
  total = 0;
  readonly #areas = new Map<
    string,
    { files: number; added: number | null; deleted: number | null }
  >();

  add(path: string, change: { readonly added: number; readonly deleted: number } | null): void {
    if (path === '') return;
    this.total += 1;
    const wanted = areaOf(path);
    const isKnown = this.#areas.has(wanted) || this.#areas.size < MAX_AREA_NAMES;
    const area = isKnown ? wanted : '(others)';
    const before = this.#areas.get(area) ?? { files: 0, added: null, deleted: null };
    this.#areas.set(area, {
      files: before.files + 1,
      added: change === null ? before.added : (before.added ?? 0) + change.added,
      deleted: change === null ? before.deleted : (before.deleted ?? 0) + change.deleted,
    });
  }

  readonly list = (): readonly Area[] =>
    [...this.#areas]
      .map(([area, counts]) => ({ area: bounded(area, 80), ...counts }))
      .sort((left, right) => right.files - left.files || (left.area < right.area ? -1 : 1));
}

/** The first two folders: `packages/holdfast`. */
function areaOf(path: string): string {
  const folders = path.split('/').slice(0, -1);
  return folders.length === 0 ? '(top)' : folders.slice(0, 2).join('/');
}
