/** Memory as a requirement of a graph. Seed 000. */
import {
  compileGraph,
  createFileMemory,
  createGraphExecutor,
  createInMemoryMemory,
  type DagDefinition,
  dagGraphType,
  dataNode,
  type GraphExecutorOptions,
  type Memory,
  type NodeContext,
  NodeFailure,
  startRun,
} from 'holdfast';
import { createMemoryRunStorage } from 'holdfast/storage/memory';
import { describe, expect, test } from 'vitest';
import { dagOf } from '../executor/world.ts';
import { newDirectory, removeDirectory } from './backings.ts';

const definition: DagDefinition = {
  id: 'remembering',
  definitionVersion: 1,
  data: { globalConcurrency: 2, keyedConcurrency: {}, stopOnError: false, retryCapPerNode: 1 },
  nodes: ['write', 'read'].map((id) => ({ id, data: { kind: 'required', key: null } })),
  edges: [{ id: 'order', source: 'write', target: 'read', data: {} }],
};

/** The dag form, but what its nodes do needs a memory. */
const remembering = compileGraph(
  {
    ...dagGraphType,
    kind: 'remembering-dag',
    compile(value, kernel) {
      const dag = dagGraphType.compile(value, kernel);
      return { ...dag, requirements: { memory: 'required' as const } };
    },
  },
  definition,
);

type Nodes = GraphExecutorOptions['nodes'];

/** A stored run, and executors of it as fresh processes would make them. */
async function stored(nodes: Nodes, graph: GraphExecutorOptions['graph'] = remembering) {
  const storage = createMemoryRunStorage({ namespace: 'test' });
  await startRun(storage, { runId: 'r1', graph, input: null });
  const end = () => storage.eventStore.end({ namespace: 'test', streamId: 'r1' });
  const open = (bindings?: unknown) => {
    const options = { runId: 'r1', graph, storage, nodes };
    // A caller without types gives anything.
    const given = { ...options, bindings } as GraphExecutorOptions;
    return createGraphExecutor(bindings === undefined ? options : given);
  };
  return { open, end };
}

const idle: Nodes = { write: dataNode(() => null), read: dataNode(() => null) };
const memory = createInMemoryMemory({ scope: 'team' });

describe('a graph that requires memory', () => {
  test.each([
    ['no bindings', undefined],
    ['null for bindings', null],
    ['bindings without one', {}],
    ['null', { memory: null }],
    ['text', { memory: 'team' }],
    ['an object that is none', { memory: {} }],
    ['a scope only', { memory: { scope: 'team' } }],
    ['no scope', { memory: { execute: memory.execute } }],
    ['a blank scope', { memory: { scope: ' \t', execute: memory.execute } }],
    ['a scope that is no text', { memory: { scope: 7, execute: memory.execute } }],
    ['an execute that is no function', { memory: { scope: 'team', execute: {} } }],
  ])('is refused without a live Memory, for plain JavaScript callers too: %s', async (...given) => {
    const { open, end } = await stored(idle);
    const before = await end();
    await expect(open(given[1])).rejects.toMatchObject({
      code: 'MISSING_MEMORY',
      message: expect.stringContaining('remembering'),
    });
    expect(await end()).toBe(before);
  });
});

test('the executor passes that same memory object into the node attempt', async () => {
  const seen: NodeContext['memory'][] = [];
  const see = dataNode((_input: unknown, context) => {
    seen.push(context.memory);
    return null;
  });
  // Not one of the library's own: whatever the host calls its memory is passed as it is.
  class HostMemory implements Memory {
    readonly scope = 'host';
    readonly execute = memory.execute;
  }
  const host = new HostMemory();
  const { open } = await stored({ write: see, read: see });
  const executor = await open({ memory: host });
  expect(await executor.run()).toMatchObject({ kind: 'complete' });
  expect(seen).toHaveLength(2);
  for (const one of seen) expect(one).toBe(host);
});

test('a data-only node receives the memory in its context', async () => {
  const scopes: unknown[] = [];
  const look = dataNode(async (_input: unknown, context) => {
    const result = await context.memory?.execute({ command: 'view', path: '/memories' });
    scopes.push([context.memory?.scope, result?.ok]);
    return null;
  });
  const { open } = await stored({ ...idle, read: look });
  await (await open({ memory })).run();
  expect(scopes).toEqual([['team', true]]);
});

test('every attempt of a node gets the memory, also one that runs again', async () => {
  const seen: NodeContext['memory'][] = [];
  const twice = dataNode((_input: unknown, context) => {
    seen.push(context.memory);
    if (seen.length === 1) throw new NodeFailure('NOT_YET', 'once more');
    return null;
  });
  const { open } = await stored({ ...idle, write: twice });
  expect(await (await open({ memory })).run()).toMatchObject({ kind: 'complete' });
  expect(seen).toHaveLength(2);
  for (const one of seen) expect(one).toBe(memory);
});

test('a graph with unused memory gets null, even where one is supplied', async () => {
  const seen: NodeContext['memory'][] = [];
  const see = dataNode((_input: unknown, context) => {
    seen.push(context.memory);
    return null;
  });
  const graph = dagOf(['see']);
  for (const bindings of [undefined, {}, { memory }]) {
    const { open } = await stored({ see }, graph);
    expect(await (await open(bindings)).run()).toMatchObject({ kind: 'complete' });
  }
  expect(seen).toEqual([null, null, null]);
});

test('what one node writes into the memory another reads, in the next run too', async () => {
  const directory = newDirectory();
  const path = '/memories/facts.md';
  const nodes: Nodes = {
    write: dataNode(async (_input: unknown, { memory: live }) => {
      const created = await live?.execute({ command: 'create', path, file_text: 'first\n' });
      if (created?.ok) return 'created';
      const added = { command: 'insert', path, insert_line: 0, insert_text: 'next\n' } as const;
      return (await live?.execute(added))?.ok ? 'added' : 'failed';
    }),
    read: dataNode(async (_input: unknown, { memory: live }) => {
      const result = await live?.execute({ command: 'view', path });
      return result?.ok ? result.value : null;
    }),
  };
  try {
    const texts: unknown[] = [];
    for (let run = 0; run < 2; run += 1) {
      const { open } = await stored(nodes);
      const executor = await open({ memory: createFileMemory({ scope: 'team', directory }) });
      const result = await executor.run();
      texts.push(JSON.stringify(result).match(/"text":"([^"]*)"/)?.[1]);
    }
    expect(texts).toEqual(['first\\n', 'next\\nfirst\\n']);
  } finally {
    removeDirectory(directory);
  }
});

test('a node that runs a child graph gives its memory on', async () => {
  const seen: NodeContext['memory'][] = [];
  const child = await stored({
    ...idle,
    read: dataNode((_input: unknown, context) => {
      seen.push(context.memory);
      return null;
    }),
  });
  const parent = await stored({
    ...idle,
    write: dataNode(async (_input: unknown, context) => {
      const executor = await child.open({ memory: context.memory });
      return (await executor.run(context.signal)).kind;
    }),
  });
  expect(await (await parent.open({ memory })).run()).toMatchObject({ kind: 'complete' });
  expect(seen).toHaveLength(1);
  expect(seen[0]).toBe(memory);
});
