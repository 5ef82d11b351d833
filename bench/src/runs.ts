/** Storing, running and measuring runs of the bench's graphs. */
import { mkdirSync, mkdtempSync, statSync } from 'node:fs';
import { join } from 'node:path';
import {
  createGraphExecutor,
  defaultStoragePolicy,
  persistRunDefinition,
  type RunStorage,
  type RunStoragePolicy,
} from 'holdfast';
import { createLocalRunStorage, type LocalRunStorage } from 'holdfast/storage/local';
import type { BenchGraph } from './graphs.ts';

export const NAMESPACE = 'bench';
export const STORE_FILE = 'holdfast.db';

/** The default policy, but that the definition of a graph of 10,000 nodes has room. */
export const policy: RunStoragePolicy = {
  ...defaultStoragePolicy,
  maxArtifactBytes: 64 * 1024 * 1024,
  maxTotalArtifactBytesPerRun: 256 * 1024 * 1024,
};

/** A new empty directory below `parent`. */
export function newDirectory(parent: string): string {
  mkdirSync(parent, { recursive: true });
  return mkdtempSync(join(parent, 'store-'));
}

export function openLocal(directory: string): LocalRunStorage {
  return createLocalRunStorage({ directory, namespace: NAMESPACE, policy });
}

/** Stores a run, so that only its steps are left to do. All runs of a graph have one plan. */
export async function store(
  storage: RunStorage,
  { graph, plan }: BenchGraph,
  runId: string,
): Promise<void> {
  await persistRunDefinition(storage, {
    runId,
    graphDefinition: graph.definition,
    resolvedPlan: plan,
    resolvedInputs: null,
  });
}

/** Runs a stored run to its end. Throws when it does not complete. */
export async function runToEnd(
  storage: RunStorage,
  { graph, nodes, engines = [] }: BenchGraph,
  options: {
    readonly runId: string;
    readonly onStep?: () => void;
    readonly maxConcurrentAttempts?: number;
  },
): Promise<void> {
  const { runId, onStep = () => {}, maxConcurrentAttempts } = options;
  const executor = await createGraphExecutor({
    runId,
    graph,
    storage,
    nodes: nodes(onStep),
    engines,
    maxConcurrentAttempts,
  });
  const result = await executor.run();
  if (result.kind !== 'complete') throw new Error(`run ${runId} ended with ${result.kind}`);
}

/** The bytes of the database file and of its write-ahead log. */
export function fileBytes(directory: string): { readonly database: number; readonly wal: number } {
  const database = join(directory, STORE_FILE);
  return { database: sizeOf(database), wal: sizeOf(`${database}-wal`) };
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
