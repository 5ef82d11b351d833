/**
 * A plan state in columns: typed arrays by node and edge index, with the plain form and a compact
 * saved one.
 */
import type { CompiledTopology } from './compiled-topology.ts';
import {
  type EdgeState,
  initPlan,
  type NodeStatus,
  type PlanState,
  planNode,
} from './plan-state.ts';

/** A plan as compact JSON: one letter per node and edge, numbers only where they are not zero. */
export interface SavedPlan {
  readonly nodes: string;
  readonly edges: string;
  /** `[index, runs]`. */
  readonly runs: readonly (readonly [number, number])[];
  /** `[index, iteration]`. */
  readonly iterations: readonly (readonly [number, number])[];
  /** `[index, outputs]`, but where a single `out` was chosen: that is `[index]`. */
  readonly branches: readonly (readonly [number] | readonly [number, readonly string[]])[];
}

const STATUSES: readonly NodeStatus[] = [
  'pending',
  'running',
  'waiting',
  'succeeded',
  'failed',
  'skipped',
  'rolled_back',
];
const EDGE_STATES: readonly EdgeState[] = ['pending', 'active', 'inactive'];
const STATUS_LETTERS = 'prwsfxb';
const EDGE_LETTERS = 'pai';
const STATUS_CODES: Readonly<Record<NodeStatus, number>> = {
  pending: 0,
  running: 1,
  waiting: 2,
  succeeded: 3,
  failed: 4,
  skipped: 5,
  rolled_back: 6,
};
const EDGE_CODES: Readonly<Record<EdgeState, number>> = { pending: 0, active: 1, inactive: 2 };
/** Shared by the many nodes that chose it. */
const OUT: readonly string[] = ['out'];

export class PlanColumns {
  readonly runs: Int32Array;
  readonly iterations: Int32Array;
  readonly branches: (readonly string[] | undefined)[];
  readonly #topology: CompiledTopology;
  readonly #statuses: Uint8Array;
  readonly #edges: Uint8Array;

  constructor(topology: CompiledTopology, saved?: SavedPlan) {
    this.#topology = topology;
    this.runs = new Int32Array(topology.nodeCount);
    this.iterations = new Int32Array(topology.nodeCount);
    this.branches = new Array<readonly string[] | undefined>(topology.nodeCount).fill(undefined);
    this.#statuses = new Uint8Array(topology.nodeCount);
    this.#edges = new Uint8Array(topology.edgeCount);
    if (saved !== undefined) this.#load(saved);
  }

  status(node: number): NodeStatus {
    return STATUSES[this.#statuses[node] as number] as NodeStatus;
  }

  setStatus(node: number, status: NodeStatus): void {
    this.#statuses[node] = STATUS_CODES[status];
  }

  edge(edge: number): EdgeState {
    return EDGE_STATES[this.#edges[edge] as number] as EdgeState;
  }

  setEdge(edge: number, state: EdgeState): void {
    this.#edges[edge] = EDGE_CODES[state];
  }

  state(): PlanState {
    const { graph, isLoop } = this.#topology;
    const plan = initPlan(graph);
    graph.nodes.forEach(({ id }, node) => {
      const entry = planNode(plan, id);
      entry.status = this.status(node);
      entry.runs = this.runs[node] as number;
      if (isLoop[node] === 1) entry.iteration = this.iterations[node] as number;
      const branches = this.branches[node];
      if (branches !== undefined) entry.branches = [...branches];
    });
    graph.edges.forEach(({ id }, edge) => {
      plan.edges[id] = this.edge(edge);
    });
    return plan;
  }

  save(): SavedPlan {
    return {
      nodes: Array.from(this.#statuses, (code) => STATUS_LETTERS[code]).join(''),
      edges: Array.from(this.#edges, (code) => EDGE_LETTERS[code]).join(''),
      runs: numbersOf(this.runs),
      iterations: numbersOf(this.iterations),
      branches: this.branches.flatMap((branches, node) =>
        branches === undefined
          ? []
          : [isOut(branches) ? ([node] as const) : ([node, branches] as const)],
      ),
    };
  }

  #load(saved: SavedPlan): void {
    for (let node = 0; node < saved.nodes.length; node += 1) {
      this.#statuses[node] = STATUS_LETTERS.indexOf(saved.nodes[node] as string);
    }
    for (let edge = 0; edge < saved.edges.length; edge += 1) {
      this.#edges[edge] = EDGE_LETTERS.indexOf(saved.edges[edge] as string);
    }
    for (const [node, runs] of saved.runs) this.runs[node] = runs;
    for (const [node, iteration] of saved.iterations) this.iterations[node] = iteration;
    for (const [node, branches = OUT] of saved.branches) this.branches[node] = branches;
  }
}

function isOut(branches: readonly string[]): boolean {
  return branches.length === 1 && branches[0] === 'out';
}

function numbersOf(column: Int32Array): readonly (readonly [number, number])[] {
  const found: (readonly [number, number])[] = [];
  column.forEach((value, index) => {
    if (value !== 0) found.push([index, value]);
  });
  return found;
}
