/** Which other nodes a node reads through its expressions and templates. */
import { expressionReferences } from '../expression/references.ts';
import type { ExpressionScope } from '../expression/scope.ts';
import { compileTemplate } from '../expression/template.ts';
import { configSources } from './catalogue.ts';
import type { FlowNode } from './flow-graph.ts';

/**
 * The ids that a node's expressions and templates read, each once. They have been checked against
 * `scope`.
 */
export function referencedNodes(node: FlowNode, scope: ExpressionScope): readonly string[] {
  const found = configSources(node).flatMap(({ kind, source }) => {
    if (kind !== 'template') return expressionReferences(source);
    return source.includes('{{') ? compileTemplate(source, scope).references : [];
  });
  return [...new Set(found)];
}
