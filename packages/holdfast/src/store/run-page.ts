/** Pages of the run index: their bounds and cursors, the same on every adapter. */
import { isStreamName } from '../base/identifier.ts';
import { isIsoTime } from '../base/time.ts';
import type { RunIndexRow, RunPage } from './run-index.ts';
import { StorageError } from './storage-error.ts';

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1000;

/** The place behind which a page begins. */
export interface PagePlace {
  readonly createdAt: string;
  readonly runId: string;
}

/** How many rows a page holds. Throws `INVALID_OPTION`. */
export function pageLimit(page: RunPage): number {
  const limit = page.limit ?? DEFAULT_LIMIT;
  if (!Number.isSafeInteger(limit) || limit < 1 || limit > MAX_LIMIT) {
    throw new StorageError(
      'INVALID_OPTION',
      `The limit of a page must be 1–${MAX_LIMIT}, not ${limit}.`,
    );
  }
  return limit;
}

/** The cursor of the page behind `row`. */
export function pageCursor(row: RunIndexRow): string {
  return `${row.createdAt}/${row.runId}`;
}

/** Where the page with this cursor begins; null = at the newest. Throws `INVALID_OPTION`. */
export function pagePlace(page: RunPage): PagePlace | null {
  if (page.cursor === undefined) return null;
  const slash = String(page.cursor).indexOf('/');
  const createdAt = page.cursor.slice(0, slash);
  const runId = page.cursor.slice(slash + 1);
  if (slash < 0 || !isIsoTime(createdAt) || !isStreamName(runId)) {
    throw new StorageError(
      'INVALID_OPTION',
      'This is no cursor of a run list. Pass the cursor of the page before, unchanged.',
    );
  }
  return { createdAt, runId };
}

/** False for a prefix that no run id can have: such a list is empty without a search. */
export function isRunIdPrefix(prefix: string): boolean {
  return prefix === '' || isStreamName(prefix);
}

/** Newest first: the order of `RunIndex.list`. */
export function newerFirst(left: PagePlace, right: PagePlace): number {
  if (left.createdAt !== right.createdAt) return left.createdAt < right.createdAt ? 1 : -1;
  if (left.runId === right.runId) return 0;
  return left.runId < right.runId ? 1 : -1;
}
