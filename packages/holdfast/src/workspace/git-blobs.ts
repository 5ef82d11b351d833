/** Reads contents from the object store of a repository, as lists of lines. */
import { inspectionFailed, runGit } from './git-command.ts';
import type { GitCapture } from './git-layout.ts';
import { type LineList, lineList } from './line-list.ts';

/** As much is asked for at once, or one object that is larger. */
const BATCH_BYTES = 32 * 1024 * 1024;
/** More than the line before each object and the newline behind it. */
const FRAME_BYTES = 256;
const NEWLINE = 10;

interface Batch {
  readonly ids: string[];
  bytes: number;
}

/** The lines of each object by its id. Throws `WORKSPACE_INSPECTION` when one is missing. */
export async function gitBlobs(
  capture: GitCapture,
  ids: ReadonlySet<string>,
): Promise<ReadonlyMap<string, LineList>> {
  const found = new Map<string, LineList>();
  for (const batch of await batches(capture, [...ids])) {
    const args = ['cat-file', '--batch'];
    const call = { ...capture, args, input: lined(batch.ids), maxOutputBytes: batch.bytes };
    let rest = await runGit(call);
    for (const id of batch.ids) {
      const start = rest.indexOf(NEWLINE) + 1;
      const size = Number(rest.toString('latin1', 0, start).trim().split(' ')[2]);
      if (!Number.isSafeInteger(size)) throw missing(capture, id);
      found.set(id, lineList(rest.subarray(start, start + size)));
      rest = rest.subarray(start + size + 1);
    }
  }
  return found;
}

async function batches(capture: GitCapture, ids: readonly string[]): Promise<readonly Batch[]> {
  if (ids.length === 0) return [];
  const args = ['cat-file', '--batch-check=%(objectsize)'];
  const said = (await runGit({ ...capture, args, input: lined(ids) })).toString('latin1');
  const sizes = said.split('\n');
  const made: Batch[] = [];
  for (const [index, id] of ids.entries()) {
    const bytes = Number(sizes[index] || Number.NaN) + FRAME_BYTES;
    if (Number.isNaN(bytes)) throw missing(capture, id);
    const last = made.at(-1);
    if (last === undefined || last.bytes + bytes > BATCH_BYTES) made.push({ ids: [id], bytes });
    else {
      last.ids.push(id);
      last.bytes += bytes;
    }
  }
  return made;
}

function lined(ids: readonly string[]): string {
  return `${ids.join('\n')}\n`;
}

function missing({ directory }: GitCapture, id: string): Error {
  return inspectionFailed(directory, `the object ${id} is not in the repository.`);
}
