/** W7–W10: engine-backed nodes, artifacts, a cancel far down, many nodes under one signal. */
import { getEventListeners } from 'node:events';
import {
  compileGraph,
  createGraphExecutor,
  dagGraphType,
  dataNode,
  type ExecutionTarget,
  engineNode,
  type GraphExecutor,
  graphNode,
  localPlan,
  MockEngine,
  type NodeBinding,
} from 'holdfast';
import { createLocalRunStorage } from 'holdfast/storage/local';
import { createMemoryRunStorage } from 'holdfast/storage/memory';
import { durableRun } from './durable-run.ts';
import { type BenchGraph, chain, fanOut } from './graphs.ts';
import { heapMb } from './memory.ts';
import { median } from './numbers.ts';
import { fileBytes, NAMESPACE, newDirectory, policy, runToEnd, store } from './runs.ts';
import { alternate } from './timing.ts';
import type { Measurement } from './workload.ts';

const CALLS = 1_000;
const ARTIFACTS = 1_000;
const ARTIFACT_BYTES = 100_000;
const WIDTH = 10_000;
const DEPTH = 4;
const RUN_ID = 'run';

const target: ExecutionTarget = {
  adapter: 'mock',
  provider: 'bench',
  modelFamily: 'mock',
  model: 'quick',
  tools: [],
};

/** The chain of W2, each node backed by one engine that answers at once. */
function engineChain(length: number): BenchGraph {
  const plain = chain(length);
  const lane = { id: 'lane', requested: target, knownSubstitutions: [] };
  const { value } = plain.graph.definition;
  const nodes = value.nodes.map((node) => ({
    ...node,
    data: { kind: 'required' as const, key: null, lane },
  }));
  const graph = compileGraph(dagGraphType, { ...value, nodes } as never);
  return {
    graph,
    plan: localPlan(graph),
    engines: [{ target, engine: MockEngine.forTarget(target, () => 'x'.repeat(80)) }],
    nodes: (onStep) => {
      const prompt = () => {
        onStep();
        return 'Answer.';
      };
      const node = engineNode({ prompt });
      return Object.fromEntries(nodes.map(({ id }) => [id, node]));
    },
  };
}

/** 1,000 engine calls, one after the other, on SQLite. */
export async function measureEngineChain(directory: string): Promise<Measurement> {
  const graph = engineChain(CALLS);
  const run = () => durableRun({ directory, graph, steps: CALLS });
  for (let count = 0; count < 3; count += 1) await run();
  const measured = await alternate({ directory, steps: CALLS, repeats: 7, run });
  const commitsBeyondCalls = Math.round((measured.commitsPerStep ?? 0) * CALLS) - CALLS;
  return { ...measured, more: { ...measured.more, commitsBeyondCalls } };
}

export function runEngineChain(directory: string): Promise<unknown> {
  return durableRun({ directory, graph: engineChain(CALLS), steps: CALLS });
}

/** The chain of W2, each result 100 kB, stored once as an artifact of the run. */
function artifactChain(): BenchGraph {
  const plain = chain(ARTIFACTS);
  return {
    ...plain,
    nodes: (onStep) => {
      let step = 0;
      const large = dataNode(
        () => {
          onStep();
          step += 1;
          return { step, text: `${step} `.padEnd(ARTIFACT_BYTES, 'x') };
        },
        { largeResult: 'artifact' },
      );
      const names = plain.graph.definition.value.nodes.map(({ id }) => id);
      return Object.fromEntries(names.map((name) => [name, large]));
    },
  };
}

/** Events that hold no result of 100 kB. */
const smallEvents = { ...policy, maxEventPayloadBytes: 64_000, maxAppendBatchBytes: 256_000 };

/** Runs it in a store of its own; gives its time and the bytes of its file. */
async function artifactRun(parent: string) {
  const directory = newDirectory(parent);
  const storage = createLocalRunStorage({ directory, namespace: NAMESPACE, policy: smallEvents });
  const graph = artifactChain();
  await store(storage, graph, RUN_ID);
  const begun = performance.now();
  await runToEnd(storage, graph, { runId: RUN_ID });
  const ms = performance.now() - begun;
  const walMb = fileBytes(directory).wal / 1024 / 1024;
  await storage.close();
  return { ms, walMb, bytes: fileBytes(directory).database };
}

/** A run with 1,000 artifacts of 100 kB. */
export async function measureArtifacts(directory: string): Promise<Measurement> {
  const runs = [];
  for (let count = 0; count < 3; count += 1) runs.push(await artifactRun(directory));
  const bytes = median(runs.map((run) => run.bytes));
  return {
    steps: ARTIFACTS,
    stepsPerSecond: (ARTIFACTS / median(runs.map(({ ms }) => ms))) * 1_000,
    bytesPerStep: bytes / ARTIFACTS,
    more: {
      overContent: bytes / (ARTIFACTS * ARTIFACT_BYTES),
      logMb: median(runs.map(({ walMb }) => walMb)),
    },
  };
}

export const runArtifacts: (directory: string) => Promise<unknown> = artifactRun;

const single = chain(1);

function nested(depth: number, leaf: NodeBinding): NodeBinding {
  if (depth === 0) return leaf;
  return graphNode({ graph: single.graph, nodes: { n0: nested(depth - 1, leaf) } });
}

/** From the call of `cancel` to the signal of a node four runs down. */
async function cancelOnce(): Promise<number> {
  const storage = createMemoryRunStorage({ namespace: NAMESPACE, policy });
  await store(storage, single, RUN_ID);
  let executor: GraphExecutor | null = null;
  let begun = Number.NaN;
  let told = Number.NaN;
  const leaf = dataNode((_input, { signal }) => {
    begun = performance.now();
    void executor?.cancel({ by: 'bench', reason: 'measured' });
    return new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => {
        told = performance.now();
        reject(signal.reason);
      });
    });
  });
  const nodes = { n0: nested(DEPTH, leaf) };
  executor = await createGraphExecutor({ runId: RUN_ID, graph: single.graph, storage, nodes });
  await executor.run();
  return told - begun;
}

/** A cancel that reaches a node at depth 4. */
export async function measureCancel(): Promise<Measurement> {
  const times: number[] = [];
  for (let count = 0; count < 21; count += 1) times.push(await cancelOnce());
  const worstMs = Math.max(...times);
  return { steps: DEPTH, more: { cancelMs: median(times), worstMs } };
}

export const runCancel: () => Promise<unknown> = cancelOnce;

/** 10,000 nodes beside one another under one signal. */
export async function measureSignal(): Promise<Measurement> {
  const graph = fanOut(WIDTH);
  const halt = new AbortController();
  await runUnder(graph, halt.signal);
  const before = await settledHeapMb();
  await runUnder(graph, halt.signal);
  const grownMb = (await settledHeapMb()) - before;
  const listeners = getEventListeners(halt.signal, 'abort').length;
  return { steps: WIDTH, more: { listeners, grownMb } };
}

/** What a run leaves to the next turn of the event loop is no leak. */
async function settledHeapMb(): Promise<number> {
  heapMb();
  await new Promise((resolve) => setImmediate(resolve));
  return heapMb();
}

async function runUnder(graph: BenchGraph, signal: AbortSignal): Promise<void> {
  const storage = createMemoryRunStorage({ namespace: NAMESPACE, policy });
  await store(storage, graph, RUN_ID);
  const listening = (onStep: () => void) => {
    const nodes = graph.nodes(onStep);
    return Object.fromEntries(
      Object.keys(nodes).map((name) => [
        name,
        dataNode((_input, context) => {
          context.signal.addEventListener('abort', onStep);
          return name;
        }),
      ]),
    );
  };
  const options = { runId: RUN_ID, graph: graph.graph, storage, nodes: listening(() => {}) };
  const executor = await createGraphExecutor({ ...options, maxConcurrentAttempts: WIDTH });
  await executor.run(signal);
}

export function runSignal(): Promise<unknown> {
  return runUnder(fanOut(WIDTH), new AbortController().signal);
}
