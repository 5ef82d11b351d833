/** Node bindings that do what a plan says, in one process of a simulation. */

import {
  type ActionDecision,
  type NodeBinding,
  type NodeBindings,
  nodeBinding,
} from '../attempt/binding.ts';
import type { NodeContext } from '../attempt/node-context.ts';
import { NodeFailure } from '../attempt/outcome.ts';
import type { JsonValue } from '../base/json.ts';
import type { AgentPart } from '../engine/engine.ts';
import type { TokenBudget } from '../engine/token-budget.ts';
import type { FlowFile } from '../forms/flow-definition.ts';
import { dataNode } from '../nodes/data-node.ts';
import { type EngineNodeOptions, engineNode } from '../nodes/engine-node.ts';
import type { DefinedFlow } from '../nodes/flow/define-flow.ts';
import { flowNodes } from '../nodes/flow/flow-nodes.ts';
import { waitNode } from '../nodes/wait-node.ts';
import { FLOW_FUNCTION } from './sim-flow.ts';
import type { EnginePlan } from './sim-lane-plan.ts';
import type { NodePlan, RunPlan, WaitPlan, WorkPlan, WorkQuirk } from './sim-plan.ts';
import type { SimProcess } from './sim-process.ts';
import { SECRET_LINES, SIMULATED_SECRET, secretForm, textWithLines } from './sim-secret.ts';

/** What node code needs of the simulation around it. */
export interface WorkHost {
  readonly process: SimProcess;
  readonly enter: (context: NodeContext) => void;
  readonly effect: (context: NodeContext) => void;
  readonly step: (context: NodeContext, name: string, retrySafe: boolean) => void;
  /** The budget of a node's engine calls in this process, or null. */
  readonly budgetOf: (plan: EnginePlan) => TokenBudget | null;
  /** What becomes a secret later, where it is none yet; else null. */
  readonly lateSecret: string | null;
  /** A place at which the process may die. */
  readonly mayDie: (place: string) => void;
}

/** Bindings for every node of a plan. */
export function plannedNodes(plan: RunPlan, host: WorkHost): NodeBindings {
  if (plan.flow !== null) return plannedFlow(plan, plan.flow, host);
  return Object.fromEntries([...plan.nodes].map(([id, node]) => [id, bindingOf(node, host)]));
}

function bindingOf(plan: NodePlan, host: WorkHost): NodeBinding {
  switch (plan.kind) {
    case 'work':
      return workNode(plan, host);
    case 'child':
      return childNode(plan.plan, host);
    case 'engine':
      return backedNode(plan, host);
    case 'built-in':
      return nodeBinding({ retrySafe: true, run: () => null });
    default:
      return waitingNode(plan);
  }
}

/** A flow's own bindings, over one function that does what the plan of its node says. */
function plannedFlow(plan: RunPlan, flow: FlowFile, host: WorkHost): NodeBindings {
  const flows: Record<string, DefinedFlow> = {};
  for (const node of plan.nodes.values()) {
    if (node.kind !== 'child' || node.plan.flow === null) continue;
    flows[node.plan.flow.id] = {
      flow: node.plan.flow,
      functions: { [FLOW_FUNCTION]: flowWork(node.plan, host) },
    };
  }
  return flowNodes(flow, { [FLOW_FUNCTION]: flowWork(plan, host) }, { flows });
}

function flowWork(plan: RunPlan, host: WorkHost) {
  return (_input: unknown, context: NodeContext & { readonly index?: number }) => {
    const node = plan.nodes.get(context.nodeId);
    if (node?.kind !== 'work') throw new Error(`Node ${context.nodeId} has no work to do.`);
    if (context.index !== undefined) return mapItem(node, host, context, context.index);
    return node.workMs === 0 ? doAtOnce(node, host, context) : doInTime(node, host, context);
  };
}

/** One item of a map: its effect is a step's. */
async function mapItem(
  plan: WorkPlan,
  host: WorkHost,
  context: NodeContext,
  index: number,
): Promise<JsonValue> {
  await work(plan, host, context);
  host.mayDie(`${context.position} item ${index}`);
  host.step(context, `item/${index}`, plan.steps[0]?.retrySafe === true);
  if (index < plan.failures && attemptOf(context) === 1) throw new Error('The item failed.');
  return { index };
}

function childNode(plan: RunPlan, host: WorkHost): NodeBinding {
  const nodes = plannedNodes(plan, host);
  return nodeBinding({
    retrySafe: true,
    run: () => null,
    childGraph: { graph: plan.graph, nodes },
    child: (input) => ({ graph: plan.graph, nodes, input }),
  });
}

function backedNode(plan: EnginePlan, host: WorkHost): NodeBinding {
  const { retrySafe, timeoutMs, graceMs, policy, keepsLargeResults, hasNoPrompt } = plan;
  const prompt = () => {
    if (hasNoPrompt) throw new Error(`There is no prompt for ${SIMULATED_SECRET}.`);
    return 'Do as planned.';
  };
  return engineNode({
    prompt: plan.promptMs === 0 ? prompt : () => host.process.sleep(plan.promptMs).then(prompt),
    retrySafe,
    timeoutMs,
    graceMs,
    ...(keepsLargeResults ? { largeResult: 'artifact' as const } : {}),
    ...(policy === 'none' ? {} : { decideAction: () => decisionOf(policy, host) }),
    ...extraOptions(plan, host),
  });
}

function extraOptions(plan: EnginePlan, host: WorkHost): Partial<EngineNodeOptions> {
  const { extras } = plan;
  if (extras === undefined) return {};
  const tokenBudget = host.budgetOf(plan);
  const { callTokens, outputBytes, contract, parse } = extras;
  return {
    ...(tokenBudget === null ? {} : { tokenBudget }),
    ...(callTokens === null ? {} : { callTokens }),
    ...(outputBytes === null ? {} : { outputBytes }),
    ...(contract === 'none' ? {} : { resultContract: { schema: {}, validate: checks[contract] } }),
    ...(parse === 'none' ? {} : { parseResult: parse === 'throws' ? throwing : shouting }),
  };
}

type Check = (value: JsonValue) => unknown;

const checks: Readonly<Record<'value' | 'wraps' | 'promises', Check>> = {
  value: (value) => {
    if (typeof value === 'string') throw new Error(`It wants a value, not ${value}.`);
    return value;
  },
  wraps: (value) => ({ wrapped: value }),
  promises: async (value) => value,
};

function shouting(final: AgentPart): JsonValue {
  return { shouted: final.kind === 'assistant' ? final.text : final.value };
}

function throwing(final: AgentPart): never {
  throw new Error(`Nobody can read ${JSON.stringify(final)}.`);
}

function waitingNode(plan: WaitPlan): NodeBinding {
  const { kind, name, deadlineMs, onDeadline } = plan;
  const ending =
    onDeadline === 'result' ? { result: { late: true } } : { failWith: 'SIMULATED_DEADLINE' };
  return waitNode({
    ...(kind === 'approval' ? { kind, prompt: 'Go on?' } : { kind, name }),
    ...(deadlineMs === null ? {} : { deadlineMs }),
    ...(onDeadline === 'default' ? {} : { onDeadline: ending }),
  });
}

function workNode(plan: WorkPlan, host: WorkHost): NodeBinding {
  const { policy, timeoutMs, retrySafe, graceMs } = plan;
  const run = plan.workMs === 0 ? doAtOnce : doInTime;
  return dataNode<JsonValue>((_input, context) => run(plan, host, context), {
    retrySafe,
    graceMs,
    ...(plan.quirk?.startsWith('returns much') ? { largeResult: 'artifact' as const } : {}),
    ...(timeoutMs === null ? {} : { timeoutMs }),
    ...(policy === 'none' && plan.quirk !== 'asks for lines'
      ? {}
      : { decideAction: () => decided(plan, policy, host) }),
  });
}

async function decided(
  plan: WorkPlan,
  policy: WorkPlan['policy'],
  host: WorkHost,
): Promise<ActionDecision> {
  if (plan.policyMs > 0) await host.process.sleep(plan.policyMs);
  if (plan.quirk !== 'asks for lines') return decisionOf(policy, host);
  return { ...decisionOf('wait', host), reason: textWithLines(plan.workMs) } as ActionDecision;
}

function decisionOf(policy: WorkPlan['policy'], { lateSecret }: WorkHost): ActionDecision {
  const reason = 'The simulation asks.';
  if (policy === 'allow' || policy === 'none') return { kind: 'allow' };
  if (policy === 'deny') return { kind: policy, reason };
  return { kind: policy, reason, request: lateSecret === null ? {} : { of: lateSecret } };
}

function doAtOnce(plan: WorkPlan, host: WorkHost, context: NodeContext): JsonValue {
  host.enter(context);
  host.mayDie(`${context.position} before its effect`);
  host.effect(context);
  host.mayDie(`${context.position} after its effect`);
  return outcomeOf(plan, context);
}

async function doInTime(plan: WorkPlan, host: WorkHost, context: NodeContext): Promise<JsonValue> {
  host.enter(context);
  await work(plan, host, context);
  host.mayDie(`${context.position} before its effect`);
  if (plan.steps.length === 0) host.effect(context);
  for (const step of plan.steps) {
    const stepped = context.step(
      step.name,
      async () => {
        await host.process.sleep(1);
        host.mayDie(`${context.position} step ${step.name}`);
        host.step(context, step.name, step.retrySafe);
        if (step.fails && attemptOf(context) === 1) throw new Error('The step failed.');
        const { lateSecret } = host;
        return { step: step.name, ...(lateSecret === null ? {} : { of: lateSecret }) };
      },
      { retrySafe: step.retrySafe },
    );
    if (step.isAwaited) await stepped;
    else {
      stepped.catch(() => undefined);
      await host.process.sleep(1);
      throw new Error('The node did not wait for its step.');
    }
  }
  host.mayDie(`${context.position} after its effect`);
  await work(plan, host, context);
  if (plan.quirk === 'fails a step with lines') await leakInStep(plan, context);
  return outcomeOf(plan, context);
}

async function leakInStep({ workMs }: WorkPlan, context: NodeContext): Promise<void> {
  const leak = () => {
    throw new Error(textWithLines(workMs + attemptOf(context)));
  };
  await context.step('leak', leak, { retrySafe: true });
}

/** Half of the node's time; what an abort does to it is the plan's. */
function work(plan: WorkPlan, host: WorkHost, { signal }: NodeContext): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = host.process.clock.after(plan.workMs / 2, resolve);
    const stop = () => {
      if (plan.onAbort === 'ignore') return;
      timer.cancel();
      if (plan.onAbort === 'finish') resolve();
      else reject(signal.reason);
    };
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
}

function outcomeOf(plan: WorkPlan, context: NodeContext): JsonValue {
  const { position } = context;
  if (plan.quirk !== undefined) return quirkOf(plan.quirk, context);
  const isUndo = position.startsWith('undo/');
  if (!isUndo && attemptOf(context) <= plan.failures) {
    if (!plan.final) throw new Error('The node failed.');
    throw new NodeFailure('SIMULATED', 'The node failed for good.', { retryable: false });
  }
  return { position, pad: 'x'.repeat(plan.resultBytes) };
}

/** Longer than any event of a simulation with lanes. */
const MUCH = 4_000;

function quirkOf(quirk: WorkQuirk, { position, log }: NodeContext): JsonValue {
  switch (quirk) {
    case 'logs a secret':
      log(`It has ${secretForm(0)} and ${secretForm(3)}.`, { of: [secretForm(2)] });
      return { position };
    case 'returns a secret':
      return { position, [secretForm(1)]: secretForm(0) };
    case 'fails with a secret':
      throw new NodeFailure('SIMULATED', `It failed with ${secretForm(0)}.`, { retryable: true });
    case 'logs lines of a secret':
      log(textWithLines(3), { of: [SECRET_LINES] });
      return { position };
    case 'fails with lines of a secret':
      throw new Error(textWithLines(position.length));
    case 'fails with a code of lines':
      throw new NodeFailure(textWithLines(position.length), 'It failed.', { retryable: true });
    case 'fails a step with lines':
    case 'asks for lines':
      return { position };
    case 'returns much':
      return { position, pad: 'x'.repeat(MUCH) };
    case 'returns much with a secret':
      return { position, pad: secretForm(3).padStart(MUCH, 'x') };
  }
}

/** The number of an attempt is the last part of its position; a flow's first has none. */
function attemptOf({ position }: NodeContext): number {
  const number = Number(position.slice(position.lastIndexOf('/') + 1));
  return Number.isNaN(number) ? 1 : number;
}
