/** One run on SQLite, measured by time, by what the storage counted, and by its file. */
import type { BenchGraph } from './graphs.ts';
import { fileBytes, newDirectory, openLocal, runToEnd, store } from './runs.ts';
import { StepClock } from './step-clock.ts';
import { type TimedRun, timed } from './timing.ts';

export interface DurableRunOptions {
  readonly directory: string;
  readonly graph: BenchGraph;
  readonly steps: number;
  readonly maxConcurrentAttempts?: number;
}

const RUN_ID = 'run';

/**
 * Stores and runs one run in a store of its own. `bytesPerStep` is what the database file has grown
 * by from before the run to after it, both times after a checkpoint: definition and empty tables
 * are no part of it, indexes and snapshots are.
 */
export async function durableRun(options: DurableRunOptions): Promise<TimedRun> {
  const { graph, steps, maxConcurrentAttempts = 64 } = options;
  const directory = newDirectory(options.directory);
  await storeOnce(directory, graph);
  const before = fileBytes(directory).database;
  const storage = openLocal(directory);
  // The first use opens the file: no run of a host that stays pays for that.
  await storage.eventStore.sync();
  const clock = new StepClock();
  const onStep = () => clock.tick();
  const run = await timed(
    () => runToEnd(storage, graph, { runId: RUN_ID, onStep, maxConcurrentAttempts }),
    () => storage.counters,
  );
  if (clock.count === 0) throw new Error('no step was called');
  const walMb = fileBytes(directory).wal / 1024 / 1024;
  await storage.close();
  const bytesPerStep = (fileBytes(directory).database - before) / steps;
  return { ...run, stepMs: clock.stepMs(), more: { walMb, bytesPerStep } };
}

/** Closing the last connection checkpoints the log into the file. */
async function storeOnce(directory: string, graph: BenchGraph): Promise<void> {
  const storage = openLocal(directory);
  await store(storage, graph, RUN_ID);
  await storage.close();
}
