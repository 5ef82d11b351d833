/** W1, W2, W3 and W4b: chains and a fan-out. */
import { createMemoryRunStorage } from 'holdfast/storage/memory';
import { durableRun } from './durable-run.ts';
import { type BenchGraph, chain, fanOut } from './graphs.ts';
import { median } from './numbers.ts';
import { NAMESPACE, policy, runToEnd, store } from './runs.ts';
import { StepClock } from './step-clock.ts';
import { alternate, type TimedRun, timed } from './timing.ts';
import type { Measurement } from './workload.ts';

const CHAIN = 1_000;
const SHORT_CHAIN = 50;
const WIDTH = 1_000;

async function memoryRun(graph: BenchGraph): Promise<TimedRun> {
  const storage = createMemoryRunStorage({ namespace: NAMESPACE, policy });
  await store(storage, graph, 'run');
  const clock = new StepClock();
  const onStep = () => clock.tick();
  const run = await timed(() => runToEnd(storage, graph, { runId: 'run', onStep }));
  return { ...run, stepMs: clock.stepMs() };
}

/** One chain of 1,000 nodes in memory. */
export function runMemoryChain(): Promise<unknown> {
  return memoryRun(chain(CHAIN));
}

/** One chain of 1,000 nodes on SQLite. */
export function runDurableChain(directory: string): Promise<unknown> {
  return durableRun({ directory, graph: chain(CHAIN), steps: CHAIN });
}

/** One fan-out on SQLite. */
export function runFanOut(directory: string): Promise<unknown> {
  const steps = WIDTH + 2;
  return durableRun({ directory, graph: fanOut(WIDTH), steps, maxConcurrentAttempts: WIDTH });
}

/** A chain of 1,000 nodes in memory. */
export async function measureMemoryChain(directory: string): Promise<Measurement> {
  const graph = chain(CHAIN);
  for (let count = 0; count < 10; count += 1) await memoryRun(graph);
  const measured = await alternate({
    directory,
    steps: CHAIN,
    repeats: 15,
    run: () => memoryRun(graph),
  });
  const { commitsPerStep: _commits, fsyncsPerStep: _fsyncs, ...figures } = measured;
  return figures;
}

/** A chain of 1,000 nodes on SQLite. */
export async function measureDurableChain(directory: string): Promise<Measurement> {
  const graph = chain(CHAIN);
  const run = () => durableRun({ directory, graph, steps: CHAIN });
  for (let count = 0; count < 4; count += 1) await run();
  const measured = withBytes(await alternate({ directory, steps: CHAIN, repeats: 9, run }));
  // The decision that starts the first node is an append of its own.
  const commitsBeyondSteps = Math.round((measured.commitsPerStep ?? 0) * CHAIN) - CHAIN;
  return { ...measured, more: { ...measured.more, commitsBeyondSteps } };
}

/** One node, 1,000 beside one another, one that joins them; each branch recorded by itself. */
export async function measureFanOut(directory: string): Promise<Measurement> {
  const graph = fanOut(WIDTH);
  const steps = WIDTH + 2;
  const run = () => durableRun({ directory, graph, steps, maxConcurrentAttempts: WIDTH });
  for (let count = 0; count < 6; count += 1) await run();
  const measured = withBytes(await alternate({ directory, steps, repeats: 11, run }));
  const { p50Ms: _p50, p99Ms: _p99, ...figures } = measured;
  const commits = Math.round((measured.commitsPerStep ?? 0) * steps);
  return { ...figures, more: { ...figures.more, commits } };
}

/** What a step of a long chain costs beside a step of a short one, in memory. */
export async function measureChainLengths(): Promise<Measurement> {
  const long = chain(CHAIN);
  const short = chain(SHORT_CHAIN);
  const shortRuns = CHAIN / SHORT_CHAIN;
  for (let count = 0; count < 10; count += 1) await memoryRun(long);
  const ratios: number[] = [];
  const perStep: number[] = [];
  for (let count = 0; count < 15; count += 1) {
    let shortMs = 0;
    for (let run = 0; run < shortRuns; run += 1) shortMs += (await memoryRun(short)).cpuMs;
    const { cpuMs } = await memoryRun(long);
    perStep.push(cpuMs);
    ratios.push(cpuMs / shortMs);
  }
  return {
    steps: CHAIN,
    cpuMicrosecondsPerStep: (median(perStep) * 1_000) / CHAIN,
    more: { longOverShort: median(ratios) },
  };
}

function withBytes(measured: Measurement): Measurement {
  const { bytesPerStep = Number.NaN, ...more } = measured.more ?? {};
  return { ...measured, bytesPerStep, more };
}
