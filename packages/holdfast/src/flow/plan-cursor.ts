/**
 * The plan of one run, kept incrementally: the answers of the plain planner functions, in time that
 * grows with what changed and not with the flow.
 *
 * Invariants: `state()` equals what the plain functions make of the same calls; skips are resolved
 * by `readyNodes`, as there. `busy` counts, per loop, the nodes right in its body that are not
 * quiet plus the loops right in its body with a count above zero: zero means that the whole region
 * is quiet. Nodes are named by their index in `topology`, whose graph has no errors: so bodies are
 * closed, only a quiet region is ever reset, and what is ready stays so until it is begun.
 */
import { add, type CompiledTopology, NONE } from './compiled-topology.ts';
import { BODY_HANDLE, DONE_HANDLE, ERROR_HANDLE } from './flow-graph.ts';
import { joinVerdict } from './join-rule.ts';
import { byCause, type PlanOutcome, type PlanRejection, rejectionOf } from './outcome.ts';
import { PlanColumns, type SavedPlan } from './plan-columns.ts';
import type { NodeStatus, PlanState } from './plan-state.ts';
import { SortedQueue } from './sorted-queue.ts';

/** What `readyNodes` of a cursor found, by node index in graph order. */
export interface ReadyIndexes {
  readonly ready: readonly number[];
  readonly skipped: readonly number[];
}

const NOTHING: readonly number[] = Object.freeze([]);

/**
 * An incremental planner.
 *
 * @example
 * const cursor = new PlanCursor(compileTopology(graph));
 * for (const node of cursor.readyNodes().ready) cursor.beginNode(node);
 */
export class PlanCursor {
  readonly topology: CompiledTopology;
  readonly #columns: PlanColumns;
  /** By node: forward inputs that are pending, and that are active; active back-edges. */
  readonly #pendingInputs: Int32Array;
  readonly #activeInputs: Int32Array;
  readonly #activeBack: Int32Array;
  readonly #busy: Int32Array;
  /** By node: 1 while it counts as not quiet for the loop around it. */
  readonly #isBusy: Uint8Array;
  /** Nodes whose inputs may have settled. */
  readonly #candidates: SortedQueue;
  /** Loops to re-enter whose region may have become quiet. */
  readonly #returning: SortedQueue;
  readonly #ready: SortedQueue;
  readonly #counts: Record<NodeStatus, number>;
  readonly #regions = new Map<number, Int32Array>();

  constructor(topology: CompiledTopology, saved?: SavedPlan) {
    const { nodeCount } = topology;
    this.topology = topology;
    this.#columns = new PlanColumns(topology, saved);
    this.#pendingInputs = new Int32Array(nodeCount);
    this.#activeInputs = new Int32Array(nodeCount);
    this.#activeBack = new Int32Array(nodeCount);
    this.#busy = new Int32Array(nodeCount);
    this.#isBusy = new Uint8Array(nodeCount);
    this.#candidates = new SortedQueue(nodeCount);
    this.#returning = new SortedQueue(nodeCount);
    this.#ready = new SortedQueue(nodeCount);
    this.#counts = {
      pending: 0,
      running: 0,
      waiting: 0,
      succeeded: 0,
      failed: 0,
      skipped: 0,
      rolled_back: 0,
    };
    this.#countEdges();
    this.#countNodes();
  }

  status(node: number): NodeStatus {
    return this.#columns.status(node);
  }

  runs(node: number): number {
    return this.#columns.runs[node] as number;
  }

  /** How often a loop started since an enclosing loop last reset it. */
  iteration(loop: number): number {
    return this.#columns.iterations[loop] as number;
  }

  branches(node: number): readonly string[] | undefined {
    return this.#columns.branches[node];
  }

  isActive(edge: number): boolean {
    return this.#columns.edge(edge) === 'active';
  }

  /** How many nodes have this status. */
  count(status: NodeStatus): number {
    return this.#counts[status];
  }

  /** The plain `readyNodes`, by index. */
  readyNodes(): ReadyIndexes {
    const skipped = this.#settle();
    return { ready: this.#ready.sorted(), skipped };
  }

  /** Whether anything could be started; resolves skips. */
  hasReady(): boolean {
    this.#settle();
    return this.#ready.size > 0;
  }

  /** The plain `beginNode`; returns the run. */
  beginNode(node: number): number {
    this.#ready.remove(node);
    const runs = add(this.#columns.runs, node, 1);
    if (this.topology.isLoop[node] === 1) add(this.#columns.iterations, node, 1);
    this.#setStatus(node, 'running');
    return runs;
  }

  /** The plain `completeNode`. */
  completeNode(node: number, branches: readonly string[]): void {
    this.#setStatus(node, 'succeeded');
    this.#columns.branches[node] = branches;
    const { backEdges, outEdges, handles, isBack, targets } = this.topology;
    const backEnd = backEdges.starts[node + 1] as number;
    for (let row = backEdges.starts[node] as number; row < backEnd; row += 1) {
      this.#setEdge(backEdges.items[row] as number, 'pending');
    }
    const outEnd = outEdges.starts[node + 1] as number;
    for (let row = outEdges.starts[node] as number; row < outEnd; row += 1) {
      const edge = outEdges.items[row] as number;
      const active = branches.includes(handles[edge] as string);
      this.#setEdge(edge, active ? 'active' : 'inactive');
      if (active && isBack[edge] === 1) this.#setStatus(targets[edge] as number, 'pending');
    }
  }

  /** The plain `completeLoop`. */
  completeLoop(loop: number, next: boolean): void {
    if (!next) {
      this.completeNode(loop, [DONE_HANDLE]);
      return;
    }
    const region = this.#region(loop);
    for (const node of region) {
      if (this.topology.isLoop[node] === 1) this.#columns.iterations[node] = 0;
      this.#setStatus(node, 'pending');
    }
    for (const node of region) this.#resetOutEdges(node, null);
    this.completeNode(loop, [BODY_HANDLE]);
    this.#resetOutEdges(loop, DONE_HANDLE);
  }

  /** The plain `failNode`. */
  failNode(node: number): boolean {
    const handled = this.isConnected(node, ERROR_HANDLE);
    if (handled) this.completeNode(node, [ERROR_HANDLE]);
    else this.#setStatus(node, 'failed');
    return handled;
  }

  /** Sets `waiting`, `running` again, or `rolled_back`. */
  mark(node: number, status: 'waiting' | 'running' | 'rolled_back'): void {
    this.#setStatus(node, status);
  }

  /** The plain `isSettled`, but for the skips that it resolves. */
  isSettled(): boolean {
    return this.#counts.running === 0 && this.#counts.waiting === 0 && !this.hasReady();
  }

  /** The plain `planOutcome`, but for the skips that it resolves. */
  outcome(): PlanOutcome {
    if (this.#counts.running > 0) return 'running';
    if (this.#counts.failed > 0) return 'failed';
    if (this.#counts.waiting > 0 || this.hasReady()) return 'running';
    return this.rejections().length > 0 ? 'rejected' : 'succeeded';
  }

  /** The plain `planRejections`; looks at every node. */
  rejections(): readonly PlanRejection[] {
    const { nodes } = this.topology.graph;
    const found = nodes.flatMap(({ id, type }, node) => {
      const branches = this.#columns.branches[node];
      const settled = { type, status: this.status(node), ...(branches && { branches }) };
      const rejection = rejectionOf(settled, (branch) => this.isConnected(node, branch));
      return rejection === null ? [] : [{ nodeId: id, ...rejection }];
    });
    return byCause(found);
  }

  isConnected(node: number, handle: string): boolean {
    const { outEdges, handles } = this.topology;
    const end = outEdges.starts[node + 1] as number;
    for (let row = outEdges.starts[node] as number; row < end; row += 1) {
      if (handles[outEdges.items[row] as number] === handle) return true;
    }
    return false;
  }

  /** The plain state. */
  state(): PlanState {
    return this.#columns.state();
  }

  /** What the constructor continues from: compact JSON. */
  save(): SavedPlan {
    return this.#columns.save();
  }

  #countEdges(): void {
    for (let edge = 0; edge < this.topology.edgeCount; edge += 1) {
      this.#countEdge(edge, 1);
    }
  }

  #countNodes(): void {
    for (let node = 0; node < this.topology.nodeCount; node += 1) {
      this.#counts[this.status(node)] += 1;
      this.#reconsider(node);
    }
  }

  #countEdge(edge: number, change: number): void {
    const target = this.topology.targets[edge] as number;
    const state = this.#columns.edge(edge);
    if (this.topology.isBack[edge] === 1) {
      if (state === 'active') add(this.#activeBack, target, change);
    } else if (state === 'pending') add(this.#pendingInputs, target, change);
    else if (state === 'active') add(this.#activeInputs, target, change);
  }

  #setEdge(edge: number, state: 'pending' | 'active' | 'inactive'): void {
    if (this.#columns.edge(edge) === state) return;
    this.#countEdge(edge, -1);
    this.#columns.setEdge(edge, state);
    this.#countEdge(edge, 1);
    this.#reconsider(this.topology.targets[edge] as number);
  }

  #resetOutEdges(node: number, only: string | null): void {
    const { outEdges, handles } = this.topology;
    const end = outEdges.starts[node + 1] as number;
    for (let row = outEdges.starts[node] as number; row < end; row += 1) {
      const edge = outEdges.items[row] as number;
      if (only === null || handles[edge] === only) this.#setEdge(edge, 'pending');
    }
  }

  #setStatus(node: number, status: NodeStatus): void {
    const before = this.status(node);
    if (before === status) return;
    this.#counts[before] -= 1;
    this.#counts[status] += 1;
    this.#columns.setStatus(node, status);
    this.#reconsider(node);
  }

  /** Something about this node changed: queue it if it may have become ready, count it if busy. */
  #reconsider(node: number): void {
    const status = this.status(node);
    if (status !== 'pending') {
      this.#ready.remove(node);
      this.#setBusy(node, status === 'running' || status === 'waiting');
      return;
    }
    if ((this.#activeBack[node] as number) > 0) {
      this.#setBusy(node, true);
      this.#returning.push(node);
      return;
    }
    if ((this.#pendingInputs[node] as number) === 0) this.#candidates.push(node);
  }

  #setBusy(node: number, busy: boolean): void {
    if ((this.#isBusy[node] === 1) === busy) return;
    this.#isBusy[node] = busy ? 1 : 0;
    let loop = this.topology.innermost[node] as number;
    while (loop !== NONE) {
      const count = add(this.#busy, loop, busy ? 1 : -1);
      if (count !== (busy ? 1 : 0)) return;
      if (!busy) this.#regionIsQuiet(loop);
      loop = this.topology.innermost[loop] as number;
    }
  }

  #regionIsQuiet(loop: number): void {
    if (this.status(loop) !== 'pending' || (this.#activeBack[loop] as number) === 0) return;
    this.#returning.push(loop);
  }

  /** The skip pass, then the loops whose region is quiet. Returns what was skipped, in order. */
  #settle(): readonly number[] {
    let skipped: number[] | undefined;
    for (let node = this.#candidates.pop(); node !== NONE; node = this.#candidates.pop()) {
      if (!this.#judge(node)) continue;
      skipped ??= [];
      skipped.push(node);
    }
    for (let loop = this.#returning.pop(); loop !== NONE; loop = this.#returning.pop()) {
      const returns = this.status(loop) === 'pending' && (this.#activeBack[loop] as number) > 0;
      if (returns && this.#busy[loop] === 0) this.#ready.push(loop);
    }
    return skipped === undefined ? NOTHING : skipped.sort((a, b) => a - b);
  }

  /** Settles one candidate; true when it is skipped. */
  #judge(node: number): boolean {
    if (this.status(node) !== 'pending' || (this.#activeBack[node] as number) > 0) return false;
    if ((this.#pendingInputs[node] as number) > 0) return false;
    const { starts } = this.topology.inputs;
    const inputs = {
      total: (starts[node + 1] as number) - (starts[node] as number),
      pending: this.#pendingInputs[node] as number,
      active: this.#activeInputs[node] as number,
    };
    const verdict = joinVerdict(inputs, this.runs(node));
    if (verdict === 'ready') {
      this.#ready.push(node);
      this.#setBusy(node, true);
    } else if (verdict === 'skip') {
      this.#setStatus(node, 'skipped');
      this.#deactivate(node);
    }
    return verdict === 'skip';
  }

  #deactivate(node: number): void {
    const { outEdges } = this.topology;
    const end = outEdges.starts[node + 1] as number;
    for (let row = outEdges.starts[node] as number; row < end; row += 1) {
      this.#setEdge(outEdges.items[row] as number, 'inactive');
    }
  }

  /** A loop's region, found once. */
  #region(loop: number): Int32Array {
    const known = this.#regions.get(loop);
    if (known !== undefined) return known;
    const region = findRegion(this.topology, loop);
    this.#regions.set(loop, region);
    return region;
  }
}

/** The nodes of a loop's region, by index. */
function findRegion(topology: CompiledTopology, loop: number): Int32Array {
  const { outEdges, targets, isBack, handles } = topology;
  const seen = new Set<number>();
  const found: number[] = [loop];
  for (let node = found.pop(); node !== undefined; node = found.pop()) {
    const end = outEdges.starts[node + 1] as number;
    for (let row = outEdges.starts[node] as number; row < end; row += 1) {
      const edge = outEdges.items[row] as number;
      const target = targets[edge] as number;
      if (isBack[edge] === 1 || (node === loop && handles[edge] !== BODY_HANDLE)) continue;
      if (seen.has(target)) continue;
      seen.add(target);
      found.push(target);
    }
  }
  return Int32Array.from(seen);
}
