/** W4: a loop of 10,000 iterations. Each iteration is two recorded steps. */
import { createGraphExecutor, type RunStorage } from 'holdfast';
import { createMemoryBacking, createMemoryRunStorage } from 'holdfast/storage/memory';
import { durableRun } from './durable-run.ts';
import { type BenchGraph, loop } from './graphs.ts';
import { heapMb } from './memory.ts';
import { mean, median, percentile } from './numbers.ts';
import { NAMESPACE, policy, store } from './runs.ts';
import { StepClock } from './step-clock.ts';
import { alternate } from './timing.ts';
import type { Measurement } from './workload.ts';

const ITERATIONS = 10_000;
const STEPS_PER_ITERATION = 2;
const STEPS = ITERATIONS * STEPS_PER_ITERATION;
const MEMORY_RUNS = 5;

interface LoopRun {
  readonly ms: number;
  readonly iterationMs: readonly number[];
  /** What the run has left on the heap, its record in the store left out. */
  readonly heapGrowthMb: number;
}

async function memoryLoop(graph: BenchGraph): Promise<LoopRun> {
  const backing = createMemoryBacking();
  const storage: RunStorage = createMemoryRunStorage({ namespace: NAMESPACE, policy, backing });
  await store(storage, graph, 'run');
  const clock = new StepClock();
  const nodes = graph.nodes(() => clock.tick());
  const executor = await createGraphExecutor({ runId: 'run', graph: graph.graph, storage, nodes });
  const before = heapMb();
  const begun = performance.now();
  await executor.run();
  const ms = performance.now() - begun;
  const iterationMs = clock.stepMs();
  clock.clear();
  backing.streams.clear();
  const heapGrowthMb = heapMb() - before;
  // Asked after the measurement, so that the executor and all it keeps are alive during it.
  if (executor.runId !== 'run') throw new Error('another run was measured');
  return { ms, iterationMs, heapGrowthMb };
}

function lastOverSecond({ iterationMs }: LoopRun): number {
  return mean(iterationMs.slice(-1_000)) / mean(iterationMs.slice(1_000, 2_000));
}

/** One loop in memory. */
export function runLoop(): Promise<unknown> {
  return memoryLoop(loop(ITERATIONS));
}

/** One loop on SQLite. */
export function runDurableLoop(directory: string): Promise<unknown> {
  return durableRun({ directory, graph: loop(ITERATIONS), steps: STEPS });
}

/** Whether late iterations cost more than early ones, and what a long run leaves on the heap. */
export async function measureLoop(): Promise<Measurement> {
  const graph = loop(ITERATIONS);
  await memoryLoop(graph);
  const runs: LoopRun[] = [];
  for (let count = 0; count < MEMORY_RUNS; count += 1) runs.push(await memoryLoop(graph));
  const times = runs.flatMap(({ iterationMs }) => iterationMs);
  return {
    steps: STEPS,
    stepsPerSecond: median(runs.map(({ ms }) => (STEPS / ms) * 1_000)),
    p50Ms: median(times),
    p99Ms: percentile(times, 0.99),
    more: {
      lastOverSecondThousand: median(runs.map(lastOverSecond)),
      heapGrowthMb: median(runs.map(({ heapGrowthMb }) => heapGrowthMb)),
    },
  };
}

/** The same loop on SQLite; it has no target of its own. */
export async function measureDurableLoop(directory: string): Promise<Measurement> {
  const graph = loop(ITERATIONS);
  const run = () => durableRun({ directory, graph, steps: STEPS });
  const measured = await alternate({ directory, steps: STEPS, repeats: 2, run });
  const { bytesPerStep = Number.NaN, ...more } = measured.more ?? {};
  return { ...measured, bytesPerStep, more };
}
