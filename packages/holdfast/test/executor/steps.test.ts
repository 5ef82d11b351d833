/** Durable sub-steps: what is recorded is not done again; what is uncertain is asked about. */
import { dataNode, type NodeContext, NodeFailure } from 'holdfast';
import { expect, test } from 'vitest';
import { gate, worldOf } from './world.ts';

/** Runs `body` as node `a`; its first attempt hangs wherever `body` awaits `hang`. */
async function interrupted(
  body: (context: NodeContext, hang: () => Promise<void>) => Promise<unknown>,
  retries = 0,
) {
  const stuck = gate();
  let isFirst = true;
  const hang = async () => {
    if (!isFirst) return;
    isFirst = false;
    stuck.open();
    await new Promise(() => {});
  };
  const nodes = { a: dataNode((_input, context) => body(context, hang), { retrySafe: true }) };
  const world = await worldOf(nodes, { retries });
  void (await world.open()).run().catch(() => {});
  await stuck.opened;
  return world;
}

test('B25: steps that were recorded are not run again after a crash', async () => {
  let charged = 0;
  const world = await interrupted(async (context, hang) => {
    const paid = await context.step('charge', () => {
      charged += 1;
      return { charge: charged };
    });
    await hang();
    return paid;
  });
  const result = await (await world.open()).resume('dag/a/1');
  expect(result).toEqual({ kind: 'complete', output: { nodes: { a: { charge: 1 } } } });
  expect(charged).toBe(1);
});

test('a crash inside a step that is not retry-safe pauses and names the step', async () => {
  const world = await interrupted(async (context, hang) => context.step('charge', hang));
  const result = await (await world.open()).resume('dag/a/1');
  expect(result).toMatchObject({
    kind: 'pause',
    pauses: [{ request: { kind: 'reconcile-attempt', steps: ['charge'] } }],
  });
});

test('a crash inside a retry-safe step runs it again', async () => {
  let tries = 0;
  const world = await interrupted(async (context, hang) =>
    context.step(
      'fetch',
      async () => {
        tries += 1;
        await hang();
        return tries;
      },
      { retrySafe: true },
    ),
  );
  const result = await (await world.open()).resume('dag/a/1');
  expect(result).toEqual({ kind: 'complete', output: { nodes: { a: 2 } } });
});

test.each([
  [{ kind: 'completed', result: 'by hand' }, { a: 'by hand' }],
  [{ kind: 'retry' }, { a: 'second' }],
] as const)('an uncertain step is reconciled as %j', async (said, nodes) => {
  const world = await interrupted(async (context, hang) =>
    context.step('charge', async () => {
      await hang();
      return 'second';
    }),
  );
  const executor = await world.open();
  const paused = await executor.resume('dag/a/1');
  const pauseId = paused.kind === 'pause' ? (paused.pauses[0]?.pauseId ?? '') : '';
  await executor.reconcile(pauseId, { ...said, step: 'charge', by: 'ada', reason: 'looked' });
  expect(await executor.run()).toEqual({ kind: 'complete', output: { nodes } });
});

test('an uncertain step reconciled as failed throws its code inside the body', async () => {
  const world = await interrupted(async (context, hang) => {
    try {
      return await context.step('charge', hang);
    } catch (error) {
      return { caught: (error as NodeFailure).failureCode };
    }
  });
  const executor = await world.open();
  const paused = await executor.resume('dag/a/1');
  const pauseId = paused.kind === 'pause' ? (paused.pauses[0]?.pauseId ?? '') : '';
  const said = {
    kind: 'failed',
    code: 'DECLINED',
    step: 'charge',
    by: 'ada',
    reason: 'no',
  } as const;
  await executor.reconcile(pauseId, said);
  expect(await executor.run()).toMatchObject({ output: { nodes: { a: { caught: 'DECLINED' } } } });
});

test('a policy retry is given the recorded steps and runs the failed one again', async () => {
  const calls: string[] = [];
  const node = dataNode(
    async (_input, context) => {
      await context.step('first', () => void calls.push('first'));
      return context.step('second', () => {
        calls.push('second');
        if (calls.length < 3) throw new NodeFailure('FLAKY', 'not yet');
        return 'ok';
      });
    },
    { retrySafe: true },
  );
  const world = await worldOf({ a: node }, { retries: 1 });
  expect(await (await world.open()).run()).toMatchObject({ output: { nodes: { a: 'ok' } } });
  expect(calls).toEqual(['first', 'second', 'second']);
});

test('a step that fails for good is not tried again by the policy of its node', async () => {
  let calls = 0;
  const node = dataNode(
    (_input, context) =>
      context.step('charge', () => {
        calls += 1;
        throw new NodeFailure('CARD_STOLEN', 'no', { retryable: false });
      }),
    { retrySafe: true },
  );
  const world = await worldOf({ a: node }, { retries: 3 });
  await (await world.open()).run();
  expect(calls).toBe(1);
});

test('one step name twice in one attempt is STEP_REPEATED', async () => {
  const node = dataNode(async (_input, context) => {
    await context.step('same', () => 1);
    await context.step('same', () => 2);
  });
  const world = await worldOf({ a: node });
  expect(await (await world.open()).run()).toMatchObject({ kind: 'fail' });
  const failed = (await world.events()).find(({ type }) => type.endsWith('node-failed'));
  expect(failed?.payload).toMatchObject({ message: expect.stringContaining('"same"') });
});

test('every attempt and retry of an occurrence has one idempotency key', async () => {
  const keys: string[] = [];
  const node = dataNode((_input, { idempotencyKey }) => {
    keys.push(idempotencyKey);
    if (keys.length < 3) throw new Error('again');
  });
  const world = await worldOf({ a: node }, { retries: 2 });
  await (await world.open()).run();
  expect(keys).toHaveLength(3);
  expect(new Set(keys).size).toBe(1);
});
