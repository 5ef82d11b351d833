/** What comes from outside is refused to its sender alone; the run and its results go on. */
import { dataNode, defaultStoragePolicy, type JsonValue, waitNode } from 'holdfast';
import { createMemoryRunStorage } from 'holdfast/storage/memory';
import { describe, expect, test } from 'vitest';
import { gate, worldOf } from './world.ts';

const SECRET = 'sk-live-4f9a8b7c6d5e';
const LARGE = 'x'.repeat(300_000);

const storage = () => createMemoryRunStorage({ namespace: 'test', knownSecrets: [SECRET] });

/** A driven run with an open question and a node in flight. */
async function asked() {
  const finish = gate();
  const nodes = {
    ask: waitNode({ kind: 'approval', prompt: 'ok?' }),
    pay: dataNode(() => finish.opened.then(() => 'paid')),
  };
  const world = await worldOf(nodes, {}, storage());
  const executor = await world.open();
  const running = executor.run();
  let pauses = await executor.pauses();
  while (pauses.length === 0) {
    await new Promise((resolve) => setImmediate(resolve));
    pauses = await executor.pauses();
  }
  return { executor, running, finish, pauseId: pauses[0]?.pauseId ?? '' };
}

describe('a driven run', () => {
  test.each<[string, JsonValue, string]>([
    ['too large', { note: LARGE }, 'STORAGE_LIMIT_EXCEEDED'],
    ['a known secret', { note: SECRET }, 'KNOWN_SECRET'],
  ])('an answer that is %s is refused and nothing is lost', async (_what, answer, code) => {
    const { executor, running, finish, pauseId } = await asked();
    await expect(executor.answer(pauseId, answer, { by: 'web' })).rejects.toMatchObject({ code });
    await executor.answer(pauseId, 'fine', { by: 'web' });
    finish.open();
    expect(await running).toMatchObject({ output: { nodes: { ask: 'fine', pay: 'paid' } } });
  });

  test('a signal that is too large or holds a secret is refused alone', async () => {
    const { executor, running, finish, pauseId } = await asked();
    const large = executor.signal('s', LARGE, { signalId: '1' });
    await expect(large).rejects.toMatchObject({ code: 'STORAGE_LIMIT_EXCEEDED' });
    const secret = executor.signal('s', SECRET, { signalId: '2' });
    await expect(secret).rejects.toMatchObject({ code: 'KNOWN_SECRET' });
    finish.open();
    await executor.answer(pauseId, 'fine', { by: 'web' });
    expect(await running).toMatchObject({ kind: 'complete' });
  });
});

test('an output that the storage refuses ends the run as failed, every result kept', async () => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f'];
  const node = dataNode(() => 'x'.repeat(200_000));
  const nodes = Object.fromEntries(names.map((name) => [name, node]));
  const world = await worldOf(nodes, {}, storage());
  const end = { kind: 'fail', code: 'RESULT_TOO_LARGE' };
  expect(await (await world.open()).run()).toMatchObject(end);
  expect(await (await world.open()).run()).toMatchObject(end);
  const completed = (await world.types()).filter((type) => type === 'node-completed');
  expect(completed).toHaveLength(names.length);
});

test.each([
  [{ kind: 'completed', by: 'a', reason: 'b' }, 'result'],
  [{ kind: 'zzz', by: 'a', reason: 'b' }, 'kind'],
])('a reconciliation that says too little is refused: %j', async (said, option) => {
  const world = await worldOf({ a: dataNode(() => 1) }, {}, storage());
  const executor = await world.open();
  await expect(executor.reconcile('r1@4', said as never)).rejects.toMatchObject({
    code: 'INVALID_OPTION',
    details: { option },
  });
});

test('resuming an open position beside one that is not open resumes neither', async () => {
  const begun = gate();
  const node = dataNode(
    () => {
      begun.open();
      return new Promise(() => {});
    },
    { retrySafe: true },
  );
  const world = await worldOf({ a: node }, {}, storage());
  void (await world.open()).run().catch(() => {});
  await begun.opened;
  const before = await world.types();
  const resumed = (await world.open()).resume(['dag/a/1', 'dag/z/1']);
  await expect(resumed).rejects.toMatchObject({ code: 'PROTOCOL' });
  expect(await world.types()).toEqual(before);
});

test('a policy whose batches are no larger than an event loses no output', async () => {
  const size = 64 * 1024;
  const policy = { ...defaultStoragePolicy, maxEventPayloadBytes: size, maxAppendBatchBytes: size };
  const one = createMemoryRunStorage({ namespace: 'test', policy });
  const world = await worldOf({ a: dataNode(() => 'x'.repeat(30_000)) }, {}, one);
  expect(await (await world.open()).run()).toMatchObject({ kind: 'complete' });
});
