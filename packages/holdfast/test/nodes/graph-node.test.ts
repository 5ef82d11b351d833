/** What a node that is a run of its own may be given and gives. */
import { dataNode, type GraphNodeOptions, graphNode, startRun } from 'holdfast';
import { createMemoryRunStorage } from 'holdfast/storage/memory';
import { describe, expect, test } from 'vitest';
import { dagOf, RUN, worldOf } from '../executor/world.ts';

const child = dagOf(['inner']);

/** One node whose attempt is a run of `inner`; how it failed, if it did. */
async function parent(options: Partial<GraphNodeOptions>, output: unknown = 1) {
  const nodes = { inner: dataNode(() => output) };
  const world = await worldOf({ a: graphNode({ graph: child, nodes, ...options }) });
  const result = await (await world.open()).run();
  const settled = (await world.events()).filter(({ type }) =>
    /node-(completed|failed)$/.test(type),
  );
  return { result, payload: settled[0]?.payload };
}

describe('a graph as a node', () => {
  test('an output over the event limit is refused, or kept as an artifact', async () => {
    const large = { result: () => 'x'.repeat(300_000) };
    const refused = await parent(large);
    expect(refused.payload).toMatchObject({ code: 'RESULT_TOO_LARGE' });
    const kept = await parent({ ...large, largeResult: 'artifact' });
    expect(kept.result).toMatchObject({ kind: 'complete' });
    expect(kept.payload).toMatchObject({ result: { artifact: { byteLength: 300_002 } } });
  });

  test('no other word says what becomes of it', () => {
    const wrong = { graph: child, nodes: { inner: dataNode(() => 1) }, largeResult: 'keep' };
    expect(() => graphNode(wrong as never)).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTION' }),
    );
  });

  test('an input function that gives nothing is named', async () => {
    const { payload } = await parent({ input: () => undefined as never });
    expect(payload).toMatchObject({
      code: 'INVALID_OPTION',
      message: expect.stringContaining('what graphNode.input returns must be JSON'),
    });
  });
});

test('a run that exists already is said to exist', async () => {
  const storage = createMemoryRunStorage({ namespace: 'test' });
  const start = () => startRun(storage, { runId: RUN, graph: child, input: null });
  await start();
  await expect(start()).rejects.toMatchObject({
    code: 'SEQUENCE_CONFLICT',
    message: expect.stringMatching(/^Run r1 exists already\. Go on with it .* another id\.$/),
    details: { runId: RUN },
  });
});
