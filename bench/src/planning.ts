/** The planner: whole random flows, compiled and planned to their ends. */
import { measurePlanner } from './planner.ts';
import type { Measurement } from './workload.ts';

const SMALL = 10_000;
const LARGE = 100_000;

/** The flow of 10,000 nodes, once. */
export async function planOnce(): Promise<unknown> {
  return measurePlanner(SMALL, { rounds: 1 });
}

/** A flow of 10,000 nodes and one of 100,000. */
export async function measurePlanning(): Promise<Measurement> {
  const small = measurePlanner(SMALL);
  const large = measurePlanner(LARGE, { rounds: 3 });
  return {
    steps: small.completions,
    stepsPerSecond: (small.completions / small.totalMs) * 1_000,
    more: {
      smallMs: small.totalMs,
      smallColdMs: small.coldMs,
      largeMs: large.totalMs,
      largeOverSmall: large.totalMs / small.totalMs,
      largeHeapMb: large.heapBytes / 1024 / 1024,
    },
  };
}
