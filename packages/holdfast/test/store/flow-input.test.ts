/** The input of a flow is the result of its trigger: what that cannot be is refused at the door. */
import {
  compileGraph,
  createGraphExecutor,
  dagGraphType,
  dataNode,
  defaultStoragePolicy,
  defineFlow,
  flowDefinition,
  flowGraphType,
  flowNodes,
  loadRunDefinition,
  localPlan,
  maxFlowInputBytes,
  persistRunDefinition,
  runFlow,
  startRun,
  task,
} from 'holdfast';
import { createMemoryRunStorage } from 'holdfast/storage/memory';
import { describe, expect, it } from 'vitest';

const defined = defineFlow({ id: 'take', nodes: { take: task(() => 'taken') } });
const graph = compileGraph(flowGraphType, flowDefinition(defined.flow));
const trigger = defined.flow.nodes.find(({ type }) => type === 'trigger')?.id ?? '';
const limit = maxFlowInputBytes(defaultStoragePolicy, trigger);

/** A text of so many bytes as JSON, most of them in characters of two. */
function textOf(bytes: number): string {
  const even = 'ü'.repeat(Math.floor((bytes - 2) / 2));
  return bytes % 2 === 0 ? even : `${even}x`;
}

describe('an input of a flow', () => {
  it('of the largest size runs', async () => {
    const storage = createMemoryRunStorage({ namespace: 'tests' });
    await startRun(storage, { runId: 'run-1', graph, input: textOf(limit) });
    const nodes = flowNodes(defined.flow, defined.functions);
    const executor = await createGraphExecutor({ runId: 'run-1', graph, storage, nodes });
    expect(await executor.run()).toMatchObject({ kind: 'complete' });
  });

  it.each<[string, (input: string) => Promise<unknown>]>([
    ['startRun', (input) => start(input)],
    ['persistRunDefinition', (input) => persist(input)],
    ['runFlow', (input) => runFlow(defined, input, { storage })],
  ])('of one byte more is refused by %s, and nothing is stored', async (_, store) => {
    const refused = store(textOf(limit + 1));
    await expect(refused).rejects.toMatchObject({
      code: 'STORAGE_LIMIT_EXCEEDED',
      details: { size: limit + 1, limit },
    });
    await expect(refused).rejects.toThrow(/take is \d+ bytes .* over the \d+ .* a file/);
    expect((await storage.runIndex.list()).runs).toEqual([]);
  });

  const storage = createMemoryRunStorage({ namespace: 'tests' });
  const start = (input: string) => startRun(storage, { runId: 'run-1', graph, input });
  const persist = (resolvedInputs: string) =>
    persistRunDefinition(storage, {
      runId: 'run-1',
      graphDefinition: graph.definition,
      resolvedPlan: localPlan(graph),
      resolvedInputs,
    });
});

it('an input of another graph type may have the size of an artifact', async () => {
  const definition = {
    id: 'one',
    definitionVersion: 1,
    data: { globalConcurrency: 1, keyedConcurrency: {}, stopOnError: true, retryCapPerNode: 0 },
    nodes: [{ id: 'one', data: { kind: 'required' as const, key: null } }],
    edges: [],
  };
  const dag = compileGraph(dagGraphType, definition);
  const storage = createMemoryRunStorage({ namespace: 'tests' });
  const input = textOf(defaultStoragePolicy.maxArtifactBytes);
  await startRun(storage, { runId: 'run-1', graph: dag, input });
  expect((await loadRunDefinition(storage, 'run-1')).resolvedInputs).toBe(input);
  const nodes = { one: dataNode(() => 1) };
  const executor = await createGraphExecutor({ runId: 'run-1', graph: dag, storage, nodes });
  expect((await executor.run()).kind).toBe('complete');
});
