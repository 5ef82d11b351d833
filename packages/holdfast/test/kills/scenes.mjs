/**
 * The graphs that are killed. Every function appends its name to the effects log (`effect`) and
 * passes the points at which its process may be killed (`point`).
 */

import { draftReviewType } from './draft-review.mjs';
import {
  compileGraph,
  dagGraphType,
  dataNode,
  flowDefinition,
  flowGraphType,
  flowNodes,
  waitNode,
} from './library.mjs';
import { longFlow } from './long-flow.mjs';

/** A dag of these bindings with these edges (`a>b`). */
function dag(nodes, edges = [], data = {}) {
  const definition = {
    id: 'dag',
    definitionVersion: 1,
    data: {
      globalConcurrency: 10,
      keyedConcurrency: {},
      stopOnError: false,
      retryCapPerNode: 0,
      ...data,
    },
    nodes: Object.keys(nodes).map((id) => ({ id, data: { kind: 'required', key: null } })),
    edges: edges.map((id) => {
      const [source, target] = id.split('>');
      return { id, source, target, data: {} };
    }),
  };
  return { graph: compileGraph(dagGraphType, definition), nodes };
}

/** A chain of nodes behind a trigger. */
function chain(functions, ...nodes) {
  const all = [{ id: 'start', type: 'trigger', config: {} }, ...nodes];
  const edges = nodes.map(({ id }, index) => ({
    id: `e${index}`,
    source: all[index].id,
    target: id,
    ...(all[index].type === 'approval' ? { sourceHandle: 'approved' } : {}),
  }));
  return flow({ id: 'flow', nodes: all, edges }, functions);
}

function flow(file, functions, flows = {}) {
  const graph = compileGraph(flowGraphType, flowDefinition(file));
  return { graph, nodes: flowNodes(file, functions, { flows }) };
}

const task = (id, config = {}) => ({ id, type: 'task', config: { function: id, ...config } });

const MORE = 'nodes["count"].output < 3';

/** Node code that marks its effect between two points. */
function code(name, { effect, point }) {
  return async () => {
    await point(`enter:${name}`);
    effect(name);
    await point(`leave:${name}`);
    return name;
  };
}

const scenes = {
  /** `a`, then `b`, which is retry-safe. */
  pair: (tools, { retrySafe }) =>
    dag(
      {
        a: dataNode(code('a', tools), { retrySafe }),
        b: dataNode(code('b', tools), { retrySafe: true }),
      },
      ['a>b'],
    ),

  /** Two that are ready at once; the host has one slot. */
  wide: (tools, { retrySafe }) =>
    dag({
      a: dataNode(code('a', tools), { retrySafe }),
      b: dataNode(code('b', tools), { retrySafe }),
    }),

  /** Three durable sub-steps in one body. */
  steps: (tools, { retrySafe }) =>
    dag({
      a: dataNode(
        async (_input, { step }) => {
          await tools.point('enter:a');
          tools.effect('a');
          await step('one', code('one', tools));
          const two = await step('two', code('two', tools), { retrySafe });
          await step('three', code('three', tools));
          return two;
        },
        { retrySafe: true },
      ),
    }),

  /** A person is asked in the middle. */
  ask: (tools) =>
    dag(
      {
        a: dataNode(code('a', tools), { retrySafe: true }),
        ask: waitNode({ kind: 'approval', prompt: 'Go on?', deadlineMs: 60_000 }),
        b: dataNode(code('b', tools), { retrySafe: true }),
      },
      ['a>ask', 'ask>b'],
    ),

  /** A message is waited for. */
  message: (tools) =>
    dag(
      {
        wait: waitNode({ kind: 'signal', name: 'go' }),
        b: dataNode(code('b', tools), { retrySafe: true }),
      },
      ['wait>b'],
    ),

  /** A node that fails once and is tried again an hour later. */
  backoff: (tools) =>
    chain(
      {
        a: async () => {
          tools.effect('a');
          await tools.point('leave:a');
          if (tools.count('a') === 1) throw new Error('not yet');
          return 'a';
        },
        b: code('b', tools),
      },
      task('a', { retrySafe: true, retry: { max: 1, delayMs: 3_600_000, maxDelayMs: 3_600_000 } }),
      task('b', { retrySafe: true }),
    ),

  /** An hour between two tasks. */
  delay: (tools) =>
    chain(
      { a: code('a', tools), b: code('b', tools) },
      task('a', { retrySafe: true }),
      { id: 'sleep', type: 'delay', config: { delayMs: 3_600_000 } },
      task('b', { retrySafe: true }),
    ),

  /** `a` stays in flight until it is told to stop; `b` comes after it. */
  hold: (tools, { retrySafe }) =>
    dag(
      {
        a: dataNode(
          async (_input, { signal }) => {
            tools.effect('a');
            if (tools.count('a') === 1) await tools.hold(signal);
          },
          { retrySafe },
        ),
        b: dataNode(code('b', tools), { retrySafe: true }),
      },
      ['a>b'],
    ),

  /** Two tasks that can be taken back, and a question to a person. */
  undo: (tools, { retrySafe }) =>
    chain(
      {
        a: code('a', tools),
        b: code('b', tools),
        'undo-a': code('undo-a', tools),
        'undo-b': code('undo-b', tools),
      },
      task('a', { retrySafe, undo: { function: 'undo-a' } }),
      task('b', { retrySafe, undo: { function: 'undo-b' } }),
      { id: 'ask', type: 'approval', config: { prompt: 'Go on?' } },
    ),

  /** A list, three items at a time. */
  map: (tools, { retrySafe }) =>
    chain(
      {
        each: async (item) => {
          await tools.point(`enter:${item}`);
          tools.effect(`item ${item}`);
          await tools.point(`leave:${item}`);
          return item;
        },
      },
      {
        id: 'all',
        type: 'control.map',
        config: { items: '[1, 2, 3, 4, 5]', function: 'each', maxConcurrency: 1, retrySafe },
      },
    ),

  /** A child run of two tasks. */
  child: (tools) => {
    const inner = {
      id: 'inner',
      nodes: [
        { id: 'start', type: 'trigger', config: {} },
        task('x', { retrySafe: true }),
        task('y', { retrySafe: true }),
      ],
      edges: [
        { id: 'e1', source: 'start', target: 'x' },
        { id: 'e2', source: 'x', target: 'y' },
      ],
    };
    const outer = {
      id: 'outer',
      nodes: [
        { id: 'start', type: 'trigger', config: {} },
        { id: 'sub', type: 'subflow', config: { flow: 'inner', input: null } },
        task('b', { retrySafe: true }),
      ],
      edges: [
        { id: 'e1', source: 'start', target: 'sub' },
        { id: 'e2', source: 'sub', target: 'b' },
      ],
    };
    const functions = { x: code('x', tools), y: code('y', tools), b: code('b', tools) };
    return flow(outer, functions, { inner });
  },

  /** Counts from 1 to 3, each in a run of its own. */
  successors: (tools) =>
    flow(
      {
        id: 'count',
        nodes: [
          { id: 'start', type: 'trigger', config: {} },
          task('count', { retrySafe: true, input: '{{ input == null ? 1 : input + 1 }}' }),
          { id: 'more', type: 'control.condition', config: { expression: MORE } },
          { id: 'next', type: 'continue-as-new', config: { input: '{{ nodes["count"].output }}' } },
          { id: 'done', type: 'end', config: {} },
        ],
        edges: [
          { id: 'e1', source: 'start', target: 'count' },
          { id: 'e2', source: 'count', target: 'more' },
          { id: 'e3', source: 'more', target: 'next', sourceHandle: 'true' },
          { id: 'e4', source: 'more', target: 'done', sourceHandle: 'false' },
        ],
      },
      {
        count: (number) => {
          tools.effect(`count ${number}`);
          return number;
        },
      },
    ),

  /** The graph type of seed 003. */
  review: (tools) => ({
    graph: compileGraph(draftReviewType, draftReviewType.definition),
    nodes: {
      draft: dataNode(code('draft', tools)),
      review: dataNode(code('review', tools), { retrySafe: true }),
    },
  }),

  /** About sixty occurrences: fan-out, join, loop, map, sub-steps, retries. */
  long: (tools) => {
    const { file, functions } = longFlow(tools);
    return flow(file, functions);
  },
};

/** The graph and the bindings of a scene. */
export function sceneOf(name, tools, options) {
  return scenes[name](tools, options);
}
