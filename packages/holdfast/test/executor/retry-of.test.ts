/** What `retryOf` may name: it gives an attempt the idempotency key and the steps of another. */
import { dataNode, type EventEnvelope, type GraphExecutor, type NodeContext } from 'holdfast';
import { createMemoryRunStorage } from 'holdfast/storage/memory';
import { describe, expect, test } from 'vitest';
import { eventsOf } from '../support/stored-events.ts';
import { type Said, scriptedGraph, scriptedRun } from './scripted-graph.ts';

const memory = () => createMemoryRunStorage({ namespace: 'test' });

/** A run of nodes whose attempts at these positions fail. */
async function scripted(said: readonly Said[], failing: readonly string[]) {
  const storage = memory();
  const ran: string[] = [];
  const node = dataNode((_input, { position }: NodeContext) => {
    ran.push(position);
    if (failing.includes(position)) throw new Error('It failed.');
    return position;
  });
  const open = await scriptedRun(storage, { nodes: { a: node, b: node }, said });
  return { open, ran, events: () => eventsOf(storage, 'r1') };
}

const run = async (open: () => Promise<GraphExecutor>) => (await open()).run();

const FALSE_RETRIES: readonly (readonly [string, readonly Said[], readonly string[], string])[] = [
  ['one that completed', [{ nodeId: 'a' }, { nodeId: 'a', retryOf: '1' }], [], 'has failed'],
  [
    'one of another node',
    [{ nodeId: 'a' }, { nodeId: 'b', retryOf: '1' }],
    ['1'],
    'is an occurrence of a, not of b',
  ],
  ['one that never was', [{ nodeId: 'a', retryOf: '7' }], [], 'never dispatched'],
  ['itself', [{ nodeId: 'a', retryOf: '1' }], [], 'never dispatched'],
  [
    'one that is a retry',
    [{ nodeId: 'a' }, { nodeId: 'a', retryOf: '1' }, { nodeId: 'a', retryOf: '2' }],
    ['1', '2'],
    'not the first position',
  ],
  [
    'one that a retry has completed',
    [{ nodeId: 'a' }, { nodeId: 'a', retryOf: '1' }, { nodeId: 'a', retryOf: '1' }],
    ['1'],
    'has failed',
  ],
];

describe('a dispatch that retries', () => {
  test('each attempt of an occurrence names its first position', async () => {
    const again: Said = { nodeId: 'a', retryOf: '1' };
    const { open, ran } = await scripted([{ nodeId: 'a' }, again, again], ['1', '2']);
    expect(await run(open)).toEqual({ kind: 'complete', output: 3 });
    expect(ran).toEqual(['1', '2', '3']);
  });

  test.each(FALSE_RETRIES)('%s is refused by name', async (_what, said, failing, why) => {
    const { open, ran, events } = await scripted(said, failing);
    await expect(run(open)).rejects.toMatchObject({
      code: 'INVALID_GRAPH_COMMAND',
      message: expect.stringContaining(why),
      issues: [{ path: '/0/retryOf' }],
    });
    expect(ran).toHaveLength(said.length - 1);
    const settled = (await events()).filter(({ type }) => /node-(completed|failed)$/.test(type));
    expect(settled).toHaveLength(said.length - 1);
  });

  test('two retries of one occurrence in one decision are one too many', async () => {
    const storage = memory();
    const graph = scriptedGraph(['a'], [{ nodeId: 'a' }], { thenAtOnce: ['1', '1'] });
    const fail = dataNode(() => {
      throw new Error('It failed.');
    });
    const open = await scriptedRun(storage, { nodes: { a: fail }, said: [], graph });
    await expect(run(open)).rejects.toMatchObject({
      code: 'INVALID_GRAPH_COMMAND',
      issues: [{ path: '/1/retryOf', message: 'this decision retries 1 twice' }],
    });
  });

  test('a record of others that retries what did not fail is refused by name', async () => {
    const said: readonly Said[] = [{ nodeId: 'a' }, { nodeId: 'a', retryOf: '1' }];
    const { open, events } = await scripted(said, ['1']);
    await run(open);
    const forged = (await events()).map((event) => completing(event));
    const storage = memory();
    const reopen = await scriptedRun(storage, {
      nodes: { a: dataNode(() => 1), b: dataNode(() => 1) },
      said,
    });
    const own = (await eventsOf(storage, 'r1')).length;
    const stream = { namespace: 'test', streamId: 'r1' };
    const rest = forged.slice(own, -1).map(({ id, type, version, timestamp, payload }) => {
      return { id, type, version, timestamp, payload };
    });
    await storage.eventStore.append(stream, own, rest);
    await expect(run(reopen)).rejects.toMatchObject({
      code: 'INVALID_EVENT',
      message: expect.stringContaining('2 retries 1, which is not the first position'),
    });
  });
});

/** The first attempt's failure as a completion. */
function completing(event: EventEnvelope): EventEnvelope {
  if (event.type !== 'graph:node-failed') return event;
  const { nodeId, position, at } = event.payload as Record<string, string>;
  return {
    ...event,
    type: 'graph:node-completed',
    payload: { nodeId: nodeId ?? '', position: position ?? '', result: 1, at: at ?? '' },
  };
}
