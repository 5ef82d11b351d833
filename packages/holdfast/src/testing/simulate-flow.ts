/** Seed 004's test helper: drives the planner the way an interpreter does. */
import { type DryRunChoose, dryRun } from '../flow/dry-run.ts';
import type { FlowGraph } from '../flow/flow-graph.ts';

/**
 * The node ids in the order they ran; `choose(id, run)` stands in for execution and returns the
 * outputs chosen, or `next` for a loop. Seed 004, "Adding planner behaviour".
 *
 * @example simulate(graph, (id) => (id === 'big' ? ['false'] : ['out']))
 */
export function simulate(graph: FlowGraph, choose: DryRunChoose): string[] {
  return [...dryRun(graph, choose).order];
}
