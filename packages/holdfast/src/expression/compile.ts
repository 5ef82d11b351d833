/**
 * Expressions, compiled once and evaluated many times. Callers hold what they compile: this room
 * keeps no cache.
 */
import type { JsonArray, JsonValue } from '../base/json.ts';
import { Budget } from './budget.ts';
import type { ExpressionValues } from './evaluate.ts';
import type { ExpressionPlace } from './expression-error.ts';
import { type ExpressionKind, prepare } from './prepared.ts';
import type { ExpressionScope } from './scope.ts';
import { SourceText } from './source-text.ts';

/** What compiling may be told beside the scope. */
export interface ExpressionOptions {
  /** Whose expression it is; stands in the message and the details of errors. */
  readonly at?: ExpressionPlace;
}

/** An expression that is ready to be evaluated, and gives a `T`. */
export interface CompiledExpression<T extends JsonValue = JsonValue> {
  readonly source: string;
  /** The ids of the nodes that it reads through `nodes["id"]` or `nodes.id`, each once. */
  readonly references: readonly string[];
  /**
   * The result over `values`, frozen. The same values give the same result; `values` are not
   * changed. Throws `EXPRESSION_MISSING_KEY`, `EXPRESSION_TYPE`, `EXPRESSION_NOT_FINITE` or
   * `EXPRESSION_LIMIT`.
   */
  evaluate(values: ExpressionValues): T;
}

/**
 * Compiles an expression and checks it against the names of `scope`. Throws `EXPRESSION_SYNTAX`,
 * `EXPRESSION_UNKNOWN_NAME`, `EXPRESSION_TYPE` or `EXPRESSION_LIMIT`, naming the column.
 *
 * @example
 * const half = compileExpression('input.score / 2', flowExpressionScope([]));
 * half.evaluate({ input: { score: 7 } }); // 3.5
 */
export function compileExpression(
  source: string,
  scope: ExpressionScope,
  options: ExpressionOptions = {},
): CompiledExpression {
  return compile(source, { kind: 'value', scope, options });
}

/**
 * Like `compileExpression`, for a condition: anything but a boolean is `EXPRESSION_TYPE`.
 *
 * @example compileCondition('input.total > 100', flowExpressionScope([])).evaluate({ input })
 */
export function compileCondition(
  source: string,
  scope: ExpressionScope,
  options: ExpressionOptions = {},
): CompiledExpression<boolean> {
  return compile<boolean>(source, { kind: 'condition', scope, options });
}

/**
 * Like `compileExpression`, for a list: anything else is `EXPRESSION_TYPE`.
 *
 * @example compileList('input.items', flowExpressionScope([])).evaluate({ input })
 */
export function compileList(
  source: string,
  scope: ExpressionScope,
  options: ExpressionOptions = {},
): CompiledExpression<JsonArray> {
  return compile<JsonArray>(source, { kind: 'list', scope, options });
}

interface Request {
  readonly kind: ExpressionKind;
  readonly scope: ExpressionScope;
  readonly options: ExpressionOptions;
}

function compile<T extends JsonValue>(source: string, request: Request): CompiledExpression<T> {
  const text = new SourceText(source, { text: source, at: request.options.at ?? {} }, 0);
  const { expression, problems } = prepare(text, request.kind, request.scope);
  const [problem] = problems;
  if (problem !== undefined) throw problem;
  return {
    source,
    references: expression.references,
    // `prepare` refuses at evaluation what is not of the kind asked for.
    evaluate: (values) => expression.evaluate(values, new Budget()) as T,
  };
}
