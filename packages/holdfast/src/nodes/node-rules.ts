/** The rules that functions and engines share, checked when a node is bound. */
import type { ActionDecision, NodeBinding } from '../attempt/binding.ts';
import type { NodeContext } from '../attempt/node-context.ts';
import { refuseOption, requireDelay, requireSize } from '../base/option.ts';
import { checkWorkspacePolicy, type NodeWorkspacePolicy } from '../workspace/workspace-policy.ts';

/** The rules under which a node runs. Times are in milliseconds, sizes in bytes. */
export interface NodeRules<Input> {
  /** Whether a crash during the attempt may run it again without asking; false by default. */
  readonly retrySafe?: boolean;
  /** After this long the attempt's signal is aborted. */
  readonly timeoutMs?: number;
  /** How long an aborted attempt may still settle; 5,000 ms by default. */
  readonly graceMs?: number;
  /** Asked before the code runs: allow, wait for a person, or deny. */
  readonly decideAction?: (
    input: Input,
    context: NodeContext,
  ) => ActionDecision | Promise<ActionDecision>;
  /** `artifact` stores a result over the event limit once and records a reference to it. */
  readonly largeResult?: 'artifact';
  /** The largest input (with the prompt of an engine); not limited by default. */
  readonly inputBytes?: number;
  /** The largest result or answer; not limited by default. */
  readonly outputBytes?: number;
  /** What the code may do to a git worktree; nothing by default. */
  readonly workspace?: NodeWorkspacePolicy;
  /** The most files and lines that it may change there; not limited by default. */
  readonly filesChanged?: number;
  readonly linesChanged?: number;
}

export const RULE_FIELDS: readonly (keyof NodeRules<never>)[] = [
  'retrySafe',
  'timeoutMs',
  'graceMs',
  'decideAction',
  'largeResult',
  'inputBytes',
  'outputBytes',
  'workspace',
  'filesChanged',
  'linesChanged',
];

type CheckedRules = Pick<
  NodeBinding,
  'retrySafe' | 'timeoutMs' | 'largeResult' | 'limits' | 'decideAction'
> &
  Partial<Pick<NodeBinding, 'graceMs' | 'workspace'>>;

/** The rules as a binding has them. Throws `INVALID_OPTION`. */
export function checkedRules<Input>(rules: NodeRules<Input>): CheckedRules {
  const { retrySafe = false, timeoutMs = null, graceMs, decideAction, largeResult } = rules;
  if (typeof retrySafe !== 'boolean') refuseOption('retrySafe', 'true or false', retrySafe);
  if (timeoutMs !== null) requireDelay('timeoutMs', timeoutMs, 1);
  if (graceMs !== undefined) requireDelay('graceMs', graceMs, 0);
  if (largeResult !== undefined && largeResult !== 'artifact') {
    refuseOption('largeResult', "'artifact' or left out", largeResult);
  }
  if (decideAction !== undefined && typeof decideAction !== 'function') {
    refuseOption('decideAction', 'a function', decideAction);
  }
  const { workspace } = rules;
  return {
    retrySafe,
    timeoutMs,
    largeResult: largeResult ?? 'refuse',
    limits: limitsOf(rules),
    decideAction:
      decideAction === undefined ? null : (input, context) => decideAction(input as Input, context),
    ...(graceMs === undefined ? {} : { graceMs }),
    ...(workspace === undefined ? {} : { workspace: checkWorkspacePolicy(workspace) }),
  };
}

const LIMITS = ['inputBytes', 'outputBytes', 'filesChanged', 'linesChanged'] as const;

function limitsOf(rules: Pick<NodeRules<never>, (typeof LIMITS)[number]>): NodeBinding['limits'] {
  for (const name of LIMITS) if (rules[name] !== undefined) requireSize(name, rules[name], 0);
  const { inputBytes = null, outputBytes = null, filesChanged = null, linesChanged = null } = rules;
  return { inputBytes, outputBytes, filesChanged, linesChanged };
}
