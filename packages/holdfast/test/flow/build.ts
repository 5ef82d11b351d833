/** Flow graphs for tests, from lines of text: `a.handle > b:next`. */
import type { FlowEdge, FlowGraph, FlowNode } from 'holdfast/flow';

type Nodes = Readonly<Record<string, string | readonly [string, Record<string, never> | object]>>;

const defaults: Readonly<Record<string, object>> = {
  task: { function: 'work' },
  'control.condition': { expression: 'true' },
  'control.loop': { maxIterations: 2 },
  approval: { prompt: 'Go on?', onDeadline: 'rejected' },
  signal: { name: 'paid' },
  delay: { delayMs: 1000 },
  subflow: { flow: 'child', input: {} },
  'continue-as-new': { input: {} },
  'control.map': { items: 'input', function: 'work', maxConcurrency: 2, onError: 'fail' },
};

/** `nodes`: id to type, or to [type, config]. `edges`: `source.handle > target:next`. */
export function flow(nodes: Nodes, edges: readonly string[]): FlowGraph {
  return { nodes: Object.entries(nodes).map(node), edges: edges.map(edge) };
}

function node([id, spec]: [string, Nodes[string]]): FlowNode {
  const [type, config] = typeof spec === 'string' ? [spec, undefined] : spec;
  return { id, type, config: { ...defaults[type], ...config } };
}

function edge(line: string, index: number): FlowEdge {
  const [from = '', to = ''] = line.split(' > ');
  const [source = '', sourceHandle] = from.split('.');
  const [target = '', targetHandle] = to.split(':');
  return {
    id: `e${index}`,
    source,
    target,
    ...(sourceHandle === undefined ? {} : { sourceHandle }),
    ...(targetHandle === undefined ? {} : { targetHandle }),
  };
}

/** The seed's worked example: a condition, an approval on true, a join fed by both paths. */
export const shipping: FlowGraph = flow(
  { trigger: 'trigger', big: 'control.condition', approve: 'approval', ship: 'task' },
  ['trigger > big', 'big.true > approve', 'approve.approved > ship', 'big.false > ship'],
);

/** trigger → loop(body: charge → next; done: after). */
export const charging: FlowGraph = flow(
  { trigger: 'trigger', retry: 'control.loop', charge: 'task', after: 'task' },
  ['trigger > retry', 'retry.body > charge', 'charge > retry:next', 'retry.done > after'],
);

/** A loop in a loop, each with `maxIterations` 2. */
export const nested: FlowGraph = flow(
  {
    trigger: 'trigger',
    outer: 'control.loop',
    inner: 'control.loop',
    body: 'task',
    after: 'task',
  },
  [
    'trigger > outer',
    'outer.body > inner',
    'inner.body > body',
    'body > inner:next',
    'inner.done > outer:next',
    'outer.done > after',
  ],
);
