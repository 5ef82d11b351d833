/** Drives a flow in a random order of completions, with plain functions or the cursor. */
import {
  beginNode,
  compileTopology,
  completeLoop,
  completeNode,
  type DryRunChoose,
  type FlowGraph,
  failNode,
  initPlan,
  markRunning,
  markWaiting,
  PlanCursor,
  type PlanOutcome,
  type PlanState,
  planOutcome,
  readyNodes,
} from 'holdfast/flow';

/** The planner, whichever it is, by node id. */
export interface Planner {
  ready(): { readonly ready: readonly string[]; readonly skipped: readonly string[] };
  begin(id: string): { readonly run: number; readonly iteration: number };
  complete(id: string, branches: readonly string[]): void;
  loop(id: string, next: boolean): void;
  fail(id: string): boolean;
  mark(id: string, status: 'waiting' | 'running'): void;
  outcome(): PlanOutcome;
  state(): PlanState;
}

export function plainPlanner(graph: FlowGraph): Planner {
  const plan = initPlan(graph);
  return {
    ready: () => readyNodes(graph, plan),
    begin: (id) => {
      beginNode(plan, id);
      return { run: plan.nodes[id]?.runs ?? 0, iteration: plan.nodes[id]?.iteration ?? 0 };
    },
    complete: (id, branches) => completeNode(graph, plan, id, branches),
    loop: (id, next) => completeLoop(graph, plan, id, next),
    fail: (id) => failNode(graph, plan, id),
    mark: (id, status) => (status === 'waiting' ? markWaiting(plan, id) : markRunning(plan, id)),
    outcome: () => planOutcome(graph, plan),
    state: () => plan,
  };
}

export function cursorPlanner(
  graph: FlowGraph,
  from?: PlanCursor,
): Planner & { cursor: PlanCursor } {
  const topology = compileTopology(graph);
  const cursor = from ?? new PlanCursor(topology);
  const at = (id: string) => topology.indexOf.get(id) ?? -1;
  const ids = (indexes: readonly number[]) => indexes.map((index) => graph.nodes[index]?.id ?? '');
  return {
    cursor,
    ready: () => {
      const { ready, skipped } = cursor.readyNodes();
      return { ready: ids(ready), skipped: ids(skipped) };
    },
    begin: (id) => ({ run: cursor.beginNode(at(id)), iteration: cursor.iteration(at(id)) }),
    complete: (id, branches) => cursor.completeNode(at(id), branches),
    loop: (id, next) => cursor.completeLoop(at(id), next),
    fail: (id) => cursor.failNode(at(id)),
    mark: (id, status) => cursor.mark(at(id), status),
    outcome: () => cursor.outcome(),
    state: () => cursor.state(),
  };
}

export interface Drive {
  readonly graph: FlowGraph;
  readonly choose: DryRunChoose;
  /** Numbers in [0, 1): the order. */
  readonly chance: () => number;
  /** Called after each step. */
  readonly each?: () => void;
}

/** Runs until nothing is ready and nothing runs; returns the step keys in order of their start. */
export function drive(planner: Planner, { graph, choose, chance, each }: Drive): string[] {
  const types = new Map(graph.nodes.map((node) => [node.id, node]));
  const running: { id: string; run: number; iteration: number }[] = [];
  const keys: string[] = [];
  for (;;) {
    const { ready } = planner.ready();
    for (const id of ready) {
      if (running.length > 0 && chance() < 0.3) continue;
      const begun = planner.begin(id);
      keys.push(`${id}#${begun.run}`);
      running.push({ id, ...begun });
      if (chance() < 0.1) planner.mark(id, 'waiting');
    }
    const [done] = running.splice(Math.floor(chance() * running.length), 1);
    if (done === undefined) return keys;
    const { id, run, iteration } = done;
    if (chance() < 0.05) planner.mark(id, 'running');
    const choice = choose(id, run, iteration);
    const node = types.get(id);
    if (choice === 'fail') planner.fail(id);
    else if (node?.type === 'control.loop') {
      planner.loop(id, iteration <= Number(node.config['maxIterations']));
    } else planner.complete(id, choice as readonly string[]);
    each?.();
  }
}
