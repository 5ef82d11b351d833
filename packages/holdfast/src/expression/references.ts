/** Which nodes an expression reads: the ids in `nodes["id"]` and `nodes.id`. */
import { parseExpression } from './parse.ts';
import { NODES_VARIABLE } from './scope.ts';
import { SourceText } from './source-text.ts';
import { childrenOf, type Syntax } from './syntax.ts';

/**
 * The ids of the nodes that `source` reads, in order of appearance, each once. Throws
 * `EXPRESSION_SYNTAX` when it cannot be read.
 *
 * @example expressionReferences('nodes["ask"].output.n > nodes.b.output') // ['ask', 'b']
 */
export function expressionReferences(source: string): readonly string[] {
  return syntaxReferences(parseExpression(new SourceText(source, { text: source, at: {} }, 0)));
}

/** The same for an expression that is parsed already. */
export function syntaxReferences(syntax: Syntax): readonly string[] {
  const found = new Set<string>();
  collect(syntax, found, false);
  return [...found];
}

/** The node id that `syntax` names (`nodes["id"]`, `nodes.id`), if it names one. */
export function nodeIdOf(syntax: Syntax): string | undefined {
  if (syntax.kind !== 'field' && syntax.kind !== 'index') return undefined;
  if (syntax.target.kind !== 'name' || syntax.target.name !== NODES_VARIABLE) return undefined;
  if (syntax.kind === 'field') return syntax.key;
  const { index } = syntax;
  return index.kind === 'literal' && typeof index.value === 'string' ? index.value : undefined;
}

/** `shadowed`: inside a macro whose own variable is called `nodes`. */
function collect(syntax: Syntax, found: Set<string>, shadowed: boolean): void {
  const id = shadowed ? undefined : nodeIdOf(syntax);
  if (id !== undefined) found.add(id);
  const inside = shadowed || (syntax.kind === 'macro' && syntax.variable === NODES_VARIABLE);
  for (const child of childrenOf(syntax)) {
    const isTarget = syntax.kind === 'macro' && child === syntax.target;
    collect(child, found, isTarget ? shadowed : inside);
  }
}
