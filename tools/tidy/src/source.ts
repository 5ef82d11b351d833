/** A file as the rules see it: its path from the root (with `/`), its text, its syntax tree. */
import ts from 'typescript';

export interface Source {
  readonly path: string;
  readonly text: string;
  readonly lines: readonly string[];
  /** Null for files that are not TypeScript or JavaScript. */
  readonly syntax: ts.SourceFile | null;
}

const codeFile = /\.[cm]?[jt]sx?$/;

export function makeSource(path: string, text: string): Source {
  const syntax = codeFile.test(path)
    ? ts.createSourceFile(path, text, ts.ScriptTarget.ES2023, true)
    : null;
  return { path, text, lines: text.replace(/\n$/, '').split('\n'), syntax };
}

/** True for tests and what stands beside them: exempt from the import table. */
export function isTest(path: string): boolean {
  return /(^|\/)test\//.test(path) || /\.test\.[cm]?[jt]sx?$/.test(path);
}

/** True for sources of the published library. */
export function isLibrary(path: string): boolean {
  return path.startsWith('packages/holdfast/src/');
}

/** The line of a node, from 1. */
export function lineOf(node: ts.Node): number {
  const file = node.getSourceFile();
  return file.getLineAndCharacterOfPosition(node.getStart(file)).line + 1;
}

/** Calls `visit` for every node below `root`, and for `root` itself. */
export function walk(root: ts.Node, visit: (node: ts.Node) => void): void {
  visit(root);
  ts.forEachChild(root, (child) => walk(child, visit));
}
