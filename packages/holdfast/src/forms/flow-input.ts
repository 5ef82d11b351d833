/** The dispatch inputs of a flow: what an attempt may know of the run around it. */
import { type JsonObject, type JsonValue, sealJson, setOwn } from '../base/json.ts';
import { NONE } from '../flow/compiled-topology.ts';
import type { NodeStatus } from '../flow/plan-state.ts';
import type { FlowForm } from './flow-form.ts';
import type { FlowPlan } from './flow-plan.ts';

/** What an expression sees of another node. */
export type FlowNodeView = {
  /** What it last returned; null before, and while it is skipped. */
  readonly output: JsonValue;
  readonly status: NodeStatus;
};

/** The input that every node of a flow is dispatched with. */
export type FlowNodeInput = {
  /** The run's input: what the trigger returned, null before. */
  readonly input: JsonValue;
  /** The sources of the node's forward inputs, and the nodes that its expressions read. */
  readonly nodes: Readonly<Record<string, FlowNodeView>>;
  /** Its forward inputs, in the order of the edges: a join sees which were taken. */
  readonly inputs: readonly {
    readonly nodeId: string;
    readonly handle: string;
    readonly active: boolean;
  }[];
  /** Of the loop itself, or of the innermost loop around the node. */
  readonly loop: { readonly iteration: number } | null;
  /** True for an undo: it takes back the occurrence that returned `output`. */
  readonly undo?: true;
  readonly output?: JsonValue;
};

export interface FlowInputSource {
  readonly form: FlowForm;
  readonly plan: FlowPlan;
  readonly outputs: ReadonlyMap<number, JsonValue>;
}

/** The input of the next dispatch of `node`; work grows with its inputs and references only. */
export function flowNodeInput(source: FlowInputSource, node: number): FlowNodeInput & JsonObject {
  const { form, outputs } = source;
  // In the order of their names, as digests want them.
  return sealJson({
    input: outputs.get(form.trigger) ?? null,
    inputs: inputsOf(source, node),
    loop: loopOf(source, node),
    nodes: viewsOf(source, node),
  });
}

function viewsOf({ form, plan, outputs }: FlowInputSource, node: number) {
  const views: Record<string, FlowNodeView> = {};
  for (const other of form.nodes[node]?.reads ?? []) {
    const status = plan.status(other);
    const output = status === 'skipped' ? null : (outputs.get(other) ?? null);
    setOwn(views, form.nodes[other]?.id ?? '', sealJson({ output, status }));
  }
  return sealJson(views);
}

function inputsOf({ form, plan }: FlowInputSource, node: number): FlowNodeInput['inputs'] {
  const { inputs = [] } = form.nodes[node] ?? {};
  return sealJson(
    inputs.map(({ nodeId, handle, edge }) =>
      sealJson({ active: plan.isActive(edge), handle, nodeId }),
    ),
  );
}

function loopOf({ form, plan }: FlowInputSource, node: number): FlowNodeInput['loop'] {
  if (form.topology.isLoop[node] === 1) {
    // A dispatch that begins it is decided before it counts.
    const begins = plan.status(node) === 'pending';
    return sealJson({ iteration: plan.iteration(node) + (begins ? 1 : 0) });
  }
  const loop = form.topology.innermost[node] as number;
  return loop === NONE ? null : sealJson({ iteration: plan.iteration(loop) });
}
