/**
 * The incremental cursor of a dag: the same answers as the plain functions, with work per event
 * that depends on the node's neighbours only.
 *
 * Invariants: `missing[i]` is the number of predecessors of i that are not satisfied; a worker is
 * ready when it is pending and misses none; the counters agree with the states.
 */
import { type JsonValue, sealJson, setOwn } from '../base/json.ts';
import type { GraphCommand } from '../graph/commands.ts';
import type { GraphCursor, GraphEvent } from '../graph/graph-type.ts';
import { pauseOf } from './dag-decide.ts';
import { type DagNodePlan, type DagPlan, dispatchOf, endOf, failOf } from './dag-plan.ts';
import {
  type DagNodeState,
  type DagState,
  FIRST_NODE_STATE,
  isSatisfied,
  nextNodeState,
  nodeIdOf,
} from './dag-state.ts';
import { ReadyQueue } from './ready-queue.ts';

export class DagCursor implements GraphCursor<DagState> {
  readonly #plan: DagPlan;
  readonly #states: DagNodeState[];
  readonly #missing: Int32Array;
  readonly #workers: ReadyQueue;
  readonly #finalizers: ReadyQueue;
  readonly #openByKey = new Map<string, number>();
  readonly #paused = new Set<number>();
  readonly #failedRequired: DagNodePlan[] = [];
  #inFlight = 0;
  #openWorkers = 0;
  #readyWorkers = 0;

  constructor(plan: DagPlan, saved?: DagState) {
    this.#plan = plan;
    this.#states = plan.nodes.map(({ id }) => saved?.nodes[id] ?? FIRST_NODE_STATE);
    this.#missing = new Int32Array(plan.nodes.length);
    this.#workers = new ReadyQueue(plan.nodes.length);
    this.#finalizers = new ReadyQueue(plan.nodes.length);
    for (const node of plan.nodes) this.#missing[node.index] = this.#countMissing(node);
    for (const node of plan.nodes) this.#enter(node, this.#at(node.index));
  }

  decide(): readonly GraphCommand[] {
    const plan = this.#plan;
    const stopped = plan.data.stopOnError && this.#failedRequired.length > 0;
    if (stopped && !plan.hasFinalizers) return [failOf(this.#failedInOrder(), this.#at)];
    const started = this.#startable(stopped);
    if (started.length > 0)
      return sealJson(started.map((node) => dispatchOf(plan, node, this.#at)));
    if (this.#inFlight > 0) return [];
    if (this.#paused.size === 0) return [endOf(plan, this.#at)];
    return [pauseOf(this.#at(Math.min(...this.#paused)).pauseReason)];
  }

  apply(event: GraphEvent): void {
    const nodeId = nodeIdOf(event);
    const index = nodeId === undefined ? undefined : this.#plan.indexOf.get(nodeId);
    const node = index === undefined ? undefined : this.#plan.nodes[index];
    if (node === undefined) return;
    const before = this.#at(node.index);
    const after = nextNodeState(node.id, before, event, node);
    if (after === before) return;
    this.#leave(node, before);
    this.#states[node.index] = after;
    this.#enter(node, after);
    if (isSatisfied(node.kind, after.status)) this.#release(node);
  }

  state(): DagState {
    const nodes: Record<string, DagNodeState> = {};
    for (const { id, index } of this.#plan.nodes) setOwn(nodes, id, this.#at(index));
    return sealJson({ nodes: sealJson(nodes) });
  }

  save(): JsonValue {
    return this.state();
  }

  readonly #at = (index: number): DagNodeState => this.#states[index] ?? FIRST_NODE_STATE;

  #startable(stopped: boolean): readonly DagNodePlan[] {
    const { data, nodes } = this.#plan;
    const workersLeft = this.#openWorkers > 0 || (!stopped && this.#readyWorkers > 0);
    if (workersLeft && stopped) return [];
    const queue = workersLeft ? this.#workers : this.#finalizers;
    const slots = data.globalConcurrency - this.#inFlight - this.#paused.size;
    if (slots <= 0) return [];
    const indexes = queue.first(
      slots,
      (key) => this.#freeOf(key),
      (index) => this.#at(index).status === 'pending' && this.#missing[index] === 0,
    );
    return indexes.flatMap((index) => nodes[index] ?? []);
  }

  #freeOf(key: string | null): number {
    if (key === null) return Number.POSITIVE_INFINITY;
    return (this.#plan.data.keyedConcurrency[key] ?? 1) - (this.#openByKey.get(key) ?? 0);
  }

  #failedInOrder(): readonly DagNodePlan[] {
    return this.#failedRequired.toSorted((a, b) => a.index - b.index);
  }

  #countMissing({ predecessors }: DagNodePlan): number {
    return predecessors.filter((index) => {
      const kind = this.#plan.nodes[index]?.kind ?? 'required';
      return !isSatisfied(kind, this.#at(index).status);
    }).length;
  }

  /** One predecessor less to wait for. A satisfied node stays satisfied. */
  #release({ successors }: DagNodePlan): void {
    for (const index of successors) {
      const left = (this.#missing[index] ?? 0) - 1;
      this.#missing[index] = left;
      const node = this.#plan.nodes[index];
      if (left !== 0 || node === undefined) continue;
      const state = this.#at(index);
      // A foreign log may have dispatched it early: then it is counted in already.
      if (state.status === 'pending') this.#enter(node, state);
    }
  }

  /** Counts a node in under its status. */
  #enter(node: DagNodePlan, { status }: DagNodeState): void {
    const worker = node.kind !== 'finalizer';
    if (status === 'pending') {
      if (this.#missing[node.index] !== 0) return;
      if (worker) this.#readyWorkers += 1;
      (worker ? this.#workers : this.#finalizers).add(node.index, node.key);
    } else if (status === 'in-flight' || status === 'paused') {
      this.#countOpen(node, status, 1);
    } else if (status === 'failed' && node.kind === 'required') {
      this.#failedRequired.push(node);
    }
  }

  /** Undoes `#enter`; ends are never left. */
  #leave(node: DagNodePlan, { status }: DagNodeState): void {
    if (status === 'in-flight' || status === 'paused') this.#countOpen(node, status, -1);
    else if (node.kind !== 'finalizer' && this.#missing[node.index] === 0) this.#readyWorkers -= 1;
  }

  #countOpen(node: DagNodePlan, status: 'in-flight' | 'paused', by: 1 | -1): void {
    if (node.kind !== 'finalizer') this.#openWorkers += by;
    if (node.key !== null) {
      this.#openByKey.set(node.key, (this.#openByKey.get(node.key) ?? 0) + by);
    }
    if (status === 'in-flight') this.#inFlight += by;
    else if (by === 1) this.#paused.add(node.index);
    else this.#paused.delete(node.index);
  }
}
