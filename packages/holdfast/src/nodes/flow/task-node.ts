/** `task`: calls a function of the host with its filled-in input. */
import { type LargePart, type NodeBinding, nodeBinding } from '../../attempt/binding.ts';
import type { JsonValue } from '../../base/json.ts';
import { compileTemplateValue } from '../../expression/template-value.ts';
import type { TaskConfig } from '../../flow/node-config.ts';
import type { FlowNodeResult } from '../../forms/flow.ts';
import { type BoundFunction, flowFunction } from './flow-functions.ts';
import { expressionValues, type FlowInput, plainInput } from './flow-scope.ts';
import type { NodeSetting } from './node-setting.ts';

/** What grows large in a task's result is its output: whoever comes after it sees the reference. */
const OUTPUT: LargePart = {
  of: (result) => (result as FlowNodeResult).output ?? null,
  replaced: (stored) => ({ output: stored }),
};

/** The binding of a task. Its undo, if it has one, runs in the same node at an undo position. */
export function taskNode(config: TaskConfig, setting: NodeSetting): NodeBinding {
  const { functions, node } = setting;
  const run = flowFunction(functions, config.function, node);
  const fill = inputOf(config.input, 'input', setting);
  const undo = undoOf(config, setting);
  return nodeBinding({
    retrySafe: config.retrySafe ?? false,
    timeoutMs: config.timeoutMs ?? null,
    largeResult: config.largeResult ?? 'refuse',
    largePart: OUTPUT,
    ...(config.graceMs === undefined ? {} : { graceMs: config.graceMs }),
    run: async (input, context) => {
      if ((input as unknown as FlowInput).undo === true) {
        return { output: (await undo(input, context)) ?? null };
      }
      return { output: (await run(fill(input, context.runId), context)) ?? null };
    },
  });
}

function undoOf({ undo }: TaskConfig, setting: NodeSetting): BoundFunction {
  if (undo === undefined) return () => null;
  const run = flowFunction(setting.functions, undo.function, setting.node);
  const fill = undo.input === undefined ? null : inputOf(undo.input, 'undo/input', setting);
  return (input, context) => {
    const given = input as JsonValue;
    const { output = null } = given as unknown as FlowInput;
    return run(fill === null ? { output } : fill(given, context.runId), context);
  };
}

function inputOf(template: JsonValue | undefined, field: string, setting: NodeSetting) {
  if (template === undefined) return plainInput;
  const at = { nodeId: setting.node.id, field: `/config/${field}` };
  const compiled = compileTemplateValue(template, setting.scope, { at });
  return (input: JsonValue, runId: string) => compiled.evaluate(expressionValues(input, runId));
}
