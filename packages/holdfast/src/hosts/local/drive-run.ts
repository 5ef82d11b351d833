/**
 * `driveRun`: drives a stored run under its lease until it ends or rests, through the pauses that
 * somebody answers and the runs that it continues as.
 */

import { HoldfastError } from '../../base/errors.ts';
import { requireObject } from '../../base/option.ts';
import type { Clock } from '../../base/ports.ts';
import { driveToRest } from '../../executor/child-runs.ts';
import type { GraphExecutor } from '../../executor/executor.ts';
import { createGraphExecutor } from '../../executor/graph-executor.ts';
import type { LogLine } from '../../executor/options.ts';
import { startSuccessor } from '../../executor/successor.ts';
import { currentOwner } from '../../process/owner.ts';
import type { RunPaused, RunResult } from '../../run/run-result.ts';
import type { RunStorage } from '../../store/storage.ts';
import { createSystemClock } from '../../store/system-clock.ts';
import type { BoundRun } from './bound-run.ts';
import { type HeldLease, holdLease } from './held-lease.ts';

/** Which run is driven, and who is asked and told meanwhile. */
export interface DriveRunOptions {
  readonly runId: string;
  readonly clock?: Clock;
  /** Aborting it halts the run, which stays resumable. */
  readonly signal?: AbortSignal;
  /**
   * Asked when only pauses are left. It answers through the executor and resolves with true when
   * the run can go on, or with false to leave it paused, which is also what happens without it.
   */
  readonly onPaused?: (paused: RunPaused, executor: GraphExecutor) => boolean | Promise<boolean>;
  /** Told of every run before it is driven: the one named, then those that it continues as. */
  readonly onDriving?: (executor: GraphExecutor) => void | Promise<void>;
  readonly onLog?: (line: LogLine) => void;
  /** Delays longer than this end the drive with `waiting`; none by default. */
  readonly maxIdleMs?: number;
}

/** How a drive came to rest, and of which run this is the result. */
export interface DrivenRun {
  readonly runId: string;
  readonly result: RunResult;
}

/**
 * Drives a stored run of this machine. What a dead process left in flight is resumed by the crash
 * table; a run that continues as new goes on in its successor.
 *
 * Throws `RUN_OWNED` when a living process drives the run, `OWNERSHIP_LOST` when another took it,
 * `ABORTED`, and what `createGraphExecutor` and the store throw.
 *
 * @example const { result } = await driveRun(storage, { graph, nodes }, { runId: 'r1' });
 */
export async function driveRun(
  storage: RunStorage,
  bound: BoundRun,
  options: DriveRunOptions,
): Promise<DrivenRun> {
  requireObject('bound', bound);
  requireObject('options', options);
  const { clock = createSystemClock() } = options;
  let { runId } = options;
  for (;;) {
    const result = await driveOne(storage, bound, { ...options, runId, clock });
    if (result.kind !== 'complete') return { runId, result };
    const { output } = result;
    const next = await startSuccessor(storage, { runId, graph: bound.graph, output, clock });
    if (next === null) return { runId, result };
    runId = next;
  }
}

async function driveOne(
  storage: RunStorage,
  bound: BoundRun,
  options: DriveRunOptions,
): Promise<RunResult> {
  const { runId, clock = createSystemClock(), onLog, maxIdleMs } = options;
  const lease = await holdLease(storage, runId, { owner: currentOwner(), clock });
  const halt = haltOn(lease.lost, options.signal);
  try {
    const executor = await createGraphExecutor({
      ...bound,
      storage,
      runId,
      clock,
      lease: lease.grant,
      maxIdleMs,
      ...(onLog === undefined ? {} : { onLog }),
    });
    await options.onDriving?.(executor);
    return await driveThroughPauses(executor, options, halt.signal);
  } catch (error) {
    throw lease.lost.aborted ? ownershipLost(runId, lease) : error;
  } finally {
    halt.release();
    await lease.release();
  }
}

async function driveThroughPauses(
  executor: GraphExecutor,
  options: DriveRunOptions,
  signal: AbortSignal,
): Promise<RunResult> {
  for (;;) {
    const result = await driveToRest(executor, signal);
    if (result.kind !== 'pause' || options.onPaused === undefined) return result;
    if (!(await options.onPaused(result, executor))) return result;
  }
}

/** A signal that is aborted with any of these. */
function haltOn(...signals: readonly (AbortSignal | undefined)[]) {
  const halt = new AbortController();
  const stop = () => halt.abort();
  for (const signal of signals) {
    if (signal?.aborted === true) stop();
    signal?.addEventListener('abort', stop, { once: true });
  }
  return {
    signal: halt.signal,
    release: () => {
      for (const signal of signals) signal?.removeEventListener('abort', stop);
    },
  };
}

function ownershipLost(runId: string, lease: HeldLease): HoldfastError {
  const text = `The lease of run ${runId} ran out and could not be renewed; this process stopped.`;
  return new HoldfastError('OWNERSHIP_LOST', text, { runId }, lease.lost.reason);
}
