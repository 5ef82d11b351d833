/** A node whose work is a prompt to the engine that stands behind its lane. */
import { type NodeBinding, nodeBinding } from '../attempt/binding.ts';
import type { CallTokens, EngineWork } from '../attempt/engine-work.ts';
import type { NodeContext } from '../attempt/node-context.ts';
import { assert } from '../base/assert.ts';
import type { JsonValue } from '../base/json.ts';
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
import { checkedRules, type NodeRules, RULE_FIELDS } from './node-rules.ts';
import { contractOf, type ResultContract } from './result-contract.ts';

/** What an engine is asked, and the rules under which it answers. Sizes are in bytes. */
export interface EngineNodeOptions<Input = JsonValue> extends NodeRules<Input> {
  /** Builds the prompt from this dispatch's input; what it throws is the node's failure. */
  readonly prompt: (input: Input, context: NodeContext) => string | Promise<string>;
  readonly system?: string;
  /** The tools that the engine may use without asking; none by default. */
  readonly permissions?: readonly string[];
  /** Where the engine runs when the node has no workspace. */
  readonly scratchDirectory?: string;
  /** What the answer must be. */
  readonly resultContract?: ResultContract;
  /** Makes the result of the answer; by default its structured value, or its final text. */
  readonly parseResult?: (final: AgentPart, parts: readonly AgentPart[]) => unknown;
  readonly memoryBytes?: number;
  /** How many tokens one call may use. */
  readonly callTokens?: CallTokens;
  /** What all calls that share it may use together. */
  readonly tokenBudget?: TokenBudget;
}

const FIELDS: readonly (keyof EngineNodeOptions<never>)[] = [
  ...RULE_FIELDS,
  'prompt',
  'system',
  'permissions',
  'scratchDirectory',
  'resultContract',
  'parseResult',
  'memoryBytes',
  'callTokens',
  'tokenBudget',
];

/** An engine that never answers would hold its run for ever. */
const DEFAULT_TIMEOUT_MS = 10 * 60 * 1_000;

/**
 * Binds a prompt to a node that runs on a lane. The attempt calls the lane's effective target, and
 * at most one fallback when that target is proven dead; its result is the final text, or the value
 * of a structured answer. It may take 10 minutes unless `timeoutMs` says otherwise. Seed 000.
 *
 * Throws `INVALID_OPTION`.
 *
 * @example
 * const critic = engineNode<{ draft: string }>({ prompt: ({ draft }) => `Judge ${draft}` });
 */
export function engineNode<Input = JsonValue>(options: EngineNodeOptions<Input>): NodeBinding {
  requireFields('options', options, FIELDS);
  const { timeoutMs = DEFAULT_TIMEOUT_MS, resultContract } = options;
  if (typeof options.prompt !== 'function') refuseOption('prompt', 'a function', options.prompt);
  return nodeBinding({
    ...checkedRules({ ...options, timeoutMs }),
    engine: workOf(options),
    contract: resultContract === undefined ? null : contractOf(resultContract).validate,
    run: () => assert(false, 'an engine-backed node has no function'),
  });
}

function workOf<Input>(options: EngineNodeOptions<Input>): EngineWork {
  const { prompt, system, permissions = [], scratchDirectory, parseResult, memoryBytes } = options;
  const { callTokens, tokenBudget, resultContract } = options;
  requireText('system', system);
  requireTexts('permissions', permissions);
  requireText('scratchDirectory', scratchDirectory);
  if (memoryBytes !== undefined) requireSize('memoryBytes', memoryBytes, 1);
  if (callTokens !== undefined) requireCallTokens(callTokens);
  if (tokenBudget !== undefined && typeof tokenBudget?.reserve !== 'function') {
    refuseOption('tokenBudget', 'made by createTokenBudget', tokenBudget);
  }
  requireFunction('parseResult', parseResult);
  return {
    prompt: (input, context) => prompt(input as Input, context),
    system: system ?? null,
    permissions: Object.freeze([...permissions]),
    scratchDirectory: scratchDirectory ?? null,
    schema: resultContract === undefined ? null : contractOf(resultContract).schema,
    parseResult: parseResult ?? null,
    memoryBytes: memoryBytes ?? null,
    callTokens: callTokens ?? null,
    tokenBudget: tokenBudget ?? null,
  };
}

function requireCallTokens(given: CallTokens): void {
  requireObject('callTokens', given);
  const { mode, tokens } = given;
  if (mode !== 'hard' && mode !== 'observed') {
    refuseOption('callTokens.mode', "'hard' or 'observed'", mode);
  }
  requireSize('callTokens.tokens', tokens, 1);
}

function requireText(name: string, value: unknown): void {
  if (value !== undefined && typeof value !== 'string') refuseOption(name, 'text', value);
}
