/** A run that continues as new: its successor is stored once, and its index row is then done. */
import { isHoldfastError } from '../base/errors.ts';
import type { JsonValue } from '../base/json.ts';
import type { Clock } from '../base/ports.ts';
import type { AnyCompiledGraph } from '../graph/graph-type.ts';
import type { RunStorage } from '../store/storage.ts';
import { continuation, recordedEnd, resultOf } from './run-end.ts';
import { startRelative } from './start-run.ts';

export interface EndedRun {
  readonly runId: string;
  readonly graph: AnyCompiledGraph;
  readonly output: JsonValue;
  readonly clock: Clock;
}

/**
 * Stores the successor of a run that has completed with `continueAs`, unless that was done before,
 * and returns its id; null when the run just ended. The row stays due until the successor exists.
 */
export async function startSuccessor(
  storage: RunStorage,
  { runId, graph, output, clock }: EndedRun,
): Promise<string | null> {
  const next = continuation(output);
  if (next === null) return null;
  if ((await storage.runIndex.get(next.runId)) === null) {
    await untroubled(startRelative(storage, { ...next, graph, clock }));
  }
  await settleRow(storage, runId);
  return next.runId;
}

/** An ended run has nothing more to do: its row is due no longer. */
export async function settleRow(storage: RunStorage, runId: string): Promise<void> {
  const stream = { namespace: storage.record.namespace, streamId: runId };
  // A late signal may come in between: the row is then settled behind it.
  for (;;) {
    const row = await storage.runIndex.get(runId);
    if (row === null || row.wakeAt === null) return;
    const end = await storage.eventStore.end(stream);
    await untroubled(storage.eventStore.append(stream, end, [], { index: { wakeAt: null } }));
  }
}

/**
 * The last run stored of those that this one continues as, one after another; itself when it does
 * not, or not yet. Null when not even this one is stored.
 */
export async function lastStoredOf(storage: RunStorage, runId: string): Promise<string | null> {
  let last: string | null = null;
  let next: string | null = runId;
  while (next !== null) {
    const row = await storage.runIndex.get(next);
    if (row === null) return last;
    last = next;
    next = row.status === 'complete' ? await nextOf(storage, last) : null;
  }
  return last;
}

async function nextOf(storage: RunStorage, runId: string): Promise<string | null> {
  const stream = { namespace: storage.record.namespace, streamId: runId };
  const end = await recordedEnd(storage, stream);
  if (end === null) return null;
  const result = await resultOf(end, stream, storage);
  return result.kind === 'complete' ? (continuation(result.output)?.runId ?? null) : null;
}

/** Passes over that somebody else was there first. */
async function untroubled(write: Promise<unknown>): Promise<void> {
  try {
    await write;
  } catch (error) {
    if (!isHoldfastError(error, 'SEQUENCE_CONFLICT')) throw error;
  }
}
