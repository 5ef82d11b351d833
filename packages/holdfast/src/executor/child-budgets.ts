/**
 * What runs have used of the token budgets that their bindings hold, for a process that did not see
 * it: child runs, and runs that have ended. It is read from their records; that needs no code of
 * theirs.
 */
import type { ChildGraph, NodeBinding, NodeBindings } from '../attempt/binding.ts';
import { ChildBook } from '../run/child-book.ts';
import { EngineUsage } from '../run/engine-usage.ts';
import { typedEvent } from '../run/run-fold.ts';
import type { RunStorage } from '../store/storage.ts';
import { successorRunId } from './run-names.ts';

/** Names the use of a node in token budgets: the same in every process. */
export function budgetKey(namespace: string, runId: string, nodeId: string): string {
  return JSON.stringify([namespace, runId, nodeId]);
}

/** Tells budgets what a child run, its successors and their children have used of them. */
export async function restoreChildBudgets(
  storage: RunStorage,
  first: string,
  { nodes }: ChildGraph,
): Promise<void> {
  if (!holdBudget(Object.values(nodes))) return;
  let runId = first;
  while ((await storage.runIndex.get(runId)) !== null) {
    await restoreRunBudgets(storage, runId, nodes);
    runId = successorRunId(runId);
  }
}

/** Whether anything of these nodes, or within their graphs, counts for a budget. */
export function holdBudget(nodes: readonly NodeBinding[]): boolean {
  return nodes.some(
    ({ engine, childGraph }) =>
      (engine?.tokenBudget ?? null) !== null ||
      (childGraph !== null && holdBudget(Object.values(childGraph.nodes))),
  );
}

/** Tells budgets what the record of a run, and of its children, holds for them. */
export async function restoreRunBudgets(
  storage: RunStorage,
  runId: string,
  nodes: NodeBindings,
): Promise<void> {
  const { namespace } = storage.record;
  const { usage, children } = await readRecord(storage, runId);
  for (const [nodeId, { engine }] of Object.entries(nodes)) {
    engine?.tokenBudget?.restore(budgetKey(namespace, runId, nodeId), usage.of(nodeId));
  }
  for (const [childId, nodeId] of children.all()) {
    const childGraph = nodes[nodeId]?.childGraph ?? null;
    if (childGraph !== null) await restoreChildBudgets(storage, childId, childGraph);
  }
}

async function readRecord(storage: RunStorage, runId: string) {
  const usage = new EngineUsage();
  const children = new ChildBook();
  const stream = { namespace: storage.record.namespace, streamId: runId };
  for await (const envelope of storage.eventStore.read(stream)) {
    const { type, payload } = typedEvent(envelope);
    if (type === 'graph:engine-attempt-recorded') usage.add(payload.nodeId, payload.usage);
    if (type === 'graph:node-attempt-started' && payload.childRunId !== undefined) {
      children.add(payload.childRunId, payload.identity.nodeId);
    }
  }
  return { usage, children };
}
