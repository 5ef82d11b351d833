/** W5: 200 runs of 50 steps in one process, and what they do to its event loop. */
import { fdatasync, fdatasyncSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { RunStorage } from 'holdfast';
import type { LocalRunStorage } from 'holdfast/storage/local';
import { createSqliteRunStorage, type FileSync } from 'holdfast/testing';
import { type BenchGraph, chain } from './graphs.ts';
import { fileBytes, NAMESPACE, newDirectory, openLocal, policy, runToEnd, store } from './runs.ts';
import { alternate, type TimedRun, timed } from './timing.ts';
import type { Measurement } from './workload.ts';

const RUNS = 200;
const LENGTH = 50;
const STEPS = RUNS * LENGTH;
const SLOW_SYNC_MS = 5;

/** A disk that takes 5 ms to sync: in line it holds the process up, in the pool it does not. */
const slowFileSync: FileSync = {
  now: (fd) => {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, SLOW_SYNC_MS);
    fdatasyncSync(fd);
  },
  later: (fd, done) => {
    setTimeout(() => fdatasync(fd, done), SLOW_SYNC_MS);
  },
};

function runAll(storage: RunStorage, graph: BenchGraph): Promise<unknown> {
  return Promise.all(
    Array.from({ length: RUNS }, (_, place) => runToEnd(storage, graph, { runId: `run${place}` })),
  );
}

/** Stores 200 runs, then runs them all at once. */
async function manyRuns(
  parent: string,
  graph: BenchGraph,
  open: (directory: string) => LocalRunStorage,
): Promise<TimedRun> {
  const directory = newDirectory(parent);
  const storage = open(directory);
  await Promise.all(
    Array.from({ length: RUNS }, (_, place) => store(storage, graph, `run${place}`)),
  );
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const run = await timed(
    () => runAll(storage, graph),
    () => storage.counters,
  );
  delay.disable();
  const walMb = fileBytes(directory).wal / 1024 / 1024;
  await storage.close();
  const loopDelayP99Ms = delay.percentile(99) / 1e6;
  return { ...run, more: { walMb, loopDelayP99Ms, loopDelayMaxMs: delay.max / 1e6 } };
}

function openOnSlowDisk(directory: string): LocalRunStorage {
  return createSqliteRunStorage(
    { directory, namespace: NAMESPACE, policy },
    { fileSync: slowFileSync },
  );
}

/** 200 runs of 50 steps, once. */
export function runMany(directory: string): Promise<unknown> {
  return manyRuns(directory, chain(LENGTH), openLocal);
}

/** 200 runs of 50 steps on a slow disk, once. */
export function runManyOnSlowDisk(directory: string): Promise<unknown> {
  return manyRuns(directory, chain(LENGTH), openOnSlowDisk);
}

/** 200 runs of 50 steps on this machine's disk. */
export async function measureManyRuns(directory: string): Promise<Measurement> {
  const graph = chain(LENGTH);
  const run = () => manyRuns(directory, graph, openLocal);
  await run();
  return alternate({ directory, steps: STEPS, repeats: 7, run });
}

/** The same on a disk that takes 5 ms to sync. */
export async function measureManyRunsOnSlowDisk(directory: string): Promise<Measurement> {
  const graph = chain(LENGTH);
  await manyRuns(directory, graph, openLocal);
  const run = () => manyRuns(directory, graph, openOnSlowDisk);
  const { ofRaw: _ofRaw, ...figures } = await alternate({
    directory,
    steps: STEPS,
    repeats: 3,
    run,
  });
  return figures;
}
