/**
 * What leaves an evaluation: a frozen JSON value that shares nothing the caller could change.
 *
 * Invariant: its size is paid for, since a small list may hold one large value many times.
 */
import { cloneFrozenJson, isFrozenJson, type JsonValue, JsonValueError } from '../base/json.ts';
import type { Budget } from './budget.ts';
import { MAX_EVALUATION_STEPS, TEXT_UNITS_PER_STEP } from './limits.ts';
import type { SourceText } from './source-text.ts';

/** `value` as a frozen result. Throws `EXPRESSION_TYPE` for what is not JSON. */
export function resultOf(value: JsonValue, source: SourceText, budget: Budget): JsonValue {
  if (typeof value === 'object' && value !== null) {
    if (isFrozenJson(value)) return value;
    if (!paysFor(value, budget)) {
      const reason = `The result is larger than ${MAX_EVALUATION_STEPS} steps pay for`;
      source.fail('EXPRESSION_LIMIT', 0, reason);
    }
  }
  try {
    return cloneFrozenJson(value);
  } catch (error) {
    if (!(error instanceof JsonValueError)) throw error;
    return source.fail('EXPRESSION_TYPE', 0, `The result is not plain JSON: ${error.message}`);
  }
}

/** Walks without recursion: a value that contains itself ends with the budget. */
function paysFor(value: JsonValue, budget: Budget): boolean {
  const open: JsonValue[] = [value];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next === 'string' && !budget.take(next.length / TEXT_UNITS_PER_STEP)) return false;
    if (typeof next !== 'object' || next === null) continue;
    const children: readonly JsonValue[] = Array.isArray(next) ? next : Object.values(next);
    if (!budget.take(1 + children.length)) return false;
    for (const child of children) if (child !== undefined) open.push(child);
  }
  return true;
}
