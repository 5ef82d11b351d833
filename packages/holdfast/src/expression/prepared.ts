/** An expression that is parsed and checked: what compiled expressions and templates hold. */
import type { JsonValue } from '../base/json.ts';
import type { Budget } from './budget.ts';
import { checkSyntax } from './check.ts';
import { type ExpressionValues, evaluateSyntax } from './evaluate.ts';
import type { ExpressionError } from './expression-error.ts';
import { parseExpression } from './parse.ts';
import { syntaxReferences } from './references.ts';
import { resultOf } from './result.ts';
import type { ExpressionScope } from './scope.ts';
import type { SourceText } from './source-text.ts';
import type { Syntax } from './syntax.ts';
import { fitsType, typeName } from './value-type.ts';

/** What an expression has to give: anything, a boolean, or a list. */
export type ExpressionKind = 'value' | 'condition' | 'list';

export interface PreparedExpression {
  readonly references: readonly string[];
  evaluate(values: ExpressionValues, budget: Budget): JsonValue;
}

export interface Preparation {
  readonly expression: PreparedExpression;
  /** Everything found wrong before a run; empty for an expression that may be used. */
  readonly problems: readonly ExpressionError[];
}

/** Parses and checks. Throws only what the parser refuses; the rest are `problems`. */
export function prepare(
  source: SourceText,
  kind: ExpressionKind,
  scope: ExpressionScope,
): Preparation {
  const syntax = parseExpression(source);
  const { type, problems } = checkSyntax(syntax, source, scope);
  const wanted = WANTED[kind];
  const wrongKind = fitsType(wanted, type)
    ? []
    : [source.error('EXPRESSION_TYPE', syntax.start, `A ${wanted} is needed, not a ${type}`)];
  return {
    expression: {
      references: syntaxReferences(syntax),
      evaluate: (values, budget) => evaluatePrepared({ source, syntax, kind }, values, budget),
    },
    problems: [...problems, ...wrongKind],
  };
}

const WANTED = { value: 'any', condition: 'boolean', list: 'list' } as const;

interface Parts {
  readonly source: SourceText;
  readonly syntax: Syntax;
  readonly kind: ExpressionKind;
}

function evaluatePrepared(parts: Parts, values: ExpressionValues, budget: Budget): JsonValue {
  const { source, syntax, kind } = parts;
  const value = evaluateSyntax(syntax, { source, values, budget });
  const wanted = WANTED[kind];
  if (wanted !== 'any' && typeName(value) !== wanted) {
    const reason = `The result is ${typeName(value)}, and a ${wanted} is needed`;
    source.fail('EXPRESSION_TYPE', syntax.start, reason);
  }
  return resultOf(value, source, budget);
}
