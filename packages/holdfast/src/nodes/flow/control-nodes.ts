/** Nodes that decide: their expressions are evaluated in attempts and come back as data. */
import { type NodeBinding, nodeBinding } from '../../attempt/binding.ts';
import { NodeFailure } from '../../attempt/outcome.ts';
import type { JsonValue } from '../../base/json.ts';
import { compileCondition } from '../../expression/compile.ts';
import type { LoopConfig, SwitchConfig } from '../../flow/node-config.ts';
import { expressionValues, type FlowInput } from './flow-scope.ts';
import type { NodeSetting } from './node-setting.ts';

/** `control.condition`: leaves by `true` or `false`. */
export function conditionNode(
  { expression }: { readonly expression: string },
  setting: NodeSetting,
): NodeBinding {
  const holds = conditionOf(expression, 'expression', setting);
  return guard((input, runId) => {
    const output = holds(input, runId);
    return { branch: String(output), output };
  });
}

/** `control.switch`: leaves by the output of the first case that is true. */
export function switchNode(config: SwitchConfig, setting: NodeSetting): NodeBinding {
  const cases = config.cases.map(({ output, expression }, index) => ({
    output,
    holds: conditionOf(expression, `cases/${index}/expression`, setting),
  }));
  return guard((input, runId) => {
    const chosen = cases.find(({ holds }) => holds(input, runId))?.output ?? config.otherwise;
    if (chosen !== undefined) return { branch: chosen, output: chosen };
    const text = `No case of ${setting.node.id} is true, and it has no otherwise.`;
    throw new NodeFailure('FLOW_NO_CASE', text, { retryable: false });
  });
}

/** `control.loop`: goes round while iterations are left and its condition, if any, is true. */
export function loopNode(config: LoopConfig, setting: NodeSetting): NodeBinding {
  const holds =
    config.while === undefined ? () => true : conditionOf(config.while, 'while', setting);
  return guard((input, runId) => {
    const iteration = iterationOf(input);
    const next = iteration <= config.maxIterations && holds(input, runId);
    return { branch: next ? 'body' : 'done', output: { iteration } };
  });
}

function conditionOf(source: string, field: string, setting: NodeSetting) {
  const at = { nodeId: setting.node.id, field: `/config/${field}` };
  const compiled = compileCondition(source, setting.scope, { at });
  return (input: JsonValue, runId: string) => compiled.evaluate(expressionValues(input, runId));
}

/** A pure binding: running it again after a crash changes nothing. */
function guard(decide: (input: JsonValue, runId: string) => JsonValue): NodeBinding {
  return nodeBinding({
    retrySafe: true,
    run: (input, context) => decide(input, context.runId),
  });
}

function iterationOf(input: JsonValue): number {
  const { loop } = input as unknown as FlowInput;
  return (loop as { readonly iteration: number } | null)?.iteration ?? 1;
}
