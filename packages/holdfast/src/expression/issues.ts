/** Everything that is wrong with an expression or template, as a list instead of a throw. */
import type { JsonValue } from '../base/json.ts';
import type { ExpressionOptions } from './compile.ts';
import {
  ExpressionError,
  type ExpressionErrorCode,
  type ExpressionPlace,
} from './expression-error.ts';
import { type ExpressionKind, prepare } from './prepared.ts';
import { type ExpressionScope, flowExpressionScope } from './scope.ts';
import { SourceText } from './source-text.ts';
import { prepareTemplate } from './template.ts';
import { prepareTemplateValue } from './template-value.ts';

/** One thing wrong with an expression. */
export interface ExpressionIssue {
  readonly code: ExpressionErrorCode;
  readonly message: string;
  readonly line: number;
  readonly column: number;
  /** The field of a template value, as a JSON pointer, and what else the caller gave. */
  readonly at: ExpressionPlace;
}

/**
 * Checks an expression (or, with kind `template`, a template) without throwing. An empty list
 * means that the matching `compile…` function accepts it.
 *
 * @example checkExpression('inptu.a', 'condition', scope)[0]?.code // 'EXPRESSION_UNKNOWN_NAME'
 */
export function checkExpression(
  source: string,
  kind: ExpressionKind | 'template',
  scope: ExpressionScope,
): readonly ExpressionIssue[] {
  const whole = { text: source, at: {} };
  return issuesOf(() =>
    kind === 'template'
      ? prepareTemplate(whole, scope).problems
      : prepare(new SourceText(source, whole, 0), kind, scope).problems,
  );
}

/**
 * Checks an expression of a flow: what `validateGraph` asks for as its `checkExpression`.
 *
 * @example validateGraph(graph, { checkExpression: checkFlowExpression })
 */
export function checkFlowExpression(
  source: string,
  kind: ExpressionKind | 'template',
  flow: { readonly nodeIds: ReadonlySet<string>; readonly inLoop: boolean },
): readonly ExpressionIssue[] {
  return checkExpression(source, kind, flowExpressionScope(flow.nodeIds, { inLoop: flow.inLoop }));
}

/**
 * Checks every template in `value` without throwing expression errors.
 *
 * @example checkTemplateValue({ to: '{{ input.name }}' }, flowExpressionScope([])) // []
 */
export function checkTemplateValue(
  value: JsonValue,
  scope: ExpressionScope,
  options: ExpressionOptions = {},
): readonly ExpressionIssue[] {
  return issuesOf(() => prepareTemplateValue(value, scope, options).problems);
}

function issuesOf(problems: () => readonly ExpressionError[]): readonly ExpressionIssue[] {
  try {
    return problems().map(issueOf);
  } catch (error) {
    if (error instanceof ExpressionError) return [issueOf(error)];
    throw error;
  }
}

function issueOf({ code, message, line, column, at }: ExpressionError): ExpressionIssue {
  return { code, message, line, column, at };
}
