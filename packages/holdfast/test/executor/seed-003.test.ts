import { createGraphExecutor, dataNode, startRun } from 'holdfast';
import { createMemoryRunStorage } from 'holdfast/storage/memory';
import { expect, test } from 'vitest';
import { draftReview } from './draft-review.ts';

test('the graph type of seed 003 drafts, reviews, completes, and says so again', async () => {
  const storage = createMemoryRunStorage({ namespace: 'test' });
  const ran: string[] = [];
  const node = (name: string) =>
    dataNode(() => {
      ran.push(name);
      return { name };
    });
  const nodes = { draft: node('draft'), review: node('review') };
  await startRun(storage, { runId: 'r1', graph: draftReview, input: null });
  const executor = await createGraphExecutor({ runId: 'r1', graph: draftReview, storage, nodes });
  expect(await executor.run()).toEqual({ kind: 'complete', output: { approved: true } });
  expect(ran).toEqual(['draft', 'review']);
  const again = await createGraphExecutor({ runId: 'r1', graph: draftReview, storage, nodes });
  expect(await again.run()).toEqual({ kind: 'complete', output: { approved: true } });
  expect(ran).toEqual(['draft', 'review']);
  const types: string[] = [];
  for await (const e of storage.eventStore.read({ namespace: 'test', streamId: 'r1' }))
    types.push(e.type);
  expect(types).toMatchInlineSnapshot(`
    [
      "graph:run-started",
      "graph:node-dispatched",
      "graph:node-attempt-started",
      "graph:node-completed",
      "graph:node-dispatched",
      "graph:node-attempt-started",
      "graph:node-completed",
      "graph:run-finished",
    ]
  `);
});

test('an ended run says so without asking the graph, whose code may have changed', async () => {
  const storage = createMemoryRunStorage({ namespace: 'test' });
  const nodes = { draft: dataNode(() => 1), review: dataNode(() => 2) };
  await startRun(storage, { runId: 'r1', graph: draftReview, input: null });
  await (await createGraphExecutor({ runId: 'r1', graph: draftReview, storage, nodes })).run();
  const broken = () => {
    throw new Error('this graph was asked');
  };
  const graph = { ...draftReview, open: broken, decide: broken, reduce: broken };
  const executor = await createGraphExecutor({ runId: 'r1', graph, storage, nodes });
  expect(await executor.run()).toEqual({ kind: 'complete', output: { approved: true } });
});
