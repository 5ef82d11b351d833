/**
 * A host that stays: drives every run that has something to do, fires what is due, goes on with
 * what dead processes left in flight, and sleeps in between.
 *
 * Invariants: a run is driven under its lease only, so several hosts may share a storage; one run
 * that takes long holds up no other; what cannot be driven now is looked at again, ever more
 * seldom, and never before what nobody has looked at yet.
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
import { PassedRuns } from './passed-runs.ts';

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
   * Told of a run that could not be driven, once for each try, or of an index that could not be
   * read (null). The run is tried again after a while, or as soon as somebody writes to it.
   */
  readonly onError?: (runId: string | null, error: unknown) => void;
}

/** Finds the code of a run; null leaves the run to somebody else for a while. */
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
  const host = new DueHost(storage, bind, { ...options, clock, pollMs });
  const nap = new Nap(clock);
  const stop = () => {
    host.stop();
    nap.end();
  };
  // One listener, however many runs are driven.
  signal?.addEventListener('abort', stop, { once: true });
  try {
    while (signal?.aborted !== true) {
      await host.look();
      if (!host.isStopped) await nap.take(pollMs);
    }
    host.stop();
    await host.settled();
  } finally {
    signal?.removeEventListener('abort', stop);
  }
}

type HostOptions = RunDueOptions & { readonly clock: Clock; readonly pollMs: number };

class DueHost {
  readonly #storage: RunStorage;
  readonly #bind: BindRun;
  readonly #options: HostOptions;
  readonly #driven = new Map<string, Promise<void>>();
  /** Stops each run that is driven. */
  readonly #halts = new Set<AbortController>();
  readonly #passed: PassedRuns;
  #stopped = false;

  constructor(storage: RunStorage, bind: BindRun, options: HostOptions) {
    this.#storage = storage;
    this.#bind = bind;
    this.#options = options;
    this.#passed = new PassedRuns(options.pollMs);
  }

  get isStopped(): boolean {
    return this.#stopped;
  }

  /** Halts what is driven and starts nothing more. */
  stop(): void {
    this.#stopped = true;
    for (const halt of this.#halts) halt.abort();
  }

  /** Starts to drive what has something to do, as far as there is room. */
  async look(): Promise<void> {
    const { maxConcurrentRuns = 16, onError } = this.#options;
    try {
      const wanting = await this.#wanting();
      for (const row of this.#passed.select(wanting, this.#options.clock.now())) {
        if (this.#stopped || this.#driven.size >= maxConcurrentRuns) return;
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
      .catch((error: unknown) => this.#failed(row, error))
      .finally(() => this.#driven.delete(runId));
    this.#driven.set(runId, driven);
  }

  async #drive(row: RunIndexRow): Promise<void> {
    const { clock, onResult } = this.#options;
    const bound = await this.#bind(row);
    if (this.#stopped) return;
    if (bound === null) {
      this.#passed.add(row, clock.now());
      return;
    }
    const halt = new AbortController();
    this.#halts.add(halt);
    try {
      const { runId, result } = await driveRun(this.#storage, bound, {
        runId: row.runId,
        clock,
        maxIdleMs: MAX_IDLE_MS,
        signal: halt.signal,
      });
      const left = await this.#leftBy(runId, result);
      if (left === null) this.#passed.forget(row.runId);
      else this.#passed.add(left, clock.now());
      onResult?.(runId, result);
    } finally {
      this.#halts.delete(halt);
    }
  }

  /** The row of a failed run that is due still: a child that it left cannot be ended now. */
  async #leftBy(runId: string, { kind }: RunResult): Promise<RunIndexRow | null> {
    const row = kind === 'fail' ? await this.#storage.runIndex.get(runId) : null;
    return row === null || row.wakeAt === null ? null : row;
  }

  /** A run that another host drives is that host's; one that was halted is halted. */
  async #failed(row: RunIndexRow, error: unknown): Promise<void> {
    if (isHoldfastError(error, 'ABORTED') && this.#stopped) return;
    // What the try itself has written does not bring the next one nearer.
    const left = await this.#storage.runIndex.get(row.runId).catch(() => null);
    this.#passed.add(left ?? row, this.#options.clock.now());
    if (!isHoldfastError(error, 'RUN_OWNED')) this.#options.onError?.(row.runId, error);
  }
}

/** A sleep that can be ended. */
class Nap {
  readonly #clock: Clock;
  #end: () => void = () => undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  take(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = this.#clock.after(ms, resolve);
      this.#end = () => {
        timer.cancel();
        resolve();
      };
    });
  }

  end(): void {
    this.#end();
  }
}
