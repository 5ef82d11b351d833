/** What the commands of a memory give back: the shapes of `value`. Types only. */

/**
 * `view` of a file. `text` is the exact text of the lines `firstLine` to `lastLine` (all of them
 * without a range), with their line breaks; both are 0 for a file without lines. `bytes` and
 * `lineCount` are of the whole file.
 */
export type MemoryFileView = {
  readonly kind: 'file';
  readonly path: string;
  readonly bytes: number;
  readonly lineCount: number;
  readonly firstLine: number;
  readonly lastLine: number;
  readonly text: string;
};

/** One name in a directory; the bytes of a directory are those of all files below it. */
export type MemoryEntry =
  | { readonly kind: 'file'; readonly path: string; readonly bytes: number }
  | {
      readonly kind: 'directory';
      readonly path: string;
      readonly bytes: number;
      readonly files: number;
    };

/** `view` of a directory: what stands in it, sorted by path (by code unit). */
export type MemoryDirectoryView = {
  readonly kind: 'directory';
  readonly path: string;
  readonly entries: readonly MemoryEntry[];
};

/**
 * `create`, `str_replace`, `insert`: the file as it is now, and the files given up for it.
 * `line` is the first line that was written, `lines` how many lines hold what was written; both
 * are 0 when nothing of it is left in a line.
 */
export type MemoryWriteReceipt = {
  readonly path: string;
  readonly bytes: number;
  readonly lineCount: number;
  readonly line: number;
  readonly lines: number;
  readonly evicted: readonly string[];
};

/** `delete`: what is gone, with all that stood below it. */
export type MemoryDeleteReceipt = {
  readonly path: string;
  readonly files: number;
  readonly bytes: number;
};

/** `rename`: `path` is the new one. */
export type MemoryRenameReceipt = MemoryDeleteReceipt & { readonly from: string };
