/** A node that is a function. */
import { type NodeBinding, nodeBinding } from '../attempt/binding.ts';
import type { NodeFunction } from '../attempt/node-context.ts';
import type { JsonValue } from '../base/json.ts';
import { refuseOption, requireFields } from '../base/option.ts';
import { checkedRules, type NodeRules, RULE_FIELDS } from './node-rules.ts';
import { contractOf, type ResultContract } from './result-contract.ts';

/** The rules under which a function runs: without a time limit unless one is given. */
export interface DataNodeOptions<Input = JsonValue> extends NodeRules<Input> {
  /** What the function must return. */
  readonly resultContract?: ResultContract;
}

const FIELDS: readonly (keyof DataNodeOptions<never>)[] = [...RULE_FIELDS, 'resultContract'];

/**
 * Binds a function to a node. Its result must be JSON (`undefined` becomes null); what it throws is
 * recorded as the node's failure. Seed 000, "How a dispatch runs".
 *
 * Throws `INVALID_OPTION`.
 *
 * @example const nodes = { draft: dataNode(({ topic }) => ({ text: `On ${topic}` })) }
 */
export function dataNode<Input = JsonValue>(
  run: NodeFunction<Input>,
  options: DataNodeOptions<Input> = {},
): NodeBinding {
  if (typeof run !== 'function') refuseOption('the node', 'a function', run);
  requireFields('options', options, FIELDS);
  const { resultContract } = options;
  return nodeBinding({
    ...checkedRules(options),
    contract: resultContract === undefined ? null : contractOf(resultContract).validate,
    run: (input, context) => run(input as Input, context),
  });
}
