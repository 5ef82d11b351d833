/**
 * A flow as rows of a tree: branches are indented below the node that opens them, and what joins
 * them goes on at its level. A chain stays at one level.
 *
 * A node is a branch of its immediate dominator, the last node that every way to it passes.
 */
import type { FlowFile } from 'holdfast';
import { edgeHandle, type FlowEdge, isBackEdge } from 'holdfast/flow';

export interface LayoutRow {
  readonly nodeId: string;
  readonly type: string;
  /** The lines of the tree before it. */
  readonly guide: string;
  /** The output that opens this branch, when it has a name. */
  readonly label: string | null;
}

/** The rows of a flow without errors, the trigger first. */
export function flowLayout(flow: Pick<FlowFile, 'nodes' | 'edges'>): readonly LayoutRow[] {
  const tree = new DominatorTree(flow);
  const rows: LayoutRow[] = [];
  const place = (first: readonly number[], guides: Guides): void => {
    const sequence = [...first];
    let guide = guides.first;
    for (let node = sequence.shift(); node !== undefined; node = sequence.shift()) {
      const { id, type } = flow.nodes[node] ?? { id: '', type: '' };
      const label = first.includes(node) ? guides.label : null;
      rows.push({ nodeId: id, type, guide, label });
      guide = guides.rest;
      const { branches, next } = tree.childrenOf(node);
      branches.forEach((branch, index) => {
        place([branch.node], branchGuides(guides.rest, branch.label, index < branches.length - 1));
      });
      sequence.unshift(...next);
    }
  };
  for (const root of tree.roots) place([root], { first: '', rest: '', label: null });
  return rows;
}

interface Guides {
  readonly first: string;
  readonly rest: string;
  readonly label: string | null;
}

function branchGuides(outer: string, label: string | null, isFollowed: boolean): Guides {
  return {
    first: `${outer}${isFollowed ? '├ ' : '└ '}`,
    rest: `${outer}${isFollowed ? '│ ' : '  '}`,
    label,
  };
}

interface Branch {
  readonly node: number;
  readonly label: string | null;
}

class DominatorTree {
  readonly roots: number[] = [];
  readonly #isLoop: readonly boolean[];
  /** Forward edges into each node. */
  readonly #inputs: readonly (readonly Source[])[];
  readonly #children: readonly number[][];

  constructor({ nodes, edges }: Pick<FlowFile, 'nodes' | 'edges'>) {
    const indexOf = new Map(nodes.map(({ id }, index) => [id, index]));
    this.#isLoop = nodes.map(({ type }) => type === 'control.loop');
    this.#inputs = forwardInputs(edges, indexOf, nodes.length);
    this.#children = nodes.map(() => []);
    const depth: number[] = [];
    const parent: number[] = [];
    for (const node of topologicalOrder(this.#inputs)) {
      const above = this.#inputs[node]?.map(({ from }) => from) ?? [];
      const dominator = above.length === 0 ? -1 : above.reduce((a, b) => meet(a, b, parent, depth));
      parent[node] = dominator;
      depth[node] = dominator < 0 ? 0 : (depth[dominator] ?? 0) + 1;
      if (dominator < 0) this.roots.push(node);
      else this.#children[dominator]?.push(node);
    }
  }

  /** The one that leaves by `out` where the others leave by `error`, `timeout` and the like. */
  #isMainWay(child: number, children: readonly number[]): boolean {
    const isPlain = (node: number) => this.#inputs[node]?.[0]?.handle === 'out';
    return isPlain(child) && children.filter(isPlain).length === 1;
  }

  /** What is indented below a node, and what goes on behind it. */
  childrenOf(node: number): { readonly branches: readonly Branch[]; readonly next: number[] } {
    const children = this.#children[node] ?? [];
    const branches: Branch[] = [];
    const next: number[] = [];
    for (const child of children) {
      const inputs = this.#inputs[child] ?? [];
      const [input] = inputs;
      const goesOn = this.#isLoop[node]
        ? input?.handle !== 'body'
        : children.length === 1 || inputs.length > 1 || this.#isMainWay(child, children);
      if (goesOn) next.push(child);
      else
        branches.push({
          node: child,
          label: input?.handle === 'out' ? null : (input?.handle ?? null),
        });
    }
    return { branches, next };
  }
}

interface Source {
  readonly from: number;
  readonly handle: string;
}

function forwardInputs(
  edges: readonly FlowEdge[],
  indexOf: ReadonlyMap<string, number>,
  count: number,
): readonly (readonly Source[])[] {
  const inputs: Source[][] = Array.from({ length: count }, () => []);
  for (const edge of edges) {
    const from = indexOf.get(edge.source);
    const to = indexOf.get(edge.target);
    if (from === undefined || to === undefined || isBackEdge(edge)) continue;
    inputs[to]?.push({ from, handle: edgeHandle(edge) });
  }
  return inputs;
}

/** Declaration order where edges leave it open; nodes of a cycle come last. */
function topologicalOrder(inputs: readonly (readonly Source[])[]): readonly number[] {
  const open = inputs.map((list) => list.length);
  const targets: number[][] = inputs.map(() => []);
  inputs.forEach((list, to) => {
    for (const { from } of list) targets[from]?.push(to);
  });
  const order = open.flatMap((count, node) => (count === 0 ? [node] : []));
  for (const node of order) {
    for (const target of targets[node] ?? []) {
      const left = (open[target] ?? 0) - 1;
      open[target] = left;
      if (left === 0) order.push(target);
    }
  }
  return order;
}

/** The nearest common ancestor; -1 stands above all roots. */
function meet(a: number, b: number, parent: readonly number[], depth: readonly number[]): number {
  let left = a;
  let right = b;
  while (left !== right && left >= 0 && right >= 0) {
    if ((depth[left] ?? 0) >= (depth[right] ?? 0)) left = parent[left] ?? -1;
    else right = parent[right] ?? -1;
  }
  return left === right ? left : -1;
}
