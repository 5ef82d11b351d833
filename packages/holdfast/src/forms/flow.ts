/**
 * The `flow` form: the planner of seed 004 on the one executor. Decided again after each settled
 * attempt; nothing a decision depends on is evaluated here, all of it comes back as data.
 */
import { cloneFrozenJson, isJsonObject, type JsonValue } from '../base/json.ts';
import { PlanCursor } from '../flow/plan-cursor.ts';
import type { GraphCommand } from '../graph/commands.ts';
import type { GraphCursor, GraphEvent, GraphType, NodeResultIssue } from '../graph/graph-type.ts';
import { checkFlowGraph, type FlowDefinition, flowGraphOf } from './flow-definition.ts';
import { describeFlow } from './flow-describe.ts';
import { FlowFold } from './flow-fold.ts';
import { type FlowForm, flowFormOf } from './flow-form.ts';
import { PlainPlan } from './flow-plan.ts';
import { type FlowState, NO_UNDO, type SavedFlow } from './flow-state.ts';

/**
 * The graph type `flow`, version 1.
 *
 * Positions are `flow/<node>#<runs>`, retries `flow/<node>#<runs>/<n>`, undos `undo/<position>`.
 * Every node is dispatched with a `FlowNodeInput` and returns a `FlowNodeResult`. The output is
 * `{ nodes: { <id>: output } }` of the nodes that ran, or `{ continueAs: { input } }`. It fails
 * with `FLOW_NODE_FAILED` or `FLOW_REJECTED`.
 *
 * `compile` throws `GraphValidationError` with every error that `validateGraph` finds.
 *
 * @example compileGraph(flowGraphType, flowDefinition(flow)).decide
 */
export const flowGraphType: GraphType<
  FlowDefinition,
  FlowState,
  GraphEvent,
  { readonly memory: 'unused' }
> = Object.freeze({
  kind: 'flow',
  version: 1,
  compile(definition: FlowDefinition) {
    const graph = flowGraphOf(definition);
    checkFlowGraph(graph);
    const form = flowFormOf(graph);
    return {
      requirements: { memory: 'unused' as const },
      initialState: (): FlowState => new FlowFold(form, new PlanCursor(form.topology)).state(),
      reduce: (state: FlowState, event: GraphEvent): FlowState => {
        const fold = foldOf(form, state);
        return fold.apply(event) ? fold.state() : state;
      },
      decide: (state: FlowState): readonly GraphCommand[] => foldOf(form, state).decide(),
      compensate: (state: FlowState): readonly GraphCommand[] => foldOf(form, state).compensate(),
      describe: () => describeFlow(form),
      validateNodeResult: (nodeId: string, result: JsonValue) => resultIssue(form, nodeId, result),
      open: (saved?: JsonValue) => new FlowCursor(form, saved),
    };
  },
});

/** What a node of a flow returns; a missing output is null, a missing branch is `out`. */
export type FlowNodeResult = {
  readonly output?: JsonValue;
  readonly branch?: string;
};

class FlowCursor implements GraphCursor<FlowState> {
  readonly #fold: FlowFold<PlanCursor>;

  constructor(form: FlowForm, value?: JsonValue) {
    if (value === undefined) {
      this.#fold = new FlowFold(form, new PlanCursor(form.topology));
      return;
    }
    const saved = cloneFrozenJson<SavedFlow>(value);
    this.#fold = new FlowFold(form, new PlanCursor(form.topology, saved.plan), saved);
  }

  decide(): readonly GraphCommand[] {
    return this.#fold.decide();
  }

  apply(event: GraphEvent): void {
    this.#fold.apply(event);
  }

  state(): FlowState {
    return this.#fold.state();
  }

  save(): JsonValue {
    const saved: SavedFlow = { plan: this.#fold.plan.save(), ...this.#fold.parts() };
    return saved as unknown as JsonValue;
  }
}

/** The fold that a whole state stands for. */
function foldOf(form: FlowForm, state: FlowState): FlowFold<PlainPlan> {
  const indexed = <T>(record: Readonly<Record<string, T>>) =>
    Object.entries(record).map(
      ([id, value]) => [form.topology.indexOf.get(id) ?? -1, value] as const,
    );
  return new FlowFold(form, new PlainPlan(form.topology, state.plan), {
    outputs: indexed(state.outputs),
    open: indexed(state.open),
    failures: state.failures,
    undo: state.undo ?? NO_UNDO,
  });
}

const RESULT_FIELDS: readonly string[] = ['output', 'branch'];

/** Null, or why a result is no `FlowNodeResult` of this node. */
function resultIssue(form: FlowForm, nodeId: string, result: JsonValue): NodeResultIssue | null {
  const issue = (path: string, message: string) => ({ code: 'RESULT_INVALID', path, message });
  if (!isJsonObject(result)) return issue('', 'a node of a flow returns { output?, branch? }');
  const other = Object.keys(result).find((name) => !RESULT_FIELDS.includes(name));
  if (other !== undefined) return issue('', `there is no field ${JSON.stringify(other)}`);
  const { branches = [] } = form.nodes[form.topology.indexOf.get(nodeId) ?? -1] ?? {};
  const { branch } = result;
  if (branch === undefined && (branches.length === 0 || branches.includes('out'))) return null;
  if (typeof branch === 'string' && branches.includes(branch)) return null;
  const known = branches.length === 0 ? 'it has none' : `they are ${branches.join(', ')}`;
  const found = JSON.stringify(branch) ?? 'none';
  return issue(
    '/branch',
    `expected an output of ${JSON.stringify(nodeId)}, found ${found}; ${known}`,
  );
}
