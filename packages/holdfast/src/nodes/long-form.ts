/**
 * The long form of a node binding: every rule written out, null where there is none. It becomes
 * what `dataNode` or `engineNode` make of the same rules.
 */
import type { ActionDecision, NodeBinding } from '../attempt/binding.ts';
import type { CallTokens } from '../attempt/engine-work.ts';
import { HoldfastError, isHoldfastError } from '../base/errors.ts';
import type { JsonObject, JsonValue } from '../base/json.ts';
import {
  refuseOption,
  requireFields,
  requireFunction,
  requireObject,
  requireSize,
  requireTexts,
} from '../base/option.ts';
import type { AgentPart } from '../engine/engine.ts';
import type { TokenBudget } from '../engine/token-budget.ts';
import type { Memory } from '../memory/memory.ts';
import { checkWorkspacePolicy, type NodeWorkspacePolicy } from '../workspace/workspace-policy.ts';
import { dataNode } from './data-node.ts';
import { engineNode } from './engine-node.ts';
import type { ResultContract } from './result-contract.ts';

/** Sizes in bytes, times in milliseconds. */
export interface AttemptBudgetPolicy {
  readonly inputBytes: number;
  readonly outputBytes: number;
  readonly timeoutMs: number;
  readonly teardownGraceMs: number;
  readonly memoryBytes: number;
  readonly filesChanged: number;
  readonly linesChanged: number;
  readonly callTokens: CallTokens | null;
}

/** What a data function of the long form is given. */
export interface NodeDataContext {
  readonly input: JsonValue;
  readonly memory: Memory | null;
  readonly scratchDirectory: string;
  readonly workspaceDirectory: string | null;
  readonly trustedCaller: JsonObject;
  readonly permissions: readonly string[];
  readonly signal: AbortSignal;
}

/** Exactly one of `prompt` and `runData` is given; the other is null. */
export interface GraphNodeBinding {
  readonly prompt: ((input: never) => string) | null;
  readonly scratchDirectory: string;
  readonly workspace: NodeWorkspacePolicy;
  /** Who the work is done for, as the host vouches for it. */
  readonly trustedCaller: JsonObject;
  readonly permissions: readonly string[];
  readonly policy: AttemptBudgetPolicy;
  readonly resultContract: ResultContract | null;
  readonly runData: ((context: NodeDataContext) => unknown) | null;
  readonly parseResult: ((final: AgentPart, parts: readonly AgentPart[]) => unknown) | null;
  readonly tokenBudget: TokenBudget | null;
  readonly retrySafe?: boolean;
  decideAction(): ActionDecision | Promise<ActionDecision>;
}

const FIELDS: readonly (keyof GraphNodeBinding)[] = [
  'prompt',
  'scratchDirectory',
  'workspace',
  'trustedCaller',
  'permissions',
  'policy',
  'resultContract',
  'runData',
  'parseResult',
  'tokenBudget',
  'retrySafe',
  'decideAction',
];

const SIZES = ['inputBytes', 'outputBytes', 'memoryBytes', 'filesChanged', 'linesChanged'] as const;

const POLICY_FIELDS: readonly (keyof AttemptBudgetPolicy)[] = [
  ...SIZES,
  'timeoutMs',
  'teardownGraceMs',
  'callTokens',
];

/** True for a binding in the long form: it names both kinds of work, and one of them is null. */
export function isLongForm(binding: NodeBinding | GraphNodeBinding): binding is GraphNodeBinding {
  return 'runData' in binding || 'prompt' in binding;
}

/** The binding that a long form stands for. Throws `INVALID_OPTION`, naming the node. */
export function shortForm(nodeId: string, long: GraphNodeBinding): NodeBinding {
  try {
    const { prompt, runData } = long;
    if ((prompt === null) === (runData === null)) {
      const text = 'give either prompt or runData, and null for the other.';
      throw new HoldfastError('INVALID_OPTION', text, { option: 'prompt' });
    }
    requireParts(long);
    return prompt === null ? dataForm(long) : engineForm(long, prompt);
  } catch (error) {
    if (!isHoldfastError(error, 'INVALID_OPTION')) throw error;
    const { message, details } = error;
    const text = `The binding of ${nodeId}: ${message}`;
    throw new HoldfastError('INVALID_OPTION', text, { ...details, nodeId }, error);
  }
}

/** Every part is written out: what is left out is no default. */
function requireParts({ policy, ...long }: GraphNodeBinding): void {
  requireFields('the long form', long, FIELDS);
  requireFields('policy', policy, POLICY_FIELDS);
  for (const size of SIZES) requireSize(`policy.${size}`, policy[size], 0);
  requireObject('trustedCaller', long.trustedCaller);
  requireTexts('permissions', long.permissions);
  if (long.runData !== null) requireFunction('runData', long.runData);
  if (typeof long.decideAction !== 'function') {
    refuseOption('decideAction', 'a function', long.decideAction);
  }
  checkWorkspacePolicy(long.workspace);
}

function rulesOf({ policy, workspace, retrySafe = false, ...long }: GraphNodeBinding) {
  const { inputBytes, outputBytes, timeoutMs, teardownGraceMs, filesChanged, linesChanged } =
    policy;
  return {
    retrySafe,
    timeoutMs,
    graceMs: teardownGraceMs,
    inputBytes,
    outputBytes,
    filesChanged,
    linesChanged,
    workspace,
    decideAction: () => long.decideAction(),
  };
}

function dataForm(long: GraphNodeBinding): NodeBinding {
  const { scratchDirectory, trustedCaller, permissions, workspace, resultContract } = long;
  const rules = {
    ...rulesOf(long),
    ...(resultContract === null ? {} : { resultContract }),
  };
  return dataNode((input: JsonValue, { memory, signal }) => {
    const workspaceDirectory = workspace.directory;
    const host = { scratchDirectory, workspaceDirectory, trustedCaller, permissions };
    return long.runData?.({ input, memory, signal, ...host });
  }, rules);
}

function engineForm(
  long: GraphNodeBinding,
  prompt: NonNullable<GraphNodeBinding['prompt']>,
): NodeBinding {
  const { scratchDirectory, permissions, resultContract, parseResult, tokenBudget, policy } = long;
  return engineNode({
    ...rulesOf(long),
    prompt: (input: JsonValue) => prompt(input as never),
    scratchDirectory,
    permissions,
    memoryBytes: policy.memoryBytes,
    ...(policy.callTokens === null ? {} : { callTokens: policy.callTokens }),
    ...(resultContract === null ? {} : { resultContract }),
    ...(parseResult === null ? {} : { parseResult }),
    ...(tokenBudget === null ? {} : { tokenBudget }),
  });
}
