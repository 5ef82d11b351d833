/** What the expressions of a flow's node see while its attempt runs. */
import type { JsonObject, JsonValue } from '../../base/json.ts';
import type { ExpressionValues } from '../../expression/evaluate.ts';

/** The dispatch input of a flow's node, as far as expressions read it. */
export interface FlowInput {
  readonly input: JsonValue;
  readonly nodes: JsonObject;
  readonly loop: JsonValue;
  readonly undo?: boolean;
  readonly output?: JsonValue;
}

/** The variables `input`, `nodes`, `loop` and `run`. */
export function expressionValues(input: JsonValue, runId: string): ExpressionValues {
  const { input: runInput, nodes, loop } = input as unknown as FlowInput;
  return { input: runInput, nodes, loop, run: { id: runId } };
}

/** What a function is given whose node names no input: the run's input and the nodes before it. */
export function plainInput(input: JsonValue): JsonObject {
  const { input: runInput, nodes } = input as unknown as FlowInput;
  const outputs = Object.entries(nodes).map(([id, node]) => [id, outputOf(node)] as const);
  return { input: runInput, nodes: Object.fromEntries(outputs) };
}

function outputOf(node: JsonValue): JsonValue {
  return (node as { readonly output?: JsonValue }).output ?? null;
}
