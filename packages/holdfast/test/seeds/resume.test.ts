/** Seed 000, "Resume after a process stops": see docs/seeds/000.md. */
import {
  dataNode,
  type GraphExecutorOptions,
  type JsonObject,
  type Memory,
  type NodeBinding,
  waitNode,
} from 'holdfast';
import { expect, test } from 'vitest';
import { gate } from '../executor/world.ts';
import {
  complete,
  dispatch,
  inOrder,
  type Script,
  type ScriptWorld,
  scriptWorld,
  settled,
  type Told,
} from './world.ts';

const one: Script = { nodes: { a: null }, decide: inOrder(['a', 'a/1']) };

/** Nodes of which each hangs the first time it runs, and settles the next. */
function hanging(names: readonly string[], retrySafe: boolean) {
  const runs: string[] = [];
  const started = gate();
  const nodes: Record<string, NodeBinding> = {};
  for (const name of names) {
    nodes[name] = dataNode(
      (_input, context) => {
        runs.push(`${name} ${context.position}`);
        const again = runs.filter((run) => run.startsWith(`${name} `)).length > 1;
        if (runs.length === names.length) started.open();
        return again ? `${name} again` : new Promise(() => {});
      },
      { retrySafe },
    );
  }
  return { nodes, runs, started: started.opened };
}

/** A run whose process stopped with these nodes in flight. */
async function stopped(script: Script, retrySafe: boolean) {
  const { nodes, runs, started } = hanging(Object.keys(script.nodes), retrySafe);
  const world = await scriptWorld(script, { nodes });
  void (await world.open()).run().catch(() => {});
  await started;
  return { world, runs, nodes };
}

const both: Script = {
  nodes: { a: null, b: null },
  decide: (told) => {
    if (told.length === 0) return [dispatch('a', 'a/1'), dispatch('b', 'b/1')];
    return settled(told, 'a/1') && settled(told, 'b/1') ? complete('both') : [];
  },
};

const paused = (told: readonly Told[]) => {
  const last = told.at(-1)?.type;
  return last === 'node-paused' ? ([{ kind: 'pause', reason: 'waits' }] as const) : null;
};
const onePausing: Script = {
  nodes: { a: null },
  decide: (told) => paused(told) ?? inOrder(['a', 'a/1'])(told),
};

const attemptStarts = async (world: ScriptWorld) =>
  (await world.events()).filter(({ type }) => type === 'graph:node-attempt-started');

test(
  '000-26 000-27 000-37: an uncertain attempt pauses with its id and ' + 'runs no node code',
  async () => {
    const { world, runs } = await stopped(onePausing, false);
    const result = await (await world.open()).resume('a/1');
    expect(result).toMatchObject({ kind: 'pause' });
    expect(runs).toEqual(['a a/1']);
    const [start] = await attemptStarts(world);
    const { identity } = (start?.payload ?? {}) as { identity?: JsonObject };
    expect(await world.payload('node-paused')).toMatchObject({
      position: 'a/1',
      request: { kind: 'reconcile-attempt', attemptId: identity?.['attemptId'] },
      reason: expect.stringMatching(/previous process stopped after node code started.*uncertain/),
    });
  },
);

test(
  '000-30 000-31: a fresh executor waits for what has no result; resume ' + 'takes its position',
  async () => {
    const { world } = await stopped(one, true);
    const fresh = await world.open();
    const pending = await fresh.run();
    expect(pending).toEqual({ kind: 'waiting', positions: ['a/1'] });
    await expect(fresh.resume('a/2')).rejects.toMatchObject({ code: 'PROTOCOL' });
    expect(await fresh.resume('a/1')).toEqual({ kind: 'complete', output: ['a again'] });
  },
);

test('000-32: two executors may open one run; nothing locks it between processes', async () => {
  const world = await scriptWorld(one, { nodes: { a: dataNode(() => 1) } });
  const [first, second] = [await world.open(), await world.open()];
  expect(await first.run()).toEqual({ kind: 'complete', output: [1] });
  expect(await second.run()).toEqual({ kind: 'complete', output: [1] });
});

test(
  '000-33 000-34: resume rebuilds the input from the decision, with no ' + 'second dispatch',
  async () => {
    const inputs: unknown[] = [];
    const started = gate();
    const world = await scriptWorld(one, {
      nodes: {
        a: dataNode(
          (input) => {
            inputs.push(input);
            started.open();
            return inputs.length > 1 ? 'done' : new Promise(() => {});
          },
          { retrySafe: true },
        ),
      },
    });
    void (await world.open()).run().catch(() => {});
    await started.opened;
    await (await world.open()).resume('a/1');
    expect(inputs).toEqual([{ at: 'a/1' }, { at: 'a/1' }]);
    const dispatched = (await world.types()).filter((type) => type === 'node-dispatched');
    expect(dispatched).toHaveLength(1);
  },
);

test(
  '000-35: what was dispatched and never started runs at its position, ' + 'without node-resumed',
  async () => {
    const started = gate();
    const seen: string[] = [];
    const node = (name: string) =>
      dataNode(
        (_input, { position }) => {
          seen.push(position);
          started.open();
          return seen.length === 1 ? new Promise(() => {}) : name;
        },
        { retrySafe: true },
      );
    const host: Pick<GraphExecutorOptions, 'nodes'> & Partial<GraphExecutorOptions> = {
      nodes: { a: node('a'), b: node('b') },
      maxConcurrentAttempts: 1,
    };
    const world = await scriptWorld(both, host);
    void (await world.open()).run().catch(() => {});
    await started.opened;
    const result = await (await world.open()).resume('a/1');
    expect(result).toEqual({ kind: 'complete', output: 'both' });
    expect(seen).toEqual(['a/1', 'a/1', 'b/1']);
    const resumed = (await world.events()).filter(({ type }) => type === 'graph:node-resumed');
    expect(resumed.map(({ payload }) => (payload as JsonObject)['position'])).toEqual(['a/1']);
  },
);

test(
  '000-36: a retry-safe attempt says so before its code runs, is ' +
    'resumed, and is the same attempt',
  async () => {
    const { world, runs } = await stopped(one, true);
    const [start] = await attemptStarts(world);
    expect(start?.payload).toMatchObject({ retrySafe: true });
    await (await world.open()).resume('a/1');
    expect(runs).toEqual(['a a/1', 'a a/1']);
    expect(await attemptStarts(world)).toHaveLength(1);
    expect((await world.types()).slice(2)).toEqual([
      'node-attempt-started',
      'node-resumed',
      'node-completed',
      'run-finished',
    ]);
  },
);

test(
  '000-38: resuming a paused position records node-resumed and offers ' + 'the same attempt again',
  async () => {
    let asked = 0;
    const decideAction = () => {
      asked += 1;
      return asked === 1
        ? ({ kind: 'wait', reason: 'ask', request: {} } as const)
        : ({ kind: 'allow' } as const);
    };
    const world = await scriptWorld(onePausing, {
      nodes: { a: dataNode(() => 'ran', { decideAction }) },
    });
    expect(await (await world.open()).run()).toMatchObject({ kind: 'pause' });
    expect(await (await world.open()).resume('a/1')).toEqual({ kind: 'complete', output: ['ran'] });
    expect(await attemptStarts(world)).toHaveLength(1);
    expect((await world.types()).slice(2)).toEqual([
      'node-attempt-started',
      'node-paused',
      'node-resumed',
      'node-completed',
      'run-finished',
    ]);
  },
);

test(
  '000-39: nothing but a pause and a crash in a retry-safe attempt is ' +
    'followed by node-resumed',
  async () => {
    const uncertain = await stopped(onePausing, false);
    await (await uncertain.world.open()).resume('a/1');
    expect(await uncertain.world.types()).not.toContain('node-resumed');
    const plain = await scriptWorld(one, { nodes: { a: dataNode(() => 1) } });
    await (await plain.open()).run();
    expect(await plain.types()).not.toContain('node-resumed');
  },
);

test.each([true, false])(
  '000-40: the saved rule (retrySafe %s) governs, whatever the live binding says now',
  async (retrySafe) => {
    const { world, runs } = await stopped(onePausing, retrySafe);
    const now = dataNode(() => 'changed', { retrySafe: !retrySafe });
    const result = await (await world.open({ nodes: { a: now } })).resume('a/1');
    expect(result.kind).toBe(retrySafe ? 'complete' : 'pause');
    expect(runs).toEqual(['a a/1']);
  },
);

test(
  '000-41: two in flight are both returned; after one is resumed the ' + 'other is returned again',
  async () => {
    const { world } = await stopped(both, true);
    const fresh = await world.open();
    expect(await fresh.run()).toEqual({ kind: 'waiting', positions: ['a/1', 'b/1'] });
    expect(await fresh.resume('a/1')).toEqual({ kind: 'waiting', positions: ['b/1'] });
    expect(await fresh.resume('b/1')).toEqual({ kind: 'complete', output: 'both' });
  },
);

test('000-42: node code may change between two processes; it is not compared', async () => {
  const { world } = await stopped(one, true);
  const nodes = { a: dataNode(() => 'new code') };
  expect(await (await world.open({ nodes })).resume('a/1')).toMatchObject({ output: ['new code'] });
});

const remembering: Script = { ...one, memory: 'required' };
const live: Memory = {
  scope: 'tests',
  execute: async ({ command }) => ({ ok: true, command, value: null }),
};

test(
  '000-43 000-45: required memory must be live, for TypeScript and ' + 'JavaScript callers alike',
  async () => {
    const world = await scriptWorld(remembering, { nodes: { a: dataNode(() => 1) } });
    const given: unknown[] = [
      undefined,
      null,
      {},
      { scope: ' ', execute: live.execute },
      { scope: 'x' },
    ];
    for (const memory of given) {
      const opened = world.open({ bindings: { memory } as never });
      await expect(opened).rejects.toMatchObject({ code: 'MISSING_MEMORY' });
    }
    expect(await (await world.open({ bindings: { memory: live } })).run()).toMatchObject({
      output: [1],
    });
  },
);

test('000-44: the very same memory object stands in the context of a data-only node', async () => {
  let seen: Memory | null = null;
  const nodes = {
    a: dataNode((_input, { memory }) => {
      seen = memory;
    }),
  };
  const world = await scriptWorld(remembering, { nodes, bindings: { memory: live } });
  await (await world.open()).run();
  expect(seen).toBe(live);
});

test('000-38 000-39: a wait that is answered ends without node-resumed', async () => {
  const world = await scriptWorld(onePausing, {
    nodes: { a: waitNode({ kind: 'approval', prompt: 'Go?' }) },
  });
  const executor = await world.open();
  const result = await executor.run();
  const pauseId = result.kind === 'pause' ? (result.pauses[0]?.pauseId ?? '') : '';
  await executor.answer(pauseId, { decision: 'approved' }, { by: 'ada' });
  expect(await world.types()).not.toContain('node-resumed');
});
