/**
 * A host that stays: drives every run that has something to do, fires what is due, goes on with
 * what dead processes left in flight, and sleeps in between.
 *
 * Invariants: a run is driven under its lease only, so several hosts may share a storage; one run
 * that takes long holds up no other; what cannot be driven now is looked at again.
 */
import { isHoldfastError } from '../../base/errors.ts';
import type { Clock } from '../../base/ports.ts';
import { isoTime } from '../../base/time.ts';
import { isChildRunId } from '../../executor/run-names.ts';
import type { RunResult } from '../../run/run-result.ts';
import type { RunIndexRow } from '../../store/run-index.ts';
import type { RunStorage } from '../../store/storage.ts';
import { createSystemClock } from '../../store/system-clock.ts';
import type { BoundRun } from './bound-run.ts';
import { driveRun } from './drive-run.ts';

/** How a host that stays looks for work, and whom it tells. */
export interface RunDueOptions {
  /** Ends the host; runs in flight are halted and stay resumable. */
  readonly signal?: AbortSignal;
  readonly clock?: Clock;
  /** How often the index is looked at, in milliseconds; 1,000 by default. */
  readonly pollMs?: number;
  /** How many runs are driven at once; 16 by default. */
  readonly maxConcurrentRuns?: number;
  /** Told what every driven run came to. */
  readonly onResult?: (runId: string, result: RunResult) => void;
  /**
   * Told of a run that could not be driven, or of an index that could not be read (null). It is
   * tried again at the next look.
   */
  readonly onError?: (runId: string | null, error: unknown) => void;
}

/** Finds the code of a run; null leaves the run to somebody else. */
export type BindRun = (row: RunIndexRow) => BoundRun | null | Promise<BoundRun | null>;

/** Longer delays are left to a later look at the index. */
const MAX_IDLE_MS = 1_000;

/**
 * Drives what has something to do until `signal` is aborted, then waits for what it drives.
 *
 * @example await runDue(storage, () => ({ graph, nodes }), { signal })
 */
export async function runDue(
  storage: RunStorage,
  bind: BindRun,
  options: RunDueOptions = {},
): Promise<void> {
  const { signal, clock = createSystemClock(), pollMs = 1_000 } = options;
  const host = new DueHost(storage, bind, { ...options, clock });
  while (signal?.aborted !== true) {
    await host.look();
    await sleep(clock, pollMs, signal);
  }
  await host.settled();
}

class DueHost {
  readonly #storage: RunStorage;
  readonly #bind: BindRun;
  readonly #options: RunDueOptions & { readonly clock: Clock };
  readonly #driven = new Map<string, Promise<void>>();

  constructor(
    storage: RunStorage,
    bind: BindRun,
    options: RunDueOptions & { readonly clock: Clock },
  ) {
    this.#storage = storage;
    this.#bind = bind;
    this.#options = options;
  }

  /** Starts to drive what has something to do, as far as there is room. */
  async look(): Promise<void> {
    const { maxConcurrentRuns = 16, onError } = this.#options;
    try {
      for (const row of await this.#wanting()) {
        if (this.#driven.size >= maxConcurrentRuns) return;
        if (!this.#driven.has(row.runId)) this.#start(row);
      }
    } catch (error) {
      onError?.(null, error);
    }
  }

  async settled(): Promise<void> {
    await Promise.all(this.#driven.values());
  }

  /** What is due, and what a process that is gone has left in flight. */
  async #wanting(): Promise<readonly RunIndexRow[]> {
    const { runIndex } = this.#storage;
    const now = isoTime(this.#options.clock.now());
    const due = await runIndex.due(now);
    const known = new Set(due.map(({ runId }) => runId));
    const left = (await runIndex.claimable(now)).filter(
      ({ runId, wakeAt }) => wakeAt === null && !known.has(runId),
    );
    // A child run is driven by its parent's attempt.
    return [...due, ...left].filter(({ runId }) => !isChildRunId(runId));
  }

  #start(row: RunIndexRow): void {
    const { runId } = row;
    const driven = this.#drive(row)
      .catch((error: unknown) => this.#failed(runId, error))
      .finally(() => this.#driven.delete(runId));
    this.#driven.set(runId, driven);
  }

  async #drive(row: RunIndexRow): Promise<void> {
    const { clock, signal, onResult } = this.#options;
    const bound = await this.#bind(row);
    if (bound === null || signal?.aborted === true) return;
    const { runId, result } = await driveRun(this.#storage, bound, {
      runId: row.runId,
      clock,
      maxIdleMs: MAX_IDLE_MS,
      ...(signal === undefined ? {} : { signal }),
    });
    onResult?.(runId, result);
  }

  /** A run that another host drives is that host's; one that was halted is halted. */
  #failed(runId: string, error: unknown): void {
    const { signal, onError } = this.#options;
    if (isHoldfastError(error, 'RUN_OWNED')) return;
    if (isHoldfastError(error, 'ABORTED') && signal?.aborted === true) return;
    onError?.(runId, error);
  }
}

function sleep(clock: Clock, ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) {
      resolve();
      return;
    }
    const wake = () => {
      timer.cancel();
      signal?.removeEventListener('abort', wake);
      resolve();
    };
    const timer = clock.after(ms, wake);
    signal?.addEventListener('abort', wake, { once: true });
  });
}
