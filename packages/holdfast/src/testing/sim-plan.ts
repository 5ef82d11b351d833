/** Random graphs of every form, with what each of their nodes will do. */

import type { JsonObject } from '../base/json.ts';
import { localPlan } from '../executor/start-run.ts';
import type { FlowNode } from '../flow/flow-graph.ts';
import { dagGraphType } from '../forms/dag.ts';
import type { DagDefinition } from '../forms/dag-definition.ts';
import { flowGraphType } from '../forms/flow.ts';
import { type FlowFile, flowDefinition } from '../forms/flow-definition.ts';
import { compileGraph } from '../graph/compile.ts';
import type { ExecutionLaneDescription } from '../graph/execution-target.ts';
import type { AnyCompiledGraph, GraphEvent } from '../graph/graph-type.ts';
import { type ResolvedPlanSnapshot, resolveGraphPlan } from '../graph/plan.ts';
import type { RunPreflightPolicy } from '../graph/preflight-policy.ts';
import type { SeededRandom } from './seeded-random.ts';
import { planEngineExtras, type WorldExtras, withExtraActs } from './sim-extras.ts';
import { simulatedFlow } from './sim-flow.ts';
import type { EnginePlan, LanePlan } from './sim-lane-plan.ts';
import { describeLane, planEngine, planLanes, planPreflight } from './sim-lanes.ts';
import type { SimulationForm } from './sim-options.ts';
import { type ScriptDefinition, type ScriptNodeData, scriptGraphType } from './sim-script.ts';

export interface StepPlan {
  readonly name: string;
  readonly retrySafe: boolean;
  readonly fails: boolean;
  /** Whether the node waits for the step; if not, it fails before the step has ended. */
  readonly isAwaited: boolean;
}

/** Node code that does something once for each time it runs. */
export interface WorkPlan {
  readonly kind: 'work';
  readonly retrySafe: boolean;
  /** How long it takes; 0 = it is not even asynchronous. */
  readonly workMs: number;
  readonly steps: readonly StepPlan[];
  /** How many attempts of one occurrence fail before one succeeds. */
  readonly failures: number;
  /** Whether a failure says that trying again is no use. */
  readonly final: boolean;
  readonly policy: 'none' | 'allow' | 'wait' | 'deny';
  /** How long the policy takes to say so. */
  readonly policyMs: number;
  readonly timeoutMs: number | null;
  readonly graceMs: number;
  /** What it does when it is told to stop. */
  readonly onAbort: 'stop' | 'finish' | 'ignore';
  readonly resultBytes: number;
  /** What it does wrong beside its work; only where secrets are known and results are kept. */
  readonly quirk?: WorkQuirk;
}

/** What node code may let slip, or return. */
export const WORK_QUIRKS = [
  'logs a secret',
  'returns a secret',
  'fails with a secret',
  'returns much',
  'returns much with a secret',
] as const;

/** The same of a secret of several lines, in texts that are cleaned and cut. */
export const EXTRA_QUIRKS = [
  'logs lines of a secret',
  'fails with lines of a secret',
  'fails with a code of lines',
  'fails a step with lines',
  'asks for lines',
] as const;

export type WorkQuirk = (typeof WORK_QUIRKS)[number] | (typeof EXTRA_QUIRKS)[number];

export interface WaitPlan {
  readonly kind: 'approval' | 'signal';
  readonly name: string;
  readonly deadlineMs: number | null;
  readonly onDeadline: 'result' | 'fail' | 'default';
}

export interface ChildPlan {
  readonly kind: 'child';
  readonly plan: RunPlan;
}

/** A node of a flow that runs no code of the simulation. */
export interface BuiltInPlan {
  readonly kind: 'built-in';
}

export type NodePlan = WorkPlan | WaitPlan | ChildPlan | BuiltInPlan | EnginePlan;

export interface RunPlan {
  readonly graph: AnyCompiledGraph & PlainFold;
  readonly nodes: ReadonlyMap<string, NodePlan>;
  /** The flow, when the run is one. */
  readonly flow: FlowFile | null;
  /** The lanes of its nodes, and what the engines behind them do. */
  readonly lanes: readonly LanePlan[];
  /** How they are checked before anything is dispatched. */
  readonly preflight: RunPreflightPolicy | null;
}

/** The plain operations of a graph, whatever its state is. */
export interface PlainFold {
  readonly initialState: () => unknown;
  readonly reduce: (state: never, event: GraphEvent) => unknown;
}

export interface PlanRequest {
  readonly id: string;
  readonly form: SimulationForm;
  readonly nodes: number;
  /** How deep child runs may nest. */
  readonly depth: number;
  /** Whether engines may be checked first: two owners at once would begin their checks for ever. */
  readonly mayCheck?: boolean;
  /** The lanes that a child run shares with the run above it. */
  readonly lanes?: readonly LanePlan[];
  /** What takes part beside the plan, in runs with engines. */
  readonly extras?: WorldExtras | null;
}

/** A random run. Graph ids are unique within one simulation. */
export function planRun(random: SeededRandom, request: PlanRequest): RunPlan {
  if (request.form === 'flow') return planFlow(random, request);
  if (request.form === 'lanes') return planWithLanes(random, request);
  const ids = Array.from({ length: request.nodes }, (_none, index) => `n${index}`);
  const edges = edgesOf(random, ids);
  const graph =
    request.form === 'dag'
      ? compileGraph(dagGraphType, dagOf(random, request.id, ids, edges))
      : compileGraph(scriptGraphType, scriptOf(random, request.id, ids, edges));
  const nodes = new Map<string, NodePlan>();
  for (const id of ids) nodes.set(id, planNode(random, { ...request, id: `${request.id}-${id}` }));
  return { graph, nodes, flow: null, lanes: [], preflight: null };
}

/** A dag or a script of which most nodes are backed by engines; child runs share the lanes. */
function planWithLanes(random: SeededRandom, request: PlanRequest): RunPlan {
  const { id, depth } = request;
  const planned = request.lanes ?? lanesOf(random, request);
  const ids = Array.from({ length: request.nodes }, (_none, index) => `n${index}`);
  const nodes = new Map<string, NodePlan>();
  for (const node of ids) {
    if (random.chance(0.7)) nodes.set(node, planBacked(random, `${id}-${node}`, planned, request));
  }
  const used = new Set([...nodes.values()].map((node) => 'laneId' in node && node.laneId));
  const lanes = planned.filter((lane) => used.has(lane.id));
  for (const node of ids) {
    const other = { ...request, id: `${id}-${node}`, depth: depth - 1, mayCheck: false, lanes };
    if (!nodes.has(node)) nodes.set(node, planBesideEngines(random, other));
  }
  const mayCheck = request.mayCheck === true && lanes.length > 0;
  const preflight = mayCheck ? planPreflight(random, lanes) : null;
  const graph = graphWithLanes(random, { id, ids }, laneOfNode(nodes, lanes));
  return { graph, nodes, flow: null, lanes, preflight };
}

function lanesOf(random: SeededRandom, { extras }: PlanRequest): readonly LanePlan[] {
  const lanes = planLanes(random);
  if (extras == null) return lanes;
  return lanes.map((lane) => withExtraActs(random.fork(`acts of ${lane.id}`), lane));
}

function planBacked(
  random: SeededRandom,
  id: string,
  lanes: readonly LanePlan[],
  { extras }: PlanRequest,
): EnginePlan {
  const plan = planEngine(random, lanes);
  if (extras == null) return plan;
  return { ...plan, extras: planEngineExtras(random.fork(`extras of ${id}`), extras.budget) };
}

/** A node that no engine backs, in a run whose storage knows a secret and takes artifacts. */
function planBesideEngines(random: SeededRandom, request: PlanRequest): NodePlan {
  const plan = planNode(random, request);
  if (plan.kind === 'child' && request.lanes?.length !== 0 && random.chance(0.7)) {
    const nodes = random.integer(1, 3);
    return { kind: 'child', plan: planWithLanes(random, { ...request, nodes }) };
  }
  if (plan.kind !== 'work') return plan;
  const quirk = random.chance(0.4) ? { quirk: random.pick(WORK_QUIRKS) } : {};
  const more = random.fork(`quirk of ${request.id}`);
  const isExtra = request.extras != null && more.chance(0.4);
  return { ...plan, ...(isExtra ? { quirk: more.pick(EXTRA_QUIRKS) } : quirk) };
}

type LaneOf = (nodeId: string) => { readonly lane?: ExecutionLaneDescription };

function laneOfNode(nodes: ReadonlyMap<string, NodePlan>, lanes: readonly LanePlan[]): LaneOf {
  return (nodeId) => {
    const plan = nodes.get(nodeId);
    const lane = plan?.kind === 'engine' ? lanes.find(({ id }) => id === plan.laneId) : undefined;
    return lane === undefined ? {} : { lane: describeLane(lane) };
  };
}

function graphWithLanes(
  random: SeededRandom,
  { id, ids }: { readonly id: string; readonly ids: readonly string[] },
  laneOf: LaneOf,
): RunPlan['graph'] {
  const edges = edgesOf(random, ids);
  if (random.chance(0.6)) {
    const dag = dagOf(random, id, ids, edges);
    const nodes = dag.nodes.map((node) => ({
      ...node,
      data: { ...node.data, ...laneOf(node.id) },
    }));
    return compileGraph(dagGraphType, { ...dag, nodes });
  }
  const script = scriptOf(random, id, ids, edges);
  const nodes = script.nodes.map((node) => ({
    ...node,
    data: { ...node.data, ...laneOf(node.id) },
  }));
  return compileGraph(scriptGraphType, { ...script, nodes });
}

function planFlow(random: SeededRandom, request: PlanRequest): RunPlan {
  const { id, nodes: count, depth } = request;
  const flow = simulatedFlow(random, { id, nodes: count, subflows: depth > 0 });
  const nodes = new Map<string, NodePlan>();
  for (const node of flow.nodes) nodes.set(node.id, planFlowNode(random, node, request));
  const graph = compileGraph(flowGraphType, flowDefinition(flow));
  return { graph, nodes, flow, lanes: [], preflight: null };
}

function planFlowNode(random: SeededRandom, node: FlowNode, request: PlanRequest): NodePlan {
  const { config } = node;
  switch (node.type) {
    case 'task':
      return { ...planWork(random), retrySafe: config['retrySafe'] === true, steps: [] };
    case 'control.map':
      // The attempt only goes through its items: those have the effects, each as a step.
      return { ...planWork(random), retrySafe: true, steps: [itemStep(config)] };
    case 'subflow': {
      const id = String(config['flow']);
      const nodes = random.integer(1, 3);
      return { kind: 'child', plan: planRun(random, { ...request, id, nodes, depth: 0 }) };
    }
    default:
      return { kind: 'built-in' };
  }
}

function itemStep(config: JsonObject): StepPlan {
  return { name: 'item', retrySafe: config['retrySafe'] === true, fails: false, isAwaited: true };
}

type Edge = {
  readonly id: string;
  readonly source: string;
  readonly target: string;
  readonly data: JsonObject;
};

function edgesOf(random: SeededRandom, ids: readonly string[]): readonly Edge[] {
  const density = random.pick([0, 0.2, 0.5, 0.9]);
  return ids.flatMap((source, from) =>
    ids
      .slice(from + 1)
      .filter(() => random.chance(density))
      .map((target) => ({ id: `${source}>${target}`, source, target, data: {} })),
  );
}

function dagOf(
  random: SeededRandom,
  id: string,
  ids: readonly string[],
  edges: readonly Edge[],
): DagDefinition {
  const inner = new Set(edges.flatMap(({ source, target }) => [source, target]));
  return {
    id,
    definitionVersion: 1,
    data: {
      globalConcurrency: random.pick([1, 2, 100]),
      keyedConcurrency: { red: 1, blue: 2 },
      stopOnError: random.chance(0.2),
      retryCapPerNode: random.integer(0, 2),
    },
    nodes: ids.map((node) => ({
      id: node,
      data: {
        kind:
          !inner.has(node) && random.chance(0.3)
            ? 'finalizer'
            : random.pick(['required', 'required', 'optional'] as const),
        key: random.pick([null, null, 'red', 'blue']),
      },
    })),
    edges,
  };
}

function scriptOf(
  random: SeededRandom,
  id: string,
  ids: readonly string[],
  edges: readonly Edge[],
): ScriptDefinition {
  const node = (): ScriptNodeData => ({
    delayMs: random.pick([0, 0, 0, 10, 5_000]),
    retries: random.integer(0, 2),
    retryDelayMs: random.pick([0, 0, 20, 60_000]),
    rounds: random.pick([1, 1, 1, 2, 3]),
    undo: random.chance(0.4),
    optional: random.chance(0.3),
  });
  return {
    id,
    definitionVersion: 1,
    data: { failFast: random.chance(0.5), saysPause: random.chance(0.5) },
    nodes: ids.map((nodeId) => ({ id: nodeId, data: node() })),
    edges,
  };
}

function planNode(random: SeededRandom, request: PlanRequest): NodePlan {
  const kind = random.pick(['work', 'work', 'work', 'work', 'approval', 'signal', 'child']);
  if (kind === 'approval' || kind === 'signal') {
    return {
      kind,
      name: random.pick(['red', 'blue']),
      deadlineMs: random.pick([null, null, 0, 1_000, 120_000]),
      onDeadline: random.pick(['result', 'fail', 'default'] as const),
    };
  }
  if (kind === 'child' && request.depth > 0) {
    const { id, depth } = request;
    const form = random.pick(['dag', 'script'] as const);
    const nodes = random.integer(1, 3);
    return { kind, plan: planRun(random, { id, form, nodes, depth: depth - 1 }) };
  }
  return planWork(random);
}

function planWork(random: SeededRandom): WorkPlan {
  const workMs = random.pick([0, 0, 1, 10, 300, 8_000, 90_000]);
  const steps = workMs > 0 && random.chance(0.3) ? planSteps(random) : [];
  const timeoutMs = random.chance(0.15) ? random.pick([5, 1_000, 9_000]) : null;
  return {
    kind: 'work',
    retrySafe: steps.length > 0 || random.chance(0.4),
    workMs,
    steps,
    failures: random.pick([0, 0, 0, 1, 2, 5]),
    final: random.chance(0.2),
    policy: random.pick(['none', 'none', 'none', 'none', 'allow', 'wait', 'deny'] as const),
    policyMs: random.pick([0, 0, 5, 400]),
    timeoutMs,
    graceMs: random.pick([0, 5, 5_000]),
    onAbort: random.pick(['stop', 'stop', 'finish', 'ignore'] as const),
    resultBytes: random.pick([0, 0, 300, 1_300]),
  };
}

function planSteps(random: SeededRandom): readonly StepPlan[] {
  return Array.from({ length: random.integer(1, 3) }, (_none, index) => ({
    name: `s${index}`,
    retrySafe: random.chance(0.3),
    fails: random.chance(0.1),
    isAwaited: !random.chance(0.05),
  }));
}

/** The plan that a run is stored with: the graph's own, and how its lanes are checked. */
export function resolvedPlanOf({ graph, preflight }: RunPlan): ResolvedPlanSnapshot {
  const local = localPlan(graph);
  if (preflight === null) return local;
  const { package: identity, permissions, executionLanes } = local.plan;
  return resolveGraphPlan(graph.describe(), {
    package: identity,
    admission: { package: identity, permissions: permissions.admitted },
    executionLanes: executionLanes.map(({ id, effective, fallbacks }) => ({
      id,
      effective,
      fallbacks,
    })),
    preflight,
  });
}
