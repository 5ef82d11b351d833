/**
 * A host that stays: drives every run that has something to do, fires what is due, starts the
 * successors of runs that continue as new, and sleeps in between.
 */
import type { NodeBindings } from '../attempt/binding.ts';
import { isHoldfastError } from '../base/errors.ts';
import type { Clock } from '../base/ports.ts';
import { isoTime } from '../base/time.ts';
import type { AnyCompiledGraph } from '../graph/graph-type.ts';
import type { RunResult } from '../run/run-result.ts';
import type { RunIndexRow } from '../store/run-index.ts';
import type { RunStorage } from '../store/storage.ts';
import { createSystemClock } from '../store/system-clock.ts';
import { driveToRest } from './child-runs.ts';
import { createGraphExecutor } from './graph-executor.ts';
import { continuation } from './run-end.ts';
import { isChildRunId } from './run-names.ts';
import { startRun } from './start-run.ts';

/** The code of a stored run. */
export interface BoundRun {
  readonly graph: AnyCompiledGraph;
  readonly nodes: NodeBindings;
}

export interface RunDueOptions {
  /** Ends the host; runs in flight are halted and stay resumable. */
  readonly signal?: AbortSignal;
  readonly clock?: Clock;
  /** How often the index is looked at, in milliseconds; 1,000 by default. */
  readonly pollMs?: number;
  /** Told what every driven run came to. */
  readonly onResult?: (runId: string, result: RunResult) => void;
  /** Told of a run that could not be driven; it is tried again when it is due again. */
  readonly onError?: (runId: string, error: unknown) => void;
}

/** Finds the code of a run; null leaves the run to somebody else. */
export type BindRun = (row: RunIndexRow) => BoundRun | null | Promise<BoundRun | null>;

/**
 * Drives what is due until `signal` is aborted. A run is driven under its lease, so several hosts
 * may share a storage.
 *
 * @example await runDue(storage, () => ({ graph, nodes }), { signal })
 */
export async function runDue(
  storage: RunStorage,
  bind: BindRun,
  options: RunDueOptions = {},
): Promise<void> {
  const { signal, clock = createSystemClock(), pollMs = 1_000 } = options;
  while (signal?.aborted !== true) {
    await runDueOnce(storage, bind, { ...options, clock });
    await sleep(clock, pollMs, signal);
  }
}

/** One look at the index: drives what is due now, one run after the other. */
export async function runDueOnce(
  storage: RunStorage,
  bind: BindRun,
  options: RunDueOptions = {},
): Promise<void> {
  const { clock = createSystemClock(), signal } = options;
  // A child run is driven by its parent's attempt.
  for (const row of await storage.runIndex.due(isoTime(clock.now()))) {
    if (signal?.aborted === true) return;
    const bound = isChildRunId(row.runId) ? null : await bind(row);
    if (bound === null) continue;
    try {
      const result = await driveRow(storage, { row, bound, clock, signal });
      options.onResult?.(row.runId, result);
    } catch (error) {
      if (!isHoldfastError(error, 'ABORTED')) options.onError?.(row.runId, error);
    }
  }
}

interface DueRun {
  readonly row: RunIndexRow;
  readonly bound: BoundRun;
  readonly clock: Clock;
  readonly signal: AbortSignal | undefined;
}

async function driveRow(storage: RunStorage, due: DueRun): Promise<RunResult> {
  const { row, bound, clock, signal } = due;
  const executor = await createGraphExecutor({
    runId: row.runId,
    storage,
    clock,
    graph: bound.graph,
    nodes: bound.nodes,
    // A long delay is left to the next look at the index.
    maxIdleMs: 1_000,
  });
  const result = await driveToRest(executor, signal);
  if (result.kind === 'complete') await startSuccessor(storage, due, result.output);
  return result;
}

/** The row of a run that continues as new stays due until its successor's stream exists. */
async function startSuccessor(
  storage: RunStorage,
  { row, bound, clock }: DueRun,
  output: Parameters<typeof continuation>[0],
): Promise<void> {
  const next = continuation(output);
  if (next === null) return;
  const { runId, input } = next;
  if ((await storage.runIndex.get(runId)) === null) {
    await startRun(storage, { runId, graph: bound.graph, input, clock });
  }
  const stream = { namespace: row.namespace, streamId: row.runId };
  const end = await storage.eventStore.end(stream);
  await storage.eventStore.append(stream, end, [], { index: { wakeAt: null } });
}

function sleep(clock: Clock, ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const wake = () => {
      timer.cancel();
      signal?.removeEventListener('abort', wake);
      resolve();
    };
    const timer = clock.after(ms, wake);
    signal?.addEventListener('abort', wake, { once: true });
  });
}
