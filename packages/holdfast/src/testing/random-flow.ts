/**
 * Random valid flows, and random choices for them, from a seed.
 *
 * Invariants: the same seed gives the same flow; every flow passes `validateGraph`; its shape has
 * nested loops, joins, conditions, switches, approvals and `error` edges.
 */
import type { JsonObject } from '../base/json.ts';
import { branchesOf } from '../flow/catalogue.ts';
import type { DryRunChoose } from '../flow/dry-run.ts';
import type { FlowEdge, FlowGraph, FlowNode } from '../flow/flow-graph.ts';
import type { NodeType } from '../flow/node-config.ts';
import { hashedNumber, seededNumbers } from './seeded-numbers.ts';

/** What a random flow looks like. */
export interface RandomFlowOptions {
  readonly seed: number;
  /** How many nodes the flow has, from 1. */
  readonly nodes: number;
  /** How deep loops may nest; 3 when left out. */
  readonly maxLoopDepth?: number;
  /** Whether outputs may be left unconnected; false when left out. */
  readonly looseEnds?: boolean;
  /** Whether nodes are listed near their neighbours, as people list them; false when left out. */
  readonly listedInOrder?: boolean;
}

/** An output that nothing is connected to yet. */
interface OpenEnd {
  readonly source: string;
  readonly handle: string;
}

/**
 * A random valid flow with exactly `nodes` nodes.
 *
 * @example const graph = randomFlow({ seed: 7, nodes: 100 });
 */
export function randomFlow(options: RandomFlowOptions): FlowGraph {
  return new FlowBuilder(options).build();
}

/**
 * Random outputs for every start of every node, from a seed: any one output, for a loop its guard.
 * The same node and run always choose the same, in whatever order they are asked.
 *
 * @example dryRun(graph, randomChoices(graph, 7)).outcome
 */
export function randomChoices(graph: FlowGraph, seed: number): DryRunChoose {
  const nodes = new Map(graph.nodes.map((node, index) => [node.id, { node, index }]));
  const handled = new Set(
    graph.edges.filter((edge) => edge.sourceHandle === 'error').map((edge) => edge.source),
  );
  return (id, run) => {
    const found = nodes.get(id);
    if (found === undefined || found.node.type === 'control.loop') return undefined;
    const chance = hashedNumber(seed, found.index * 65_537 + run);
    const branches = branchesOf(found.node);
    if (handled.has(id) && chance < 0.3) return 'fail';
    return branches.length < 2 ? branches : [branches[Math.floor(chance * branches.length)] ?? ''];
  };
}

const KINDS: readonly (readonly [NodeType, number])[] = [
  ['task', 10],
  ['control.condition', 3],
  ['control.switch', 2],
  ['control.loop', 3],
  ['approval', 1],
  ['signal', 1],
  ['delay', 1],
  ['control.map', 1],
];

const CONFIGS: Readonly<Partial<Record<NodeType, JsonObject>>> = {
  task: { function: 'work' },
  'control.condition': { expression: 'input == null' },
  'control.switch': {
    cases: [
      { output: 'a', expression: 'input == 1' },
      { output: 'b', expression: 'input == 2' },
    ],
    otherwise: 'c',
  },
  'control.loop': { maxIterations: 2 },
  'control.map': { items: '[1, 2]', function: 'work' },
  approval: { prompt: 'Go on?' },
  delay: { delayMs: 10 },
  signal: { name: 'paid' },
};

class FlowBuilder {
  readonly #nodes: FlowNode[] = [];
  readonly #edges: FlowEdge[] = [];
  readonly #next: () => number;
  readonly #options: RandomFlowOptions;

  constructor(options: RandomFlowOptions) {
    this.#options = options;
    this.#next = seededNumbers(options.seed);
  }

  build(): FlowGraph {
    const open = this.#node('trigger', []);
    while (this.#left() > 0) this.#grow(open, 0);
    const nodes = this.#options.listedInOrder === true ? this.#nodes : this.#shuffled();
    return { nodes, edges: this.#edges };
  }

  #left(): number {
    return this.#options.nodes - this.#nodes.length;
  }

  /** Adds one node (or a loop with its body) behind some of the open ends. */
  #grow(open: OpenEnd[], depth: number): void {
    const type = this.#pick(depth);
    const added = this.#node(type, this.#take(open));
    if (type === 'control.loop') open.push(...this.#loop(added, depth + 1));
    else if (added.length > 1 && this.#next() < 0.85) this.#diamond(added, open);
    else open.push(...added);
  }

  /** Leads outputs together again, through a task each or directly: few runs take all of a flow. */
  #diamond(ends: readonly OpenEnd[], open: OpenEnd[]): void {
    const arms: OpenEnd[] = [];
    for (const end of ends) {
      const through = this.#left() > 1 && this.#next() < 0.6;
      const [arm = end, ...others] = through ? this.#node('task', [end]) : [end];
      arms.push(arm);
      open.push(...others);
    }
    open.push(...(this.#left() > 0 ? this.#node('task', arms) : arms));
  }

  /** Grows a body behind the loop's `body` output and leads all of it back to `next`. */
  #loop(outputs: readonly OpenEnd[], depth: number): OpenEnd[] {
    const loop = outputs[0]?.source ?? '';
    const body: OpenEnd[] = [{ source: loop, handle: 'body' }];
    const end = this.#nodes.length + Math.min(this.#left(), 1 + Math.floor(this.#next() * 6));
    do this.#grow(body, depth);
    while (this.#nodes.length < end && this.#left() > 0);
    for (const output of body) this.#edge(output, loop, true);
    return [{ source: loop, handle: 'done' }];
  }

  /** One open end, sometimes a few: those make a join. */
  #take(open: OpenEnd[]): readonly OpenEnd[] {
    const wanted = this.#next() < 0.35 ? 1 + Math.floor(this.#next() * 4) : 1;
    const taken: OpenEnd[] = [];
    while (taken.length < wanted && open.length > 0) {
      const at = Math.floor(this.#next() * open.length);
      const last = open.pop() as OpenEnd;
      if (at < open.length) {
        taken.push(open[at] as OpenEnd);
        open[at] = last;
      } else taken.push(last);
    }
    return taken;
  }

  #pick(depth: number): NodeType {
    const { maxLoopDepth = 3 } = this.#options;
    // A loop needs room for a body.
    const loops = depth < maxLoopDepth && this.#left() > 1;
    const kinds = KINDS.filter(([type]) => loops || type !== 'control.loop');
    let chance = this.#next() * kinds.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [type, weight] of kinds) {
      chance -= weight;
      if (chance < 0) return type;
    }
    return 'task';
  }

  #node(type: NodeType, inputs: readonly OpenEnd[]): OpenEnd[] {
    const id = `n${this.#nodes.length}`;
    const node = { id, type, config: CONFIGS[type] ?? {} };
    this.#nodes.push(node);
    for (const input of inputs) this.#edge(input, id, false);
    const ends = branchesOf(node).map((handle) => ({ source: id, handle }));
    if (type === 'task' && this.#next() < 0.25) ends.push({ source: id, handle: 'out' });
    if (type === 'task' && this.#next() < 0.2) ends.push({ source: id, handle: 'error' });
    // The first end stays: a body node must be able to come back, and a flow to go on.
    return ends.filter((_end, at) => at === 0 || !this.#drops());
  }

  #drops(): boolean {
    return this.#options.looseEnds === true && this.#next() < 0.2;
  }

  #edge(from: OpenEnd, target: string, back: boolean): void {
    this.#edges.push({
      id: `e${this.#edges.length}`,
      source: from.source,
      target,
      ...(from.handle === 'out' ? {} : { sourceHandle: from.handle }),
      ...(back ? { targetHandle: 'next' } : {}),
    });
  }

  /** Graph order must not follow the edges. */
  #shuffled(): readonly FlowNode[] {
    const nodes = [...this.#nodes];
    for (let at = nodes.length - 1; at > 0; at -= 1) {
      const other = Math.floor(this.#next() * (at + 1));
      [nodes[at], nodes[other]] = [nodes[other] as FlowNode, nodes[at] as FlowNode];
    }
    return nodes;
  }
}
