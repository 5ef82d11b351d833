/**
 * Templates: text with expressions in `{{ }}`, compiled once like expressions.
 *
 * Invariant: all places of one template share one budget.
 */
import { canonicalText } from '../base/digest.ts';
import type { JsonValue } from '../base/json.ts';
import { hasLoneSurrogate } from '../base/text.ts';
import { Budget } from './budget.ts';
import type { CompiledExpression, ExpressionOptions } from './compile.ts';
import type { ExpressionValues } from './evaluate.ts';
import { ExpressionError, type ExpressionText } from './expression-error.ts';
import { MAX_RENDERED_LENGTH, MAX_TEMPLATE_LENGTH, MAX_TEMPLATE_PLACES } from './limits.ts';
import { type PreparedExpression, prepare } from './prepared.ts';
import type { ExpressionScope } from './scope.ts';
import { SourceText } from './source-text.ts';
import { scanTemplate, type TemplatePart } from './template-scan.ts';

/**
 * Compiles `text`. A template that is exactly one `{{ expression }}` gives the expression's value;
 * any other gives text, in which a string stands as it is, `null` as nothing and every other value
 * as canonical JSON. `\{{` is a literal `{{`. Throws as `compileExpression` does.
 *
 * @example
 * const hello = compileTemplate('Hello {{ input.name }}', flowExpressionScope([]));
 * hello.evaluate({ input: { name: 'Ada' } }); // 'Hello Ada'
 */
export function compileTemplate(
  text: string,
  scope: ExpressionScope,
  options: ExpressionOptions = {},
): CompiledExpression {
  const { template, problems } = prepareTemplate({ text, at: options.at ?? {} }, scope);
  const [problem] = problems;
  if (problem !== undefined) throw problem;
  return {
    source: text,
    references: template.references,
    evaluate: (values) => template.evaluate(values, new Budget()),
  };
}

type Piece = string | PreparedExpression;

export interface TemplatePreparation {
  readonly template: PreparedExpression;
  readonly problems: readonly ExpressionError[];
}

/** Scans, parses and checks a template; what is wrong with it is in `problems`. */
export function prepareTemplate(
  whole: ExpressionText,
  scope: ExpressionScope,
): TemplatePreparation {
  const problems: ExpressionError[] = [];
  const pieces: Piece[] = [];
  for (const part of collecting(problems, () => scanWithin(whole)) ?? []) {
    const piece =
      part.kind === 'text'
        ? part.text
        : collecting(problems, () => {
            const source = new SourceText(part.source, whole, part.offset);
            const prepared = prepare(source, 'value', scope);
            problems.push(...prepared.problems);
            return prepared.expression;
          });
    if (piece !== undefined) pieces.push(piece);
  }
  return { template: templateOf(pieces, whole), problems };
}

function scanWithin(whole: ExpressionText): readonly TemplatePart[] {
  if (whole.text.length > MAX_TEMPLATE_LENGTH) {
    const reason = `The template is longer than ${MAX_TEMPLATE_LENGTH} characters`;
    throw new ExpressionError('EXPRESSION_LIMIT', reason, whole, 0);
  }
  if (hasLoneSurrogate(whole.text)) {
    const reason = 'The template holds half of a surrogate pair';
    throw new ExpressionError('EXPRESSION_SYNTAX', reason, whole, 0);
  }
  const parts = scanTemplate(whole);
  const extra = parts.filter((part) => part.kind === 'place')[MAX_TEMPLATE_PLACES];
  if (extra === undefined) return parts;
  const reason = `More than ${MAX_TEMPLATE_PLACES} expressions in one template`;
  throw new ExpressionError('EXPRESSION_LIMIT', reason, whole, extra.offset);
}

/** The result of `work`, or undefined when it threw an expression error, which is then kept. */
function collecting<T>(problems: ExpressionError[], work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    problems.push(error);
    return undefined;
  }
}

function templateOf(pieces: readonly Piece[], whole: ExpressionText): PreparedExpression {
  const expressions = pieces.filter((piece) => typeof piece !== 'string');
  const [only] = pieces;
  const references = [...new Set(expressions.flatMap((expression) => expression.references))];
  if (pieces.length === 1 && only !== undefined && typeof only !== 'string') {
    return { references, evaluate: (values, budget) => only.evaluate(values, budget) };
  }
  return { references, evaluate: (values, budget) => render(pieces, whole, { values, budget }) };
}

function render(
  pieces: readonly Piece[],
  whole: ExpressionText,
  run: { readonly values: ExpressionValues; readonly budget: Budget },
): string {
  let text = '';
  for (const piece of pieces) {
    text += typeof piece === 'string' ? piece : textOf(piece.evaluate(run.values, run.budget));
    if (text.length > MAX_RENDERED_LENGTH) {
      const reason = `The template renders more than ${MAX_RENDERED_LENGTH} characters`;
      throw new ExpressionError('EXPRESSION_LIMIT', reason, whole, 0);
    }
  }
  return text;
}

function textOf(value: JsonValue): string {
  if (value === null) return '';
  return typeof value === 'string' ? value : canonicalText(value);
}
