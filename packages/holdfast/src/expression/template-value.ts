/** Templates inside a JSON value: every string of a node's configuration may be one. */
import {
  cloneFrozenJson,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  jsonPointer,
  setOwn,
} from '../base/json.ts';
import { Budget } from './budget.ts';
import type { ExpressionOptions } from './compile.ts';
import type { ExpressionValues } from './evaluate.ts';
import type { ExpressionError } from './expression-error.ts';
import type { ExpressionScope } from './scope.ts';
import { prepareTemplate } from './template.ts';

/** A JSON value whose strings are compiled templates. */
export interface CompiledTemplateValue {
  /** The ids of the nodes that any of its templates reads, each once. */
  readonly references: readonly string[];
  /** The value with every template evaluated, frozen. Throws as an expression does. */
  evaluate(values: ExpressionValues): JsonValue;
}

/**
 * Compiles every string in `value` (keys stay as they are). Errors name the field as a JSON
 * pointer, after `options.at.field` if that is given. All strings of one value share one budget.
 * Throws as `compileExpression` does, and `INVALID_JSON_VALUE`.
 *
 * @example
 * const config = compileTemplateValue({ to: '{{ input.who }}' }, flowExpressionScope([]));
 * config.evaluate({ input: { who: 'Ada' } }); // { to: 'Ada' }
 */
export function compileTemplateValue(
  value: JsonValue,
  scope: ExpressionScope,
  options: ExpressionOptions = {},
): CompiledTemplateValue {
  const { compiled, problems } = prepareTemplateValue(value, scope, options);
  const [problem] = problems;
  if (problem !== undefined) throw problem;
  return compiled;
}

/** Like `compileTemplateValue`, with what is wrong as a list. */
export function prepareTemplateValue(
  value: JsonValue,
  scope: ExpressionScope,
  options: ExpressionOptions,
): { readonly compiled: CompiledTemplateValue; readonly problems: readonly ExpressionError[] } {
  const work: Work = { scope, at: options.at ?? {}, problems: [], references: new Set() };
  const fill = filling(cloneFrozenJson(value), work.at.field ?? '', work);
  return {
    compiled: {
      references: [...work.references],
      evaluate: (values) => cloneFrozenJson(fill(values, new Budget())),
    },
    problems: work.problems,
  };
}

interface Work {
  readonly scope: ExpressionScope;
  readonly at: NonNullable<ExpressionOptions['at']>;
  readonly problems: ExpressionError[];
  readonly references: Set<string>;
}

type Fill = (values: ExpressionValues, budget: Budget) => JsonValue;

/** How to make `value` anew. What holds no template is not made again. */
function filling(value: JsonValue, path: string, work: Work): Fill {
  if (typeof value === 'string') return fillingText(value, path, work);
  if (Array.isArray(value)) {
    const items = value.map((item, index) => filling(item, jsonPointer(path, index), work));
    return (values, budget) => items.map((fill) => fill(values, budget));
  }
  if (!isJsonObject(value)) return () => value;
  const fields = Object.entries(value).map(
    ([key, item]) => [key, filling(item, jsonPointer(path, key), work)] as const,
  );
  return (values, budget) => fillObject(fields, values, budget);
}

function fillingText(text: string, path: string, work: Work): Fill {
  if (!text.includes('{{')) return () => text;
  const at = path === '' ? work.at : { ...work.at, field: path };
  const { template, problems } = prepareTemplate({ text, at }, work.scope);
  work.problems.push(...problems);
  for (const reference of template.references) work.references.add(reference);
  return (values, budget) => template.evaluate(values, budget);
}

function fillObject(
  fields: readonly (readonly [string, Fill])[],
  values: ExpressionValues,
  budget: Budget,
): JsonObject {
  const filled: Record<string, JsonValue> = {};
  for (const [key, fill] of fields) setOwn(filled, key, fill(values, budget));
  return filled;
}
