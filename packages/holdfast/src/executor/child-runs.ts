/**
 * Runs that stand for an attempt of this one: started with it, stored beside it, resumed and
 * cancelled with it. A child's pauses are listed by its parent and answered through it.
 */
import type { ChildRun } from '../attempt/binding.ts';
import { PauseAttempt } from '../attempt/binding.ts';
import { NodeFailure } from '../attempt/outcome.ts';
import { freezeJson, type JsonValue } from '../base/json.ts';
import { millisecondsOf } from '../base/time.ts';
import type { PositionRecord } from '../run/position-record.ts';
import type { RunFold } from '../run/run-fold.ts';
import type { RunResult } from '../run/run-result.ts';
import type { GraphExecutor } from './executor.ts';
import type { ExecutorSettings } from './options.ts';
import { childRunId } from './run-names.ts';
import { startRun } from './start-run.ts';

export class ChildRuns {
  readonly #settings: ExecutorSettings;
  readonly #fold: () => RunFold;
  readonly #live = new Map<string, GraphExecutor>();

  constructor(settings: ExecutorSettings, fold: () => RunFold) {
    this.#settings = settings;
    this.#fold = fold;
  }

  /** The run that stands for this position: the same in every process. */
  idOf(position: string): string {
    return childRunId(this.#settings.stream.streamId, position, this.#settings.hash);
  }

  /** Runs a child to its output, or to a pause that its parent shares. */
  async run(
    record: PositionRecord,
    child: ChildRun,
    signal: AbortSignal,
  ): Promise<JsonValue | PauseAttempt> {
    const runId = this.idOf(record.position);
    const executor = await this.#open(runId, child);
    this.#live.set(runId, executor);
    try {
      return outcomeOf(await this.#drive(executor, signal), runId);
    } finally {
      this.#live.delete(runId);
    }
  }

  /** The executor of a child that is stored: the one that drives it here, or a new one. */
  async openStored(position: string, child: ChildRun): Promise<GraphExecutor | null> {
    const runId = this.idOf(position);
    const live = this.#live.get(runId);
    if (live !== undefined) return live;
    const row = await this.#settings.storage.runIndex.get(runId);
    return row === null ? null : this.#settings.childExecutor(runId, child);
  }

  async #open(runId: string, child: ChildRun): Promise<GraphExecutor> {
    const { storage, clock } = this.#settings;
    if ((await storage.runIndex.get(runId)) === null) {
      await startRun(storage, { runId, graph: child.graph, input: child.input, clock });
    }
    return this.#settings.childExecutor(runId, child);
  }

  shutdown(): void {
    for (const executor of this.#live.values()) void executor.shutdown();
  }

  /** Paused positions whose child can go on: the one kind of pause that a host re-opens. */
  async ready(fold: RunFold): Promise<readonly string[]> {
    const now = this.#settings.clock.now();
    const ready: string[] = [];
    for (const record of fold.positions.with('paused')) {
      if (record.pause?.request.kind !== 'child') continue;
      const row = await this.#settings.storage.runIndex.get(this.idOf(record.position));
      const isDue = row?.wakeAt != null && millisecondsOf(row.wakeAt) <= now;
      if (row?.status !== 'paused' || row.isMarkedDue || isDue) ready.push(record.position);
    }
    return ready;
  }

  /** A parent's cancel cancels the child; its halt only halts it. */
  async #drive(executor: GraphExecutor, signal: AbortSignal): Promise<RunResult> {
    const halt = new AbortController();
    const stop = () => {
      const cancel = this.#fold().cancelRequested;
      if (cancel === null) halt.abort();
      else void executor.cancel({ by: cancel.by, reason: cancel.reason });
    };
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
    try {
      return await driveToRest(executor, halt.signal);
    } finally {
      signal.removeEventListener('abort', stop);
    }
  }
}

/** Runs, and resumes what a dead process left in flight, until the run ends or pauses. */
export async function driveToRest(
  executor: Pick<GraphExecutor, 'run' | 'resume'>,
  signal?: AbortSignal,
): Promise<RunResult> {
  let result = await executor.run(signal);
  while (result.kind === 'waiting' && result.positions.length > 0) {
    result = await executor.resume(result.positions, signal);
  }
  return result;
}

function outcomeOf(result: RunResult, runId: string): JsonValue | PauseAttempt {
  switch (result.kind) {
    case 'complete':
      return result.output;
    case 'fail':
      throw new NodeFailure(result.code, `Run ${runId}: ${result.message}`);
    case 'pause': {
      const { pauses, wakeAt } = result;
      const due = wakeAt === undefined ? {} : { dueAt: wakeAt };
      const request = { kind: 'child', runId, pauses: pauses as unknown as JsonValue, ...due };
      return new PauseAttempt(result.reason, freezeJson(request));
    }
    case 'waiting': {
      const due = result.wakeAt === undefined ? {} : { dueAt: result.wakeAt };
      return new PauseAttempt(
        'The child run sleeps.',
        freezeJson({ kind: 'child', runId, ...due }),
      );
    }
  }
}
