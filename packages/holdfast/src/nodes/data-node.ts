/** A node that is a function. */
import {
  type ActionDecision,
  type NodeBinding,
  type NodeContext,
  type NodeFunction,
  nodeBinding,
} from '../attempt/binding.ts';
import type { JsonValue } from '../base/json.ts';
import { refuseOption, requireDelay } from './node-option.ts';

/** The rules under which a function runs. Times are in milliseconds. */
export interface DataNodeOptions<Input = JsonValue> {
  /** Whether a crash during the attempt may run it again without asking; false by default. */
  readonly retrySafe?: boolean;
  /** After this long the attempt's signal is aborted; never by default. */
  readonly timeoutMs?: number;
  /** How long an aborted attempt may still settle; 5,000 ms by default. */
  readonly graceMs?: number;
  /** Asked before the function runs: allow, wait for a person, or deny. */
  readonly decideAction?: (
    input: Input,
    context: NodeContext,
  ) => ActionDecision | Promise<ActionDecision>;
  /** `artifact` stores a result over the event limit once and records a reference to it. */
  readonly largeResult?: 'artifact';
}

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
  const { retrySafe = false, timeoutMs = null, graceMs, decideAction, largeResult } = options;
  if (typeof run !== 'function') refuseOption('the node', 'a function', run);
  if (typeof retrySafe !== 'boolean') refuseOption('retrySafe', 'true or false', retrySafe);
  if (timeoutMs !== null) requireDelay('timeoutMs', timeoutMs, 1);
  if (graceMs !== undefined) requireDelay('graceMs', graceMs, 0);
  if (largeResult !== undefined && largeResult !== 'artifact') {
    refuseOption('largeResult', "'artifact' or left out", largeResult);
  }
  if (decideAction !== undefined && typeof decideAction !== 'function') {
    refuseOption('decideAction', 'a function', decideAction);
  }
  return nodeBinding({
    run: (input, context) => run(input as Input, context),
    retrySafe,
    timeoutMs,
    largeResult: largeResult ?? 'refuse',
    ...(graceMs === undefined ? {} : { graceMs }),
    ...(decideAction === undefined
      ? {}
      : { decideAction: (input, context) => decideAction(input as Input, context) }),
  });
}
