/**
 * A flow run without running anything: the planner driven as an interpreter drives it, with a
 * function in place of execution. The editor's dry run and the tests' `simulate` are this.
 */
import { HoldfastError } from '../base/errors.ts';
import { branchesOf } from './catalogue.ts';
import { beginNode, completeLoop, completeNode, failNode } from './complete.ts';
import { type FlowGraph, type FlowNode, LOOP_TYPE } from './flow-graph.ts';
import { type PlanOutcome, planOutcome } from './outcome.ts';
import { initPlan, type PlanState, planNode } from './plan-state.ts';
import { readyNodes } from './ready.ts';

/**
 * Stands in for execution: the outputs a node chooses, `next` for a loop, or `'fail'`. Undefined
 * is the first output of its type, and for a loop its guard alone: `iteration <= maxIterations`.
 */
export type DryRunChoice = readonly string[] | boolean | 'fail' | undefined;

/** `run` counts starts of the node; `iteration` (loops only) starts again with each outer pass. */
export type DryRunChoose = (id: string, run: number, iteration?: number) => DryRunChoice;

/** What a dry run has found. */
export interface DryRun {
  /** Node ids in the order they ran. */
  readonly order: readonly string[];
  /** Their step keys. */
  readonly keys: readonly string[];
  readonly plan: PlanState;
  readonly outcome: PlanOutcome;
}

/** Limits of a dry run. */
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
  const nodes = new Map(graph.nodes.map((node) => [node.id, node]));
  const order: string[] = [];
  const keys: string[] = [];
  for (;;) {
    const { ready } = readyNodes(graph, plan);
    if (ready.length === 0 || hasFailed(plan)) break;
    for (const id of ready) {
      order.push(id);
      keys.push(beginNode(plan, id));
    }
    if (order.length > maxSteps) throw stepLimit(maxSteps, ready[0] ?? '');
    for (const id of ready) {
      const node = nodes.get(id);
      if (node !== undefined) finish(graph, plan, { node, choose });
    }
  }
  return { order, keys, plan, outcome: planOutcome(graph, plan) };
}

interface Begun {
  readonly node: FlowNode;
  readonly choose: DryRunChoose;
}

function finish(graph: FlowGraph, plan: PlanState, { node, choose }: Begun): void {
  const { id, type, config } = node;
  const { runs, iteration } = planNode(plan, id);
  const choice = iteration === undefined ? choose(id, runs) : choose(id, runs, iteration);
  if (choice === 'fail') failNode(graph, plan, id);
  else if (type === LOOP_TYPE && (choice === undefined || typeof choice === 'boolean')) {
    const goesOn = (iteration ?? 0) <= Number(config['maxIterations'] ?? 0);
    completeLoop(graph, plan, id, choice ?? goesOn);
  } else completeNode(graph, plan, id, chosenOutputs(choice, node));
}

function stepLimit(maxSteps: number, nodeId: string): HoldfastError {
  return new HoldfastError(
    'FLOW_STEP_LIMIT',
    `The flow did not end within ${maxSteps} steps; it was about to run ${JSON.stringify(nodeId)}.`,
    { maxSteps, nodeId },
  );
}

function chosenOutputs(choice: DryRunChoice, node: FlowNode): readonly string[] {
  if (Array.isArray(choice)) return choice as readonly string[];
  if (typeof choice === 'boolean') return [String(choice)];
  return branchesOf(node).slice(0, 1);
}

function hasFailed(plan: PlanState): boolean {
  return Object.values(plan.nodes).some((node) => node.status === 'failed');
}
