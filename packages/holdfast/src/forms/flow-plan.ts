/**
 * The plan that a flow's fold works on: the incremental cursor, or the plain functions over a whole
 * state. Both give the same answers; the fold is written once.
 */

import type { CompiledTopology } from '../flow/compiled-topology.ts';
import { beginNode, completeLoop, completeNode, failNode } from '../flow/complete.ts';
import {
  type PlanOutcome,
  type PlanRejection,
  planOutcome,
  planRejections,
} from '../flow/outcome.ts';
import type { PlanCursor, ReadyIndexes } from '../flow/plan-cursor.ts';
import {
  clonePlan,
  type NodeStatus,
  type PlanNode,
  type PlanState,
  planNode,
} from '../flow/plan-state.ts';
import { readyNodes } from '../flow/ready.ts';

export type FlowPlan = Pick<
  PlanCursor,
  | 'topology'
  | 'status'
  | 'runs'
  | 'iteration'
  | 'branches'
  | 'isActive'
  | 'readyNodes'
  | 'beginNode'
  | 'completeNode'
  | 'completeLoop'
  | 'failNode'
  | 'mark'
  | 'outcome'
  | 'rejections'
  | 'state'
>;

/** The plain functions over a copy of a whole plan state, by node index. */
export class PlainPlan implements FlowPlan {
  readonly topology: CompiledTopology;
  readonly #state: PlanState;

  constructor(topology: CompiledTopology, state: PlanState) {
    this.topology = topology;
    this.#state = clonePlan(state);
  }

  status(node: number): NodeStatus {
    return this.#at(node).status;
  }

  runs(node: number): number {
    return this.#at(node).runs;
  }

  iteration(loop: number): number {
    return this.#at(loop).iteration ?? 0;
  }

  branches(node: number): readonly string[] | undefined {
    return this.#at(node).branches;
  }

  isActive(edge: number): boolean {
    return this.#state.edges[this.topology.graph.edges[edge]?.id ?? ''] === 'active';
  }

  readyNodes(): ReadyIndexes {
    const { ready, skipped } = readyNodes(this.topology.graph, this.#state);
    const indexes = (ids: readonly string[]) =>
      ids.map((id) => this.topology.indexOf.get(id) ?? -1);
    return { ready: indexes(ready), skipped: indexes(skipped) };
  }

  beginNode(node: number): number {
    beginNode(this.#state, this.#id(node));
    return this.runs(node);
  }

  completeNode(node: number, branches: readonly string[]): void {
    completeNode(this.topology.graph, this.#state, this.#id(node), branches);
  }

  completeLoop(loop: number, next: boolean): void {
    completeLoop(this.topology.graph, this.#state, this.#id(loop), next);
  }

  failNode(node: number): boolean {
    return failNode(this.topology.graph, this.#state, this.#id(node));
  }

  mark(node: number, status: 'waiting' | 'running' | 'rolled_back'): void {
    this.#at(node).status = status;
  }

  outcome(): PlanOutcome {
    return planOutcome(this.topology.graph, this.#state);
  }

  rejections(): readonly PlanRejection[] {
    return planRejections(this.topology.graph, this.#state);
  }

  state(): PlanState {
    return this.#state;
  }

  #id(node: number): string {
    return this.topology.graph.nodes[node]?.id ?? '';
  }

  #at(node: number): PlanNode {
    return planNode(this.#state, this.#id(node));
  }
}
