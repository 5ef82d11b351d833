/** A run that continues as new: its successor is stored once, and its index row is then done. */
import type { JsonValue } from '../base/json.ts';
import type { Clock } from '../base/ports.ts';
import type { AnyCompiledGraph } from '../graph/graph-type.ts';
import type { RunStorage } from '../store/storage.ts';
import { continuation } from './run-end.ts';
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
    await startRelative(storage, { ...next, graph, clock });
  }
  const stream = { namespace: storage.record.namespace, streamId: runId };
  const end = await storage.eventStore.end(stream);
  await storage.eventStore.append(stream, end, [], { index: { wakeAt: null } });
  return next.runId;
}
