/** The workloads of the bench as the gates count them: commits, syncs and bytes, never times. */
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  compileGraph,
  createGraphExecutor,
  type DagDefinition,
  dagGraphType,
  dataNode,
  defaultStoragePolicy,
  type ExecutionLaneDescription,
  type ExecutionTarget,
  engineNode,
  type FlowFile,
  flowDefinition,
  flowGraphType,
  flowNodes,
  type GraphEngineBinding,
  type JsonValue,
  MockEngine,
  type NodeBinding,
  type NodeBindings,
  type RunStorage,
  type RunStoragePolicy,
  startRun,
} from 'holdfast';
import { createLocalRunStorage, type LocalRunStorage } from 'holdfast/storage/local';

type CompiledGraph = Parameters<typeof startRun>[1]['graph'];

export interface Program {
  readonly graph: CompiledGraph;
  readonly nodes: NodeBindings;
  readonly engines?: readonly GraphEngineBinding[];
}

/** The default policy, but that the definition of a graph of 10,000 nodes has room. */
export const policy = {
  ...defaultStoragePolicy,
  maxArtifactBytes: 64 * 1024 * 1024,
  maxTotalArtifactBytesPerRun: 256 * 1024 * 1024,
};

/** About a hundred bytes, as the text of JSON. */
const result = (): JsonValue => ({ value: 'x'.repeat(88) });

function dag(
  names: readonly string[],
  pairs: readonly (readonly [string, string])[],
  { node = dataNode(result), lane }: { node?: NodeBinding; lane?: ExecutionLaneDescription } = {},
): Program {
  const onLane = lane === undefined ? {} : { lane };
  const definition: DagDefinition = {
    id: 'gate',
    definitionVersion: 1,
    data: {
      globalConcurrency: 2_000,
      keyedConcurrency: {},
      stopOnError: true,
      retryCapPerNode: 0,
    },
    nodes: names.map((id) => ({ id, data: { kind: 'required', key: null, ...onLane } })),
    edges: pairs.map(([source, target], place) => ({ id: `e${place}`, source, target, data: {} })),
  };
  return {
    graph: compileGraph(dagGraphType, definition),
    nodes: Object.fromEntries(names.map((name) => [name, node])),
  };
}

/** `length` nodes, one after the other. */
export function chain(length: number): Program {
  return chainOf(length, {});
}

function chainOf(length: number, kind: Parameters<typeof dag>[2]): Program {
  const names = Array.from({ length }, (_, place) => `n${place}`);
  return dag(
    names,
    names.slice(1).map((name, place) => [names[place] ?? '', name]),
    kind,
  );
}

const target: ExecutionTarget = {
  adapter: 'mock',
  provider: 'gate',
  modelFamily: 'mock',
  model: 'quick',
  tools: [],
};

/** `length` calls of one engine, one after the other. */
export function engineChain(length: number): Program {
  const lane = { id: 'lane', requested: target, knownSubstitutions: [] };
  const node = engineNode({ prompt: () => 'Answer.' });
  const engine = MockEngine.forTarget(target, () => 'x'.repeat(80));
  return { ...chainOf(length, { node, lane }), engines: [{ target, engine }] };
}

/** `length` nodes whose results, of `bytes` each and no two alike, become artifacts. */
export function artifactChain(length: number, bytes: number): Program {
  const large = ({ position }: { readonly position: string }) => position.padEnd(bytes, '.');
  const node = dataNode((_input, context) => large(context), { largeResult: 'artifact' });
  return chainOf(length, { node });
}

/** One node, `width` beside one another, one that joins them. */
export function fanOut(width: number, node: NodeBinding = dataNode(result)): Program {
  const branches = Array.from({ length: width }, (_, place) => `b${place}`);
  const pairs = branches.flatMap((name) => [['first', name] as const, [name, 'last'] as const]);
  return dag(['first', ...branches, 'last'], pairs, { node });
}

/** A loop around one task. */
export function loop(iterations: number): Program {
  const flow: FlowFile = {
    id: 'gate',
    nodes: [
      { id: 'start', type: 'trigger', config: {} },
      { id: 'loop', type: 'control.loop', config: { maxIterations: iterations } },
      { id: 'body', type: 'task', config: { function: 'body' } },
    ],
    edges: [
      { id: 'e0', source: 'start', target: 'loop' },
      { id: 'e1', source: 'loop', target: 'body', sourceHandle: 'body' },
      { id: 'e2', source: 'body', target: 'loop', targetHandle: 'next' },
    ],
  };
  return {
    graph: compileGraph(flowGraphType, flowDefinition(flow)),
    nodes: flowNodes(flow, { body: result }),
  };
}

/** Stores and runs runs of `program`, all at once; a graph that does not complete throws. */
export async function runAll(
  storage: RunStorage,
  program: Program,
  runIds: readonly string[],
): Promise<void> {
  await Promise.all(
    runIds.map(async (runId) => {
      const executor = await createGraphExecutor({
        runId,
        storage,
        maxConcurrentAttempts: 1_000,
        ...program,
      });
      const { kind } = await executor.run();
      if (kind !== 'complete') throw new Error(`run ${runId} ended with ${kind}`);
    }),
  );
}

export async function storeAll(
  storage: RunStorage,
  { graph }: Program,
  runIds: readonly string[],
): Promise<void> {
  await Promise.all(runIds.map((runId) => startRun(storage, { runId, graph, input: null })));
}

/** What the runs of a program cost a store that they had to themselves, their storing left out. */
export interface Cost {
  readonly commits: number;
  readonly syncs: number;
  /** The write-ahead log just before the store was closed. */
  readonly walBytes: number;
  /** What the file has grown by, from checkpoint to checkpoint. */
  readonly fileBytes: number;
}

/** Runs `program` once for each id in a store of its own and counts. */
export async function costOf(
  program: Program,
  runIds: readonly string[],
  limits: Partial<RunStoragePolicy> = {},
): Promise<Cost> {
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-gates-'));
  const sizeOf = (name: string): number =>
    statSync(join(directory, name), { throwIfNoEntry: false })?.size ?? 0;
  const open = (): LocalRunStorage =>
    createLocalRunStorage({ directory, namespace: 'gates', policy: { ...policy, ...limits } });
  try {
    const first = open();
    await storeAll(first, program, runIds);
    await first.close();
    const fileBefore = sizeOf('holdfast.db');
    const storage = open();
    await storage.eventStore.sync();
    const before = storage.counters;
    await runAll(storage, program, runIds);
    const after = storage.counters;
    const walBytes = sizeOf('holdfast.db-wal');
    await storage.close();
    return {
      commits: after.commits - before.commits,
      syncs: after.syncs - before.syncs,
      walBytes,
      fileBytes: sizeOf('holdfast.db') - fileBefore,
    };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
