/** Seed 000, "How a dispatch runs": see docs/seeds/000.md. */
import {
  canonicalJson,
  dataNode,
  EngineError,
  type ExecutionLaneDescription,
  engineNode,
  engineSelection,
  type JsonObject,
  MockEngine,
} from 'holdfast';
import { createMemoryRunStorage } from 'holdfast/storage/memory';
import { expect, test } from 'vitest';
import { gate } from '../executor/world.ts';
import {
  complete,
  dispatch,
  inOrder,
  RUN,
  scripted,
  scriptWorld,
  settled,
  type Told,
} from './world.ts';

const big = { adapter: 'mock', provider: 'acme', modelFamily: 'm', model: 'big', tools: ['read'] };
const small = { ...big, provider: 'other', model: 'small' };
const lane: ExecutionLaneDescription = { id: 'lane', requested: big, knownSubstitutions: [small] };
const dies = (kind: 'auth' | 'quota' | 'rate-limit' | 'timeout') => () => {
  throw new EngineError({ kind, message: kind });
};
const seats = (first: MockEngine, second: MockEngine) => [
  { target: big, engine: first },
  { target: small, engine: second },
];

test(
  '000-01: definition and frozen plan come from the storage, and an ' + 'edited plan is refused',
  async () => {
    const world = await scriptWorld(
      { nodes: { a: null }, decide: inOrder(['a', 'a/1']) },
      { nodes: { a: dataNode(() => 1) } },
    );
    const [start] = await world.events();
    const { definition = {} } = (start?.payload ?? {}) as { definition?: JsonObject };
    const edited = canonicalJson(definition).replace(
      '"reason":"A test decides."',
      '"reason":"Edited."',
    );
    expect(edited).not.toBe(canonicalJson(definition));
    const other = createMemoryRunStorage({ namespace: 'test' });
    await other.eventStore.append({ namespace: 'test', streamId: RUN }, 0, [
      {
        type: 'graph:run-started',
        version: 1,
        timestamp: start?.timestamp ?? '',
        payload: { definition: JSON.parse(edited) },
      },
    ]);
    const { createGraphExecutor } = await import('holdfast');
    const opened = createGraphExecutor({
      runId: RUN,
      graph: world.graph,
      storage: other,
      nodes: { a: dataNode(() => 1) },
    });
    await expect(opened).rejects.toMatchObject({ code: 'INVALID_STORED_VALUE' });
    expect(await (await world.open()).run()).toEqual({ kind: 'complete', output: [1] });
  },
);

test('000-02: a graph that is not the stored one is refused', async () => {
  const script = { nodes: { a: null }, decide: inOrder(['a', 'a/1']) };
  const world = await scriptWorld(script, { nodes: { a: dataNode(() => 1) } });
  const other = scripted({ ...script, definitionVersion: 2 });
  await expect(world.open({ graph: other })).rejects.toMatchObject({
    code: 'STORED_GRAPH_MISMATCH',
  });
});

test(
  '000-03 000-04: recorded events are folded into state, and the graph ' + 'decides from it',
  async () => {
    let last: readonly Told[] = [];
    const decide = (told: readonly Told[]) => {
      last = told;
      return inOrder(['a', 'a/1'], ['b', 'b/1'])(told);
    };
    const world = await scriptWorld(
      { nodes: { a: null, b: null }, decide },
      { nodes: { a: dataNode(() => 'A'), b: dataNode(() => 'B') } },
    );
    expect(await (await world.open()).run()).toEqual({ kind: 'complete', output: ['A', 'B'] });
    expect(last.map(({ type }) => type)).toEqual([
      'node-dispatched',
      'node-completed',
      'node-dispatched',
      'node-completed',
    ]);
    expect(last[1]?.payload).toMatchObject({ nodeId: 'a', position: 'a/1', result: 'A' });
  },
);

test(
  '000-05 000-06: both dispatches are recorded before either starts, and ' +
    'each start before its code',
  async () => {
    const seen: Record<string, readonly string[]> = {};
    const look = (name: string) =>
      dataNode(async () => {
        seen[name] = await world.types();
        return name;
      });
    const world = await scriptWorld(
      {
        nodes: { a: null, b: null },
        decide: (told) =>
          told.length === 0
            ? [dispatch('a', 'a/1'), dispatch('b', 'b/1')]
            : settled(told, 'a/1') && settled(told, 'b/1')
              ? complete('done')
              : [],
      },
      { nodes: { a: look('a'), b: look('b') }, maxConcurrentAttempts: 1 },
    );
    await (await world.open()).run();
    const begin = ['run-started', 'node-dispatched', 'node-dispatched', 'node-attempt-started'];
    expect(seen['a']).toEqual(begin);
    expect(seen['b']?.slice(0, 6)).toEqual([...begin, 'node-completed', 'node-attempt-started']);
  },
);

test('000-07: an attempt is held to its limits', async () => {
  const run = async (rules: Parameters<typeof dataNode>[1]) => {
    const world = await scriptWorld(
      { nodes: { a: null }, decide: inOrder(['a', 'a/1']) },
      { nodes: { a: dataNode(() => 'a long answer', rules) } },
    );
    await (await world.open()).run();
    return world.payload('node-failed');
  };
  expect(await run({ inputBytes: 3 })).toMatchObject({ code: 'INPUT_LIMIT' });
  expect(await run({ outputBytes: 3 })).toMatchObject({ code: 'OUTPUT_LIMIT' });
  expect(await run({ outputBytes: 300 })).toBeUndefined();
});

test(
  '000-08: the graph is asked after an outcome was recorded: completed, ' + 'paused or failed',
  async () => {
    const asked: string[][] = [];
    const world = await scriptWorld(
      {
        nodes: { a: null, b: null, c: null },
        decide: (told) => {
          asked.push(told.map(({ type, payload }) => `${type} ${payload['nodeId']}`));
          if (told.length === 0)
            return [dispatch('a', '1'), dispatch('b', '2'), dispatch('c', '3')];
          const outcomes = told.filter(({ type }) => type !== 'node-dispatched');
          return outcomes.length < 3 ? [] : [{ kind: 'fail', code: 'ENOUGH', message: 'seen' }];
        },
      },
      {
        nodes: {
          a: dataNode(() => 1),
          b: dataNode(() => {
            throw new Error('no');
          }),
          c: dataNode(() => 1, {
            decideAction: () => ({ kind: 'wait', reason: 'ask', request: {} }),
          }),
        },
      },
    );
    expect(await (await world.open()).run()).toMatchObject({ kind: 'fail', code: 'ENOUGH' });
    expect(asked.at(-1)).toEqual(
      expect.arrayContaining(['node-completed a', 'node-failed b', 'node-paused c']),
    );
  },
);

test(
  '000-09 000-10: each node id has its own function, given the input of ' + 'the dispatch',
  async () => {
    const world = await scriptWorld(
      { nodes: { a: null, b: null }, decide: inOrder(['b', 'x'], ['a', 'y']) },
      {
        nodes: {
          a: dataNode(({ at }: { at: string }) => `a at ${at}`),
          b: dataNode(({ at }: { at: string }) => `b at ${at}`),
        },
      },
    );
    expect(await (await world.open()).run()).toMatchObject({ output: ['b at x', 'a at y'] });
  },
);

test(
  '000-11 000-12: a prompt is built from the input of its dispatch, two ' + 'positions two prompts',
  async () => {
    const engine = MockEngine.forTarget(big, ({ prompt }) => `re ${prompt}`);
    const world = await scriptWorld(
      { nodes: { a: lane }, decide: inOrder(['a', 'one'], ['a', 'two']) },
      {
        nodes: { a: engineNode<{ at: string }>({ prompt: ({ at }) => `about ${at}` }) },
        engines: seats(engine, MockEngine.forTarget(small)),
      },
    );
    expect(await (await world.open()).run()).toMatchObject({
      output: ['re about one', 're about two'],
    });
  },
);

test(
  '000-13 000-14: a node uses its stored lane; a binding joins the exact ' +
    'target to the full identity',
  async () => {
    const selection = engineSelection({
      ...big,
      capabilities: big.tools,
      adapterVersion: '2.1.0',
      executable: '/usr/bin/mock',
    });
    const engine = {
      name: 'full',
      run: async () => ({
        parts: [{ kind: 'assistant' as const, text: 'yes', final: true }],
        usage: { kind: 'unknown' as const },
        requested: selection,
        effective: null,
      }),
    };
    const nodes = { a: engineNode({ prompt: () => 'hello' }) };
    const script = { nodes: { a: lane }, decide: inOrder(['a', 'a/1']) };
    const other = { target: small, engine: MockEngine.forTarget(small) };
    const world = await scriptWorld(script, {
      nodes,
      engines: [{ target: big, engine, selection }, other],
    });
    expect(await (await world.open()).run()).toMatchObject({ output: ['yes'] });
    const refused = [
      [other],
      [{ target: { ...big, tools: [] }, engine }, other],
      [{ target: big, engine, selection: { ...selection, model: 'huge' } }, other],
      [{ target: big, engine }, { target: big, engine }, other],
    ];
    for (const engines of refused) {
      await expect(world.open({ engines })).rejects.toMatchObject({
        code: 'MISSING_ENGINE_BINDING',
      });
    }
  },
);

test(
  '000-15 000-16 000-18: a dead target moves to one fallback, recorded ' + 'with both identities',
  async () => {
    const first = MockEngine.forTarget(big, () => {
      throw new EngineError({
        kind: 'auth',
        message: 'no',
        effective: { ...small, model: 'tiny' },
      });
    });
    const second = MockEngine.forTarget(small, () => 'fine');
    const world = await scriptWorld(
      { nodes: { a: lane }, decide: inOrder(['a', 'a/1']) },
      { nodes: { a: engineNode({ prompt: () => 'hi' }) }, engines: seats(first, second) },
    );
    expect(await (await world.open()).run()).toMatchObject({ output: ['fine'] });
    const { tools, ...selected } = big;
    expect(await world.payload('model-unavailable')).toMatchObject({
      failure: 'auth',
      selected,
      reported: { adapter: 'mock', provider: 'other', modelFamily: 'm', model: 'tiny' },
    });
    expect([first.calls.length, second.calls.length, tools]).toEqual([1, 1, ['read']]);
  },
);

test.each(['rate-limit', 'timeout', 'wait', 'deny'] as const)(
  '000-17: a %s does not run again elsewhere',
  async (what) => {
    const first = MockEngine.forTarget(
      big,
      what === 'rate-limit' || what === 'timeout' ? dies(what) : () => 'x',
    );
    const second = MockEngine.forTarget(small);
    const decideAction = () =>
      what === 'wait'
        ? ({ kind: 'wait', reason: 'ask', request: {} } as const)
        : what === 'deny'
          ? ({ kind: 'deny', reason: 'no' } as const)
          : ({ kind: 'allow' } as const);
    const world = await scriptWorld(
      {
        nodes: { a: lane },
        decide: (told) =>
          told.some(({ type }) => type === 'node-paused')
            ? [{ kind: 'pause', reason: 'waits' }]
            : inOrder(['a', 'a/1'])(told),
      },
      {
        nodes: { a: engineNode({ prompt: () => 'hi', decideAction }) },
        engines: seats(first, second),
      },
    );
    await (await world.open()).run();
    expect(second.calls).toHaveLength(0);
    expect(await world.types()).not.toContain('model-unavailable');
  },
);

test('000-19: later dispatches skip the selected and the reported provider and model', async () => {
  const first = MockEngine.forTarget(big, () => {
    throw new EngineError({ kind: 'quota', message: 'gone', effective: small });
  });
  const second = MockEngine.forTarget(small, () => 'fine');
  const world = await scriptWorld(
    { nodes: { a: lane }, decide: inOrder(['a', 'a/1'], ['a', 'a/2']) },
    { nodes: { a: engineNode({ prompt: () => 'hi' }) }, engines: seats(first, second) },
  );
  await (await world.open()).run();
  expect([first.calls.length, second.calls.length]).toEqual([1, 0]);
});

test(
  '000-20: with every target dead no engine runs, and the failure is one ' + 'the graph can act on',
  async () => {
    const first = MockEngine.forTarget(big, dies('auth'));
    const second = MockEngine.forTarget(small, dies('auth'));
    const world = await scriptWorld(
      {
        nodes: { a: lane, plain: null },
        decide: inOrder(['a', 'a/1'], ['a', 'a/2'], ['plain', 'recover']),
      },
      {
        nodes: { a: engineNode({ prompt: () => 'hi' }), plain: dataNode(() => 'recovered') },
        engines: seats(first, second),
      },
    );
    expect(await (await world.open()).run()).toEqual({ kind: 'complete', output: ['recovered'] });
    const failures = (await world.events()).filter(({ type }) => type === 'graph:node-failed');
    expect(failures.map(({ payload }) => (payload as JsonObject)['code'])).toEqual([
      'ENGINE_UNAVAILABLE',
      'ENGINE_UNAVAILABLE',
    ]);
    expect([first.calls.length, second.calls.length]).toEqual([1, 1]);
  },
);

const pausing = (told: readonly Told[]) =>
  told.some(({ type }) => type === 'node-paused') &&
  !told.some(({ type }) => type === 'node-resumed')
    ? ([{ kind: 'pause', reason: 'waits' }] as const)
    : inOrder(['a', 'a/1'])(told);

test('000-21: a policy wait is recorded with its reason and request', async () => {
  const decideAction = () => ({ kind: 'wait', reason: 'who pays?', request: { sum: 5 } }) as const;
  const world = await scriptWorld(
    { nodes: { a: null }, decide: pausing },
    { nodes: { a: dataNode(() => 1, { decideAction }) } },
  );
  expect(await (await world.open()).run()).toMatchObject({ kind: 'pause' });
  expect(await world.payload('node-paused')).toMatchObject({
    reason: 'who pays?',
    request: { kind: 'policy', sum: 5 },
  });
});

test('000-22: a denied action is recorded as DENIED, its code not run', async () => {
  let ran = false;
  const world = await scriptWorld(
    { nodes: { a: null }, decide: inOrder(['a', 'a/1']) },
    {
      nodes: {
        a: dataNode(
          () => {
            ran = true;
          },
          { decideAction: () => ({ kind: 'deny', reason: 'not on a Friday' }) },
        ),
      },
    },
  );
  await (await world.open()).run();
  expect(await world.payload('node-failed')).toMatchObject({ code: 'DENIED' });
  expect(ran).toBe(false);
});

test('000-23: an attempt that is told to stop is recorded as ABORTED', async () => {
  const halt = new AbortController();
  const world = await scriptWorld(
    { nodes: { a: null }, decide: inOrder(['a', 'a/1']) },
    {
      nodes: {
        a: dataNode(
          (_input, { signal }) =>
            new Promise((_resolve, reject) => {
              signal.addEventListener('abort', () => reject(signal.reason));
              halt.abort();
            }),
        ),
      },
    },
  );
  await expect((await world.open()).run(halt.signal)).rejects.toMatchObject({ code: 'ABORTED' });
  expect(await world.payload('node-failed')).toMatchObject({ code: 'ABORTED' });
});

test('000-24: the graph tells a pause, a denial and an abort apart', async () => {
  const told: Told[][] = [];
  const halt = new AbortController();
  const ready = gate();
  const world = await scriptWorld(
    {
      nodes: { wait: null, deny: null, abort: null },
      decide: (all) => {
        told.push([...all]);
        return all.length === 0
          ? [dispatch('wait', '1'), dispatch('deny', '2'), dispatch('abort', '3')]
          : [];
      },
    },
    {
      nodes: {
        wait: dataNode(() => 1, {
          decideAction: () => ({ kind: 'wait', reason: 'ask', request: {} }),
        }),
        deny: dataNode(() => 1, { decideAction: () => ({ kind: 'deny', reason: 'no' }) }),
        abort: dataNode((_input, { signal }) => {
          ready.open();
          return new Promise((_resolve, reject) => {
            signal.addEventListener('abort', () => reject(signal.reason));
          });
        }),
      },
    },
  );
  const run = (await world.open()).run(halt.signal);
  await ready.opened;
  halt.abort();
  await expect(run).rejects.toMatchObject({ code: 'ABORTED' });
  await (await world.open()).run();
  const outcomes = told
    .at(-1)
    ?.map(({ type, payload }) => [payload['nodeId'], type, payload['code']]);
  expect(outcomes).toEqual(
    expect.arrayContaining([
      ['wait', 'node-paused', undefined],
      ['deny', 'node-failed', 'DENIED'],
      ['abort', 'node-failed', 'ABORTED'],
    ]),
  );
});

test.each(['result', 'request'] as const)(
  '000-25: a %s that is too large is a small failure, recorded once',
  async (what) => {
    const huge = 'x'.repeat(300_000);
    const decideAction = () =>
      what === 'request'
        ? ({ kind: 'wait', reason: 'ask', request: { huge } } as const)
        : ({ kind: 'allow' } as const);
    const world = await scriptWorld(
      { nodes: { a: null }, decide: inOrder(['a', 'a/1']) },
      { nodes: { a: dataNode(() => huge, { decideAction }) } },
    );
    await (await world.open()).run();
    expect(await world.payload('node-failed')).toMatchObject({ code: 'RESULT_TOO_LARGE' });
    expect((await world.types()).filter((type) => type === 'node-failed')).toHaveLength(1);
  },
);

test('000-28: an empty decision is refused when nothing is in flight', async () => {
  const world = await scriptWorld(
    { nodes: { a: null }, decide: () => [] },
    { nodes: { a: dataNode(() => 1) } },
  );
  await expect((await world.open()).run()).rejects.toMatchObject({ code: 'EMPTY_DECISION' });
});

test(
  '000-29: a position that was dispatched before is refused, and nothing ' + 'of it is recorded',
  async () => {
    const world = await scriptWorld(
      { nodes: { a: null }, decide: () => [dispatch('a', 'a/1')] },
      { nodes: { a: dataNode(() => 1) } },
    );
    await expect((await world.open()).run()).rejects.toMatchObject({ code: 'DUPLICATE_POSITION' });
    const dispatched = (await world.types()).filter((type) => type === 'node-dispatched');
    expect(dispatched).toHaveLength(1);
  },
);
