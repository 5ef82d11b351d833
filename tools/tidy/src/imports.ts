/** The imports of a file: static, dynamic, re-exports and `import('…')` types alike. */
import { posix } from 'node:path';
import ts from 'typescript';
import { lineOf, type Source, walk } from './source.ts';

export interface Import {
  readonly specifier: string;
  readonly line: number;
  /** The imported file's path from the root, or null for a package or a `node:` module. */
  readonly target: string | null;
}

export function importsOf(source: Source): readonly Import[] {
  const found: Import[] = [];
  if (source.syntax === null) return found;
  walk(source.syntax, (node) => {
    const name = specifierNode(node);
    if (name === null) return;
    found.push({
      specifier: name.text,
      line: lineOf(name),
      target: resolveRelative(source.path, name.text),
    });
  });
  return found;
}

function specifierNode(node: ts.Node): ts.StringLiteralLike | null {
  let candidate: ts.Node | undefined;
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) {
    candidate = node.moduleSpecifier;
  } else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
    candidate = node.arguments[0];
  } else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
    candidate = node.argument.literal;
  }
  return candidate !== undefined && ts.isStringLiteralLike(candidate) ? candidate : null;
}

function resolveRelative(from: string, specifier: string): string | null {
  if (!specifier.startsWith('.')) return null;
  return posix.normalize(posix.join(posix.dirname(from), specifier));
}

/** The npm package of a bare specifier: `@scope/name` or `name`, without the path behind it. */
export function packageOf(specifier: string): string {
  const parts = specifier.split('/');
  return parts.slice(0, specifier.startsWith('@') ? 2 : 1).join('/');
}
