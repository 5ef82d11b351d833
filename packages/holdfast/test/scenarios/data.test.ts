/** Section G: serialization and data. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  createGraphExecutor,
  dataNode,
  digestJson,
  type JsonValue,
  NodeFailure,
  type RunStorage,
  startRun,
} from 'holdfast';
import { createLocalRunStorage } from 'holdfast/storage/local';
import { createMemoryRunStorage } from 'holdfast/storage/memory';
import { afterAll, describe, expect, test } from 'vitest';
import { dagOf, gate } from '../executor/world.ts';
import { flowOf } from '../nodes/flow-world.ts';
import { eventsOf } from '../support/stored-events.ts';
import { flowScene, nextTurn, pauseIdOf, sceneOf } from './world.ts';

const base = mkdtempSync(path.join(tmpdir(), 'holdfast-data-'));
afterAll(() => rmSync(base, { recursive: true, force: true }));

const stores: readonly (readonly [string, () => RunStorage])[] = [
  ['memory', () => createMemoryRunStorage({ namespace: 'test' })],
  [
    'sqlite',
    () =>
      createLocalRunStorage({ directory: mkdtempSync(path.join(base, 'r-')), namespace: 'test' }),
  ],
];

class Account {
  balance = 1;
}
const circle: { self?: unknown } = {};
circle.self = circle;

describe('B83: what a node returns is the same to the next node, live and after a crash', () => {
  const kept: readonly (readonly [string, unknown])[] = [
    ['nothing', undefined],
    ['null', null],
    ['nested data', { a: [1, { b: 'ö' }], z: { y: false } }],
    ['keys out of order', { b: 1, a: 2, 10: 3, 9: 4 }],
    ['an own __proto__', JSON.parse('{"__proto__": {"a": 1}}')],
    ['an object without a prototype', Object.assign(Object.create(null), { a: 1 })],
    ['a shared part', ((x) => ({ a: x, b: x }))({ deep: [1] })],
    ['a large number', Number.MAX_SAFE_INTEGER],
    ['the smallest number', 5e-324],
    ['-0, which is 0 in JSON', { n: -0 }],
  ];

  test.each(kept)('kept: %s', async (_what, value) => {
    const seen: JsonValue[] = [];
    const begun = gate();
    let starts = 0;
    const nodes = {
      a: dataNode(() => value),
      b: dataNode<{ results: { a: JsonValue } }>(
        ({ results }) => {
          seen.push(results.a);
          starts += 1;
          if (starts > 1) return null;
          begun.open();
          return new Promise(() => {});
        },
        { retrySafe: true },
      ),
    };
    const scene = await sceneOf(dagOf(['a', 'b'], { edges: ['a>b'] }), nodes);
    void scene.run();
    await begun.opened;
    await scene.resume('dag/b/1');
    const [live, replayed] = seen;
    expect(seen).toHaveLength(2);
    expect(replayed).toEqual(live);
    expect(JSON.stringify(live)).toBe(JSON.stringify(value ?? null));
    expect(JSON.stringify(replayed)).toBe(JSON.stringify(live));
    await scene.verify();
  });

  const refused: readonly (readonly [string, unknown, string])[] = [
    ['a date', { when: new Date(0) }, '/when'],
    ['a map', { rows: [new Map()] }, '/rows/0'],
    ['undefined inside', { a: { b: undefined } }, '/a/b'],
    ['NaN', { n: Number.NaN }, '/n'],
    ['infinity', [1, Number.POSITIVE_INFINITY], '/1'],
    ['a bigint', { n: 1n }, '/n'],
    ['a class instance', { account: new Account() }, '/account'],
    ['a function', { f: () => 1 }, '/f'],
    ['a symbol', { s: Symbol('s') }, '/s'],
    ['a hole', { list: new Array(2) }, '/list'],
    ['a getter', Object.defineProperty({}, 'g', { get: () => 1, enumerable: true }), '/g'],
    ['a true circle', circle, '/self'],
  ];

  test.each(refused)('refused by name and place: %s', async (_what, value, place) => {
    const nodes = { a: dataNode(() => value), b: dataNode(() => 'ran') };
    const scene = await sceneOf(dagOf(['a', 'b'], { edges: ['a>b'] }), nodes);
    expect(await scene.run()).toMatchObject({ kind: 'fail', code: 'DAG_NODE_FAILED' });
    const failed = (await scene.events()).find(({ type }) => type === 'graph:node-failed');
    expect(failed?.payload).toMatchObject({ nodeId: 'a', code: 'RESULT_INVALID' });
    expect(failed?.payload).toMatchObject({ message: expect.stringContaining(place) });
  });
});

test('B85: a result changed after it was returned is stored as it was returned', async () => {
  const returned = { rows: [{ id: 1 }] };
  const nodes = {
    a: dataNode(() => {
      queueMicrotask(() => {
        returned.rows[0] = { id: 2 };
        returned.rows.push({ id: 3 });
      });
      return returned;
    }),
    b: dataNode(async (_input, { step }) => {
      const kept = { n: 1 };
      const result = await step('s', () => {
        queueMicrotask(() => {
          kept.n = 2;
        });
        return kept;
      });
      return { result, isFrozen: Object.isFrozen(result) };
    }),
  };
  const scene = await sceneOf(dagOf(['a', 'b'], { edges: ['a>b'] }), nodes);
  expect(await scene.run()).toMatchObject({
    output: { nodes: { a: { rows: [{ id: 1 }] }, b: { result: { n: 1 } } } },
  });
  await scene.verify();
});

test('B85: an input, an answer and a signal are copied when they are given', async () => {
  const input = { n: 1 };
  const flow = flowOf(
    [
      ['ask', 'approval', { prompt: 'ok?' }],
      ['wait', 'signal', { name: 'go' }],
    ],
    ['start>ask', 'ask.approved>wait'],
  );
  const scene = await flowScene(flow, {}, { input });
  input.n = 2;
  const executor = await scene.open();
  const answer = { approved: true, n: 1 };
  const answered = executor.answer(pauseIdOf(await executor.run()), answer, { by: 'ada' });
  answer.n = 2;
  await answered;
  const payload = { n: 1 };
  const sent = executor.signal('go', payload, { signalId: 'one' });
  payload.n = 2;
  await sent;
  expect(await executor.run()).toMatchObject({
    output: { nodes: { start: { n: 1 }, ask: { answer: { n: 1 } }, wait: { n: 1 } } },
  });
});

test('B85: what a node is given cannot be changed under another', async () => {
  const nodes = {
    a: dataNode(() => ({ n: 1 })),
    b: dataNode<{ results: { a: { n: number } } }>(({ results }) => {
      results.a.n = 2;
    }),
    c: dataNode<{ results: { a: { n: number } } }>(({ results }) => results.a.n),
  };
  const graph = dagOf(['a', 'b', 'c'], { edges: ['a>b', 'a>c'] });
  const scene = await sceneOf(graph, nodes);
  expect(await scene.run()).toMatchObject({ kind: 'fail' });
  const { occurrences } = await (await scene.open()).view();
  expect(occurrences.find(({ nodeId }) => nodeId === 'b')?.message).toContain('read only');
  expect(occurrences.find(({ nodeId }) => nodeId === 'c')?.result).toBe(1);
});

test('B86: a part that is shared is no circle; a circle is refused with its path', async () => {
  const shared = { deep: [1, 2] };
  const list = [shared, shared];
  const nodes = { a: dataNode(() => ({ a: shared, b: shared, list })) };
  const scene = await sceneOf(dagOf(['a']), nodes);
  expect(await scene.run()).toMatchObject({
    output: { nodes: { a: { a: shared, b: shared, list } } },
  });
});

test('B89: data that looks like a constructor or an event stays plain data', async () => {
  const lookalikes: readonly JsonValue[] = [
    { lc: 1, type: 'constructor', id: ['langchain', 'schema', 'HumanMessage'], kwargs: {} },
    { $type: 'Date', value: '2026-01-01' },
    { constructor: { prototype: {} } },
    { type: 'graph:run-finished', payload: { outcome: 'complete' } },
    JSON.parse('{"then": "not a promise"}') as JsonValue,
    { toJSON: 'not a function' },
    { artifact: 'no reference' },
    { kind: 'paused', reason: 'no pause', request: { kind: 'approval' } },
    { artifact: { digest: `sha256:${'0'.repeat(64)}`, mediaType: 'text/plain', bytes: 1 } },
    { continueAs: { runId: 'other', input: null } },
  ];
  for (const [name, storageOf] of stores) {
    for (const value of lookalikes) {
      const storage = storageOf();
      const seen: unknown[] = [];
      const nodes = {
        a: dataNode(() => value),
        b: dataNode<{ results: { a: JsonValue } }>(({ results }) => void seen.push(results.a)),
      };
      const graph = dagOf(['a', 'b'], { edges: ['a>b'] });
      const scene = await sceneOf(graph, nodes, { storage, input: value });
      const result = { kind: 'complete', output: { nodes: { a: value, b: null } } };
      expect(await scene.run(), name).toEqual(result);
      expect(await scene.run(), name).toEqual(result);
      expect(seen).toEqual([value]);
      await storage.close();
    }
  }
});

test.each(stores)(
  'B91: digests are of the canonical form, whatever the %s store does',
  async (_name, storageOf) => {
    const storage = storageOf();
    const value = { z: 1, a: { y: [3, { c: 1, b: 2 }], x: 'ö' }, '10': 1, '9': 2 };
    const reordered = { '9': 2, '10': 1, a: { x: 'ö', y: [3, { b: 2, c: 1 }] }, z: 1 };
    const scene = await sceneOf(dagOf(['a']), { a: dataNode(() => value) }, { storage });
    await scene.run();
    const completed = (await scene.events()).find(({ type }) => type === 'graph:node-completed');
    const { result = null } = (completed?.payload ?? {}) as { result?: JsonValue };
    expect(digestJson(result)).toBe(digestJson(reordered));
    await scene.verify();
    await storage.close();
  },
);

describe.each(stores)('B92: text that breaks stores, on the %s store', (_name, storageOf) => {
  const texts = [
    'a\u0000b',
    '\u0000',
    '😀 tail',
    'e\u0301 vs \u00e9',
    '\u2028\u2029',
    '\uffff',
    '\u001b[31m',
  ];

  test('is kept in outputs, and the run can be listed and read', async () => {
    const storage = storageOf();
    const scene = await sceneOf(dagOf(['a']), { a: dataNode(() => texts) }, { storage });
    const result = { kind: 'complete', output: { nodes: { a: texts } } };
    expect(await scene.run()).toEqual(result);
    expect(await scene.run()).toEqual(result);
    expect((await storage.runIndex.list()).runs).toMatchObject([{ status: 'complete' }]);
    await scene.verify();
    await storage.close();
  });

  test('half characters are refused in outputs by name, and cut clean in messages', async () => {
    const storage = storageOf();
    const long = `${'x'.repeat(1_999)}😀 and more`;
    const nodes = {
      output: dataNode(() => ({ text: 'half \ud83e' })),
      key: dataNode(() => ({ 'half \ud83e': 1 })),
      error: dataNode(() => {
        throw new Error(`half \ud83e NUL \u0000 ${long}`);
      }),
      long: dataNode(() => {
        throw new Error(long);
      }),
      code: dataNode(() => {
        throw new NodeFailure('half \ud83e\u0000', 'coded');
      }),
    };
    const scene = await sceneOf(dagOf(Object.keys(nodes)), nodes, { storage });
    expect(await scene.run()).toMatchObject({ kind: 'fail' });
    const { occurrences } = await (await scene.open()).view();
    for (const { nodeId, code, message } of occurrences) {
      expect(code, nodeId).toEqual(expect.any(String));
      // Half characters do not survive a round trip through UTF-8, and NUL is no text.
      const text = `${code}${message}`;
      expect(Buffer.from(text).toString(), nodeId).toBe(text);
      expect(text, nodeId).not.toContain('\u0000');
    }
    const byNode = new Map(occurrences.map((occurrence) => [occurrence.nodeId, occurrence]));
    expect(byNode.get('output')).toMatchObject({ code: 'RESULT_INVALID' });
    expect(byNode.get('key')).toMatchObject({ code: 'RESULT_INVALID' });
    await scene.verify();
    await storage.close();
  });
});

test('B97: fifty runs at once on one compiled graph never see each other', async () => {
  const storage = createMemoryRunStorage({ namespace: 'test' });
  const graph = dagOf(['a', 'b'], { edges: ['a>b'] });
  const nodes = {
    a: dataNode(async (_input, { runInput, step }) => {
      await nextTurn();
      const inStep = await step('s', async () => {
        await nextTurn();
        return runInput;
      });
      return { runInput, inStep };
    }),
    b: dataNode<{ results: { a: JsonValue } }>(async ({ results }, { runInput, runId }) => {
      await nextTurn();
      return { before: results.a, runInput, runId };
    }),
  };
  const runs = Array.from({ length: 50 }, (_none, tenant) => `tenant-${tenant}`);
  const results = await Promise.all(
    runs.map(async (runId) => {
      await startRun(storage, { runId, graph, input: { tenant: runId } });
      return (await createGraphExecutor({ runId, graph, storage, nodes })).run();
    }),
  );
  runs.forEach((runId, index) => {
    const own = { tenant: runId };
    expect(results[index]).toEqual({
      kind: 'complete',
      output: {
        nodes: {
          a: { runInput: own, inStep: own },
          b: { before: { runInput: own, inStep: own }, runInput: own, runId },
        },
      },
    });
  });
  for (const runId of runs) {
    const others = (await eventsOf(storage, runId)).filter(
      ({ correlationId, stream }) => correlationId !== runId || stream.streamId !== runId,
    );
    expect(others).toEqual([]);
  }
});

describe('B98: nodes of the same name in two subflows', () => {
  const inner = (prompt: string) =>
    flowOf(
      [
        ['step', 'approval', { prompt }],
        ['work', 'task', { function: 'work' }],
      ],
      ['start>step', 'step.approved>work'],
    );
  const outer = flowOf(
    [
      ['foo', 'subflow', { flow: 'foo', input: 'foo' }],
      ['bar', 'subflow', { flow: 'bar', input: 'bar' }],
    ],
    ['start>foo', 'start>bar'],
  );

  test('pause, are answered and keep their results apart', async () => {
    const worked: JsonValue[] = [];
    const scene = await flowScene(
      outer,
      { work: (_given, { runInput }) => void worked.push(runInput) },
      { flows: { foo: inner('foo?'), bar: inner('bar?') } },
    );
    const paused = await scene.run();
    const pauses = paused.kind === 'pause' ? paused.pauses : [];
    expect(pauses.map(({ request }) => request['prompt']).sort()).toEqual(['bar?', 'foo?']);
    const foo = pauses.find(({ request }) => request['prompt'] === 'foo?');
    await (await scene.open()).answer(foo?.pauseId ?? '', true, { by: 'ada' });
    const one = await scene.run();
    expect(worked).toEqual(['foo']);
    expect(one).toMatchObject({ kind: 'pause', pauses: [{ request: { prompt: 'bar?' } }] });
    const executor = await scene.open();
    await executor.answer(pauseIdOf(one), true, { by: 'ada' });
    expect(await executor.run()).toMatchObject({ kind: 'complete' });
    expect(worked).toEqual(['foo', 'bar']);
  });
});

test('names that are words of the language are nodes like any other', async () => {
  const ids = [
    '__proto__',
    'constructor',
    'toString',
    'hasOwnProperty',
    'valueOf',
    '😀',
    'e\u0301',
    '\u00e9',
  ];
  const pairs = ids.map((id) => [id, dataNode(() => id)] as const);
  const nodes = Object.fromEntries(pairs);
  const scene = await sceneOf(dagOf(ids), { ...nodes, ...ownProto(nodes) });
  const result = await scene.run();
  const { output: all = null } = result as { output?: JsonValue };
  const output = (all as { nodes: Record<string, JsonValue> }).nodes;
  expect(Object.keys(output).sort()).toEqual([...ids].sort());
  for (const id of ids) expect(Object.getOwnPropertyDescriptor(output, id)?.value).toBe(id);
  await scene.verify();
});

/** A spread of `__proto__` would be lost. */
function ownProto(nodes: object): object {
  const value = Object.getOwnPropertyDescriptor(nodes, '__proto__')?.value;
  return Object.defineProperty({}, '__proto__', { value, enumerable: true });
}
