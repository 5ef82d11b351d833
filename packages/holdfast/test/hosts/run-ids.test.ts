/** Which run ids a caller may give. */
import { localPlan, persistRunDefinition, startRun } from 'holdfast';
import { createMemoryRunStorage } from 'holdfast/storage/memory';
import { expect, test } from 'vitest';
import { dagOf } from '../executor/world.ts';

test.each(['x.c2', 'x.c10', 'x.0123456789abcdef', 'x.0123456789abcdef.c2'])(
  'the id %s is kept for a child run or a successor',
  async (runId) => {
    const storage = createMemoryRunStorage({ namespace: 'test' });
    const graph = dagOf(['a']);
    const started = startRun(storage, { runId, graph, input: null });
    await expect(started).rejects.toMatchObject({ code: 'INVALID_ID' });
    await expect(started).rejects.toThrow('kept for child runs and successors');
    const persisted = persistRunDefinition(storage, {
      runId,
      graphDefinition: graph.definition,
      resolvedPlan: localPlan(graph),
      resolvedInputs: null,
    });
    await expect(persisted).rejects.toMatchObject({ code: 'INVALID_ID' });
    expect(await storage.runIndex.list()).toEqual({ runs: [] });
  },
);

test.each(['x.c', 'x.c2a', 'x.0123456789abcde', 'x-c2', 'x.c2.y', 'c2'])(
  'the id %s is a run id like any other',
  async (runId) => {
    const storage = createMemoryRunStorage({ namespace: 'test' });
    await startRun(storage, { runId, graph: dagOf(['a']), input: null });
    expect((await storage.runIndex.get(runId))?.runId).toBe(runId);
  },
);
