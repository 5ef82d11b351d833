/** The facts of a report, each gathered by one node: bounded lists with their true totals. */

/** Which commits the report is about. */
export type Survey = {
  /** The newest tag before HEAD; null = there is none, and everything counts. */
  readonly base: string | null;
  readonly commits: number;
  readonly summary: string;
};

export type Commit = {
  readonly hash: string;
  readonly author: string;
  readonly date: string;
  readonly subject: string;
};

export type Commits = {
  readonly total: number;
  readonly authors: number;
  readonly newest: readonly Commit[];
  readonly summary: string;
};

export type Area = {
  readonly area: string;
  readonly files: number;
  /** Null where lines were not counted. */
  readonly added: number | null;
  readonly deleted: number | null;
};

export type Areas = {
  readonly total: number;
  readonly areas: readonly Area[];
  readonly summary: string;
};

export type Marker = {
  readonly path: string;
  readonly line: number;
  readonly kind: 'TODO' | 'FIXME';
  readonly text: string;
};

export type Markers = {
  readonly todo: number;
  readonly fixme: number;
  /** True when counting was stopped: there are more. */
  readonly atLeast: boolean;
  readonly first: readonly Marker[];
  readonly summary: string;
};

export type BrokenLink = {
  readonly path: string;
  readonly line: number;
  readonly target: string;
};

export type Links = {
  readonly pages: number;
  readonly links: number;
  readonly broken: number;
  readonly first: readonly BrokenLink[];
  readonly summary: string;
};

export type LargeFile = { readonly path: string; readonly bytes: number };

export type Sizes = {
  readonly files: number;
  readonly bytes: number;
  readonly largest: readonly LargeFile[];
  readonly summary: string;
};

/** What every node of the fan-out found. */
export type Facts = {
  readonly survey: Survey;
  readonly commits: Commits;
  readonly areas: Areas;
  readonly markers: Markers;
  readonly links: Links;
  readonly sizes: Sizes;
};

/** `1 commit`, `2 commits`. */
export function counted(count: number, one: string, many: string = `${one}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`;
}

/** Text of a repository as it may stand in a fact: one line, bounded. */
export function bounded(text: string, length = 160): string {
  const points = Array.from(text.replaceAll('\0', ' ').replaceAll(/\s+/g, ' ').trim());
  const kept = points.length <= length ? points : [...points.slice(0, length - 1), '…'];
  return kept.join('');
}
