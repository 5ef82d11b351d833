/** How an attempt ends: its steps, its policy, and what node code may throw or return. */
import { setImmediate as turn } from 'node:timers/promises';
import { dataNode, defaultStoragePolicy, type NodeContext, waitNode } from 'holdfast';
import { createMemoryRunStorage } from 'holdfast/storage/memory';
import { createFakeClock } from 'holdfast/testing';
import { expect, test } from 'vitest';
import { failOnUnhandledRejections } from '../support/unhandled-rejections.ts';
import { dagOf, gate, type World, worldOf } from './world.ts';

failOnUnhandledRejections();

async function payloadOf(world: World, type: string) {
  return (await world.events()).find((event) => event.type === `graph:${type}`)?.payload;
}

test('an attempt settles once the steps it left running are recorded', async () => {
  const slow = gate();
  const node = dataNode(
    async (_input, context) => {
      const left = context.step('slow', () => slow.opened.then(() => 'slow'));
      const failing = context.step('fails', () => {
        throw new Error('no');
      });
      try {
        await Promise.all([left, failing]);
      } finally {
        setImmediate(() => setImmediate(() => slow.open()));
      }
    },
    { retrySafe: true },
  );
  const world = await worldOf({ a: node });
  await (await world.open()).run();
  const types = (await world.types()).filter((type) => /recorded|failed/.test(type));
  expect(types).toEqual(['node-step-recorded', 'node-step-recorded', 'node-failed']);
});

test('a retry is given the step that was left running', async () => {
  let paid = 0;
  let attempts = 0;
  const node = dataNode(
    async (_input, context) => {
      attempts += 1;
      const slow = gate();
      const pay = context.step('pay', async () => {
        await slow.opened;
        paid += 1;
        return 'paid';
      });
      setImmediate(() => slow.open());
      if (attempts === 1) throw new Error('forgot to wait');
      return pay;
    },
    { retrySafe: true },
  );
  const world = await worldOf({ a: node }, { retries: 1 });
  expect(await (await world.open()).run()).toMatchObject({ output: { nodes: { a: 'paid' } } });
  expect(paid).toBe(1);
});

test('a chain of steps that nobody waits for is run to its end', async () => {
  const node = dataNode((_input, context) => {
    const chain = async () => {
      await context.step('one', () => turn());
      await context.step('two', () => turn());
      await context.step('three', () => turn());
    };
    void chain();
    return 'done';
  });
  const world = await worldOf({ a: node });
  await (await world.open()).run();
  const types = (await world.types()).filter((type) => /recorded|completed/.test(type));
  expect(types).toEqual([...Array(3).fill('node-step-recorded'), 'node-completed']);
});

test('a step that never ends holds its attempt until its timeout and grace', async () => {
  const clock = createFakeClock();
  const late = gate();
  const node = dataNode(
    (_input, context) => {
      void context.step('hangs', () => late.opened, { retrySafe: true });
      return 'done';
    },
    { timeoutMs: 1_000, graceMs: 100, retrySafe: true },
  );
  const world = await worldOf({ a: node });
  const running = (await world.open({ clock })).run();
  await clock.advance(1_099);
  expect(await world.types()).not.toContain('node-failed');
  await clock.advance(1);
  expect(await running).toMatchObject({ kind: 'fail' });
  late.open();
  await clock.runUntilIdle();
  expect(await payloadOf(world, 'node-failed')).toMatchObject({ code: 'TIMEOUT' });
  expect(await world.types()).not.toContain('node-step-recorded');
});

test('a step that is called after its attempt has settled is refused', async () => {
  let kept: NodeContext | null = null;
  let calls = 0;
  const node = dataNode((_input, context) => {
    kept = context;
  });
  const world = await worldOf({ a: node });
  await (await world.open()).run();
  const late = (kept as unknown as NodeContext).step('late', () => {
    calls += 1;
  });
  await expect(late).rejects.toMatchObject({
    code: 'ABORTED',
    message: expect.stringContaining('attempt of a at dag/a/1 is over'),
  });
  expect(calls).toBe(0);
});

test('a floating step that fails ends nothing but itself', async () => {
  const node = dataNode((_input, context) => {
    void context.step('floats', () => {
      throw new Error('no');
    });
    return 'done';
  });
  const world = await worldOf({ a: node });
  expect(await (await world.open()).run()).toMatchObject({ output: { nodes: { a: 'done' } } });
  expect(await payloadOf(world, 'node-step-recorded')).toMatchObject({ code: 'EFFECT_FAILED' });
});

test.each([
  ['undefined', undefined, 'undefined'],
  ['null', null, 'null'],
  ['a word', 'allow', '"allow"'],
  ['an unknown kind', { kind: 'perhaps' }, 'perhaps'],
  ['a deny without reason', { kind: 'deny' }, 'deny'],
  ['a wait without request', { kind: 'wait', reason: 'Ask.' }, 'undefined'],
  ['a wait for no moment', { kind: 'wait', reason: 'Ask.', request: { dueAt: 'soon' } }, 'soon'],
])('a policy that returns %s fails its attempt with ACTION_POLICY', async (_what, said, shown) => {
  const node = dataNode(() => 'ran', { decideAction: () => said as never });
  const world = await worldOf({ a: node });
  expect(await (await world.open()).run()).toMatchObject({ kind: 'fail' });
  expect(await payloadOf(world, 'node-failed')).toMatchObject({
    code: 'ACTION_POLICY',
    message: expect.stringContaining(shown),
  });
});

const hostile: readonly (readonly [string, () => unknown])[] = [
  [
    'a proxy whose every property throws',
    () =>
      new Proxy(new Error('hidden'), {
        get: () => {
          throw new Error('no');
        },
      }),
  ],
  [
    'an object whose toString and toJSON throw',
    () => {
      const no = () => {
        throw new Error('no');
      };
      return { toString: no, toJSON: no };
    },
  ],
  ['an error whose message is no text', () => Object.assign(new Error('x'), { message: 5 })],
  ['an object without prototype', () => Object.create(null)],
];
test.each(hostile)('%s fails its attempt and nothing else', async (_what, make) => {
  const node = dataNode(async () => {
    throw make();
  });
  const world = await worldOf({ a: node });
  expect(await (await world.open()).run()).toMatchObject({ kind: 'fail' });
  expect(await payloadOf(world, 'node-failed')).toMatchObject({ code: 'EFFECT_FAILED' });
});

test('a validateNodeResult that throws is named as what failed', async () => {
  const world = await worldOf({ a: dataNode(() => 'fine') });
  const graph = dagOf(['a']);
  const validateNodeResult = () => {
    throw new Error('My own fault.');
  };
  const executor = await world.open({ graph: { ...graph, validateNodeResult } });
  await executor.run();
  expect(await payloadOf(world, 'node-failed')).toMatchObject({
    code: 'RESULT_INVALID',
    message: 'validateNodeResult threw for the result of a: My own fault.',
  });
});

const approval = { kind: 'approval', prompt: 'Ship it?' } as const;
test.each([
  ['largeResult', () => dataNode(() => 1, { largeResult: 'foo' as never })],
  ['decideAction', () => dataNode(() => 1, { decideAction: 5 as never })],
  ['kind', () => waitNode({ kind: 'nap' } as never)],
  ['prompt', () => waitNode({ kind: 'approval', prompt: 5 as never })],
  ['name', () => waitNode({ kind: 'signal', name: ' ' })],
  ['deadlineMs', () => waitNode({ ...approval, deadlineMs: -1 })],
  ['deadlineMs', () => waitNode({ ...approval, deadlineMs: 1.5 })],
  ['onDeadline', () => waitNode({ ...approval, onDeadline: {} as never })],
  ['onDeadline', () => waitNode({ ...approval, onDeadline: null as never })],
  ['onDeadline', () => waitNode({ ...approval, onDeadline: { failWith: ' ' } })],
  ['onDeadline', () => waitNode({ ...approval, onDeadline: { failWith: 'A\nB' } })],
  ['onDeadline', () => waitNode({ ...approval, onDeadline: { result: Number.NaN } })],
])('%s of a node that it cannot run with is refused', (option, bind) => {
  const refusal = { code: 'INVALID_OPTION', details: { option } };
  expect(bind).toThrow(expect.objectContaining(refusal));
});

test('a prompt that is no text fails its node', async () => {
  const node = waitNode({ kind: 'approval', prompt: () => 5 as never });
  const world = await worldOf({ a: node });
  expect(await (await world.open()).run()).toMatchObject({ kind: 'fail' });
  expect(await payloadOf(world, 'node-failed')).toMatchObject({ code: 'INVALID_OPTION' });
});

/** A storage whose events hold 2,000 bytes, as small as the record of a run allows. */
function smallStorage() {
  const policy = {
    ...defaultStoragePolicy,
    maxEventPayloadBytes: 2_000,
    maxAppendBatchBytes: 8_000,
  };
  return createMemoryRunStorage({ namespace: 'test', policy });
}

test.each(['x', '"', 'é', '漢', '😀', '\n'])(
  'a long message of %j fits a small event',
  async (unit) => {
    const node = dataNode(() => {
      throw new Error(`It began. ${unit.repeat(2_000)}`);
    });
    const world = await worldOf({ a: node }, {}, smallStorage());
    expect(await (await world.open()).run()).toMatchObject({ kind: 'fail' });
    const { message } = (await payloadOf(world, 'node-failed')) as { message: string };
    expect(message).toMatch(/^It began\. [\s\S]{200,}…$/u);
  },
);

test('a long message of a step fits a small event', async () => {
  const node = dataNode(async (_input, context) => {
    const failing = context.step('s'.repeat(200), () => {
      throw new Error('漢'.repeat(2_000));
    });
    await failing.catch(() => {});
    return 'went on';
  });
  const world = await worldOf({ a: node }, {}, smallStorage());
  expect(await (await world.open()).run()).toMatchObject({ output: { nodes: { a: 'went on' } } });
  expect(await payloadOf(world, 'node-step-recorded')).toMatchObject({ code: 'EFFECT_FAILED' });
});

test.each([10, 1_300, 1_600])(
  'a long reason beside a request of %d characters fits a small event',
  async (length) => {
    const request = { note: 'x'.repeat(length) };
    const decideAction = () => ({ kind: 'wait', reason: '漢'.repeat(500), request }) as const;
    const node = dataNode(() => 'ran', { decideAction });
    const world = await worldOf({ a: node }, {}, smallStorage());
    expect(await (await world.open()).run()).toMatchObject({ kind: 'pause' });
    expect(await payloadOf(world, 'node-paused')).toMatchObject({ request });
  },
);

test('a step whose name holds a known secret fails, and the run goes on', async () => {
  const secret = 'correct-horse-battery';
  const storage = createMemoryRunStorage({ namespace: 'test', knownSecrets: [secret] });
  let calls = 0;
  const node = dataNode(async (_input, context) => {
    try {
      await context.step(`pay with ${secret}`, () => {
        calls += 1;
      });
    } catch (error) {
      return { code: (error as { code?: string }).code ?? null, calls };
    }
    return null;
  });
  const world = await worldOf({ a: node }, {}, storage);
  expect(await (await world.open()).run()).toMatchObject({
    output: { nodes: { a: { code: 'KNOWN_SECRET', calls: 0 } } },
  });
});
