/**
 * A flow run without running anything: the planner driven as an interpreter drives it, with a
 * function in place of execution. The editor's dry run and the tests' `simulate` are this.
 */
import { HoldfastError } from '../base/errors.ts';
import { beginNode, completeLoop, completeNode, failNode } from './complete.ts';
import { type FlowGraph, LOOP_TYPE, OUT_HANDLE } from './flow-graph.ts';
import { type PlanOutcome, planOutcome } from './outcome.ts';
import { initPlan, type PlanState, planNode } from './plan-state.ts';
import { readyNodes } from './ready.ts';

/**
 * Stands in for execution: the outputs a node chooses, `next` for a loop, or `'fail'`. Undefined
 * is `['out']`, and for a loop its guard alone: `iteration <= maxIterations`.
 */
export type DryRunChoice = readonly string[] | boolean | 'fail' | undefined;

/** `run` counts starts of the node; `iteration` (loops only) starts again with each outer pass. */
export type DryRunChoose = (id: string, run: number, iteration?: number) => DryRunChoice;

export interface DryRun {
  /** Node ids in the order they ran. */
  readonly order: readonly string[];
  /** Their step keys. */
  readonly keys: readonly string[];
  readonly plan: PlanState;
  readonly outcome: PlanOutcome;
}

export interface DryRunOptions {
  /** Stop with `FLOW_STEP_LIMIT` after this many starts. */
  readonly maxSteps?: number;
}

const MAX_STEPS = 100_000;

/**
 * Runs a flow in thought: every ready node is begun, then each is completed as `choose` says.
 * Throws `FLOW_STEP_LIMIT` when it does not end.
 *
 * @example dryRun(graph, (id) => (id === 'big' ? ['false'] : undefined)).order
 */
export function dryRun(
  graph: FlowGraph,
  choose: DryRunChoose,
  { maxSteps = MAX_STEPS }: DryRunOptions = {},
): DryRun {
  const plan = initPlan(graph);
  const types = new Map(graph.nodes.map((node) => [node.id, node]));
  const order: string[] = [];
  const keys: string[] = [];
  for (;;) {
    const { ready } = readyNodes(graph, plan);
    if (ready.length === 0 || hasFailed(plan)) break;
    for (const id of ready) {
      order.push(id);
      keys.push(beginNode(plan, id));
    }
    if (order.length > maxSteps) {
      const last = ready[0] ?? '';
      throw new HoldfastError(
        'FLOW_STEP_LIMIT',
        `The flow did not end within ${maxSteps} steps; the last node was ${JSON.stringify(last)}.`,
        { maxSteps, nodeId: last },
      );
    }
    for (const id of ready) finish(graph, plan, id, choose);
  }
  return { order, keys, plan, outcome: planOutcome(graph, plan) };

  function finish(flow: FlowGraph, state: PlanState, id: string, pick: DryRunChoose): void {
    const { runs, iteration } = planNode(state, id);
    const choice = iteration === undefined ? pick(id, runs) : pick(id, runs, iteration);
    const node = types.get(id);
    if (choice === 'fail') failNode(flow, state, id);
    else if (node?.type === LOOP_TYPE && !Array.isArray(choice)) {
      const max = Number(node.config['maxIterations'] ?? 0);
      completeLoop(
        flow,
        state,
        id,
        choice === undefined ? (iteration ?? 0) <= max : choice === true,
      );
    } else completeNode(flow, state, id, branchesOf(choice, node?.type));
  }
}

function branchesOf(choice: DryRunChoice, type: string | undefined): readonly string[] {
  if (Array.isArray(choice)) return choice as readonly string[];
  if (typeof choice === 'boolean') return [String(choice)];
  return type === 'end' || type === 'continue-as-new' ? [] : [OUT_HANDLE];
}

function hasFailed(plan: PlanState): boolean {
  return Object.values(plan.nodes).some((node) => node.status === 'failed');
}
