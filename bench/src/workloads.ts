/** Every workload with its targets. */
import {
  measureChainLengths,
  measureDurableChain,
  measureFanOut,
  measureMemoryChain,
  runDurableChain,
  runFanOut,
  runMemoryChain,
} from './chains.ts';
import {
  measureArtifacts,
  measureCancel,
  measureEngineChain,
  measureSignal,
  runArtifacts,
  runCancel,
  runEngineChain,
  runSignal,
} from './engines.ts';
import { measureDurableLoop, measureLoop, runDurableLoop, runLoop } from './loops.ts';
import {
  measureManyRuns,
  measureManyRunsOnSlowDisk,
  runMany,
  runManyOnSlowDisk,
} from './many-runs.ts';
import { measurePlanning, planOnce } from './planning.ts';
import { measureRecovery, runRecovery } from './recovery.ts';
import { atLeast, atMost, exactly, type Workload } from './workload.ts';

const rss = atMost('peakRssMb', 110);
const wal = atMost('walMb', 5);

export const workloads: readonly Workload[] = [
  {
    id: 'W1',
    name: 'chain of 1,000 nodes in memory',
    bounds: [atLeast('ofRaw', 5), rss],
    measure: measureMemoryChain,
    once: runMemoryChain,
  },
  {
    id: 'W2',
    name: 'chain of 1,000 nodes on SQLite',
    bounds: [
      atLeast('ofRaw', 0.75),
      exactly('commitsBeyondSteps', 1),
      atMost('fsyncsPerStep', 1.02),
      atMost('bytesPerStep', 800),
      wal,
      rss,
    ],
    measure: measureDurableChain,
    once: runDurableChain,
  },
  {
    id: 'W3',
    name: 'fan-out 1 → 1,000 → 1 on SQLite',
    bounds: [atLeast('ofRaw', 6), atMost('commits', 6), wal, rss],
    measure: measureFanOut,
    once: runFanOut,
  },
  {
    id: 'W4',
    name: 'loop of 10,000 iterations in memory',
    bounds: [atMost('lastOverSecondThousand', 1.1), atMost('heapGrowthMb', 5)],
    measure: measureLoop,
    once: runLoop,
  },
  {
    id: 'W4-sqlite',
    name: 'loop of 10,000 iterations on SQLite',
    bounds: [wal, rss],
    measure: measureDurableLoop,
    once: runDurableLoop,
  },
  {
    id: 'W4b',
    name: 'step of a chain of 1,000 over one of 50',
    bounds: [atMost('longOverShort', 1.1), rss],
    measure: measureChainLengths,
    once: runMemoryChain,
  },
  {
    id: 'W5',
    name: '200 runs of 50 steps on SQLite',
    bounds: [
      atLeast('ofRaw', 7),
      atMost('fsyncsPerStep', 0.02),
      atMost('loopDelayP99Ms', 8),
      wal,
      rss,
    ],
    measure: measureManyRuns,
    once: runMany,
  },
  {
    id: 'W5-slow',
    name: '200 runs of 50 steps, syncs of 5 ms',
    bounds: [atMost('loopDelayP99Ms', 10), rss],
    measure: measureManyRunsOnSlowDisk,
    once: runManyOnSlowDisk,
  },
  {
    id: 'W6',
    name: 'recovery of 10,000 recorded steps',
    bounds: [atMost('firstStepMs', 12), atMost('replayOverReadAndParse', 2.5), wal, rss],
    measure: measureRecovery,
    once: runRecovery,
  },
  {
    id: 'W7',
    name: '1,000 engine calls, one after the other, on SQLite',
    bounds: [atLeast('ofRaw', 0.4), exactly('commitsBeyondCalls', 1), wal],
    measure: measureEngineChain,
    once: runEngineChain,
  },
  {
    id: 'W8',
    name: 'a run with 1,000 artifacts of 100 kB',
    bounds: [atMost('overContent', 1.1)],
    measure: measureArtifacts,
    once: runArtifacts,
  },
  {
    id: 'W9',
    name: 'a cancel that reaches a node four runs down',
    bounds: [atMost('worstMs', 250)],
    measure: measureCancel,
    once: runCancel,
  },
  {
    id: 'W10',
    name: '10,000 nodes under one signal',
    bounds: [exactly('listeners', 0), atMost('grownMb', 5)],
    measure: measureSignal,
    once: runSignal,
  },
  {
    id: 'planner',
    name: 'whole random flows, compiled and planned',
    bounds: [atMost('smallMs', 40), atMost('largeOverSmall', 15), atMost('largeHeapMb', 50)],
    measure: measurePlanning,
    once: planOnce,
  },
];
