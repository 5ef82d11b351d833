/**
 * What makes a value the result of a node, whoever gives it: the code of an attempt, or a person
 * who says what became of one.
 */
import { errorText } from '../base/errors.ts';
import { cloneFrozenJson, type JsonValue } from '../base/json.ts';
import type { NodeResultIssue } from '../graph/graph-type.ts';
import type { NodeBinding } from './binding.ts';
import { isPromiseLike } from './promise-like.ts';

/** What the graph has against a result of a node, or null. */
export type ResultCheck = (nodeId: string, result: JsonValue) => NodeResultIssue | null;

/** The result of a node that a value stands for. Throws `RESULT_INVALID`. */
export type ResultRule = (nodeId: string, value: JsonValue) => JsonValue;

/** The result by the contract of its node. Throws why the value is none. */
export function contracted({ contract }: NodeBinding, value: JsonValue): JsonValue {
  if (contract === null) return value;
  const kept = contract(value);
  if (isPromiseLike(kept)) {
    kept.then(undefined, () => undefined);
    throw new Error('its contract returned a promise; validate must answer at once');
  }
  return cloneFrozenJson(kept === undefined ? null : kept);
}

/** What the graph has against the result, as a sentence, or null. */
export function resultFault(
  check: ResultCheck | null,
  nodeId: string,
  result: JsonValue,
): string | null {
  try {
    const issue = check?.(nodeId, result) ?? null;
    if (issue === null) return null;
    const where = issue.path === '' ? 'the result' : `the result at ${issue.path}`;
    return `${issue.code} in ${where} of ${nodeId}: ${issue.message}`;
  } catch (error) {
    return `validateNodeResult threw for the result of ${nodeId}: ${errorText(error)}`;
  }
}
