/** What every flow binding is made from: its node, and what the host gave. */
import type { ChildRun } from '../../attempt/binding.ts';
import type { JsonValue } from '../../base/json.ts';
import type { ExpressionScope } from '../../expression/scope.ts';
import type { FlowNode } from '../../flow/flow-graph.ts';
import type { FlowFunctions } from './flow-functions.ts';

export interface NodeSetting {
  readonly node: FlowNode;
  readonly scope: ExpressionScope;
  readonly functions: FlowFunctions;
  /** A run of another flow of the host, by the name that a subflow gives it. */
  readonly subflow: (name: string, input: JsonValue) => ChildRun;
}
