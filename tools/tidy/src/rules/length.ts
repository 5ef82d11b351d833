/** How long files, functions, lines and lists of parameters may be. */
import ts from 'typescript';
import type { Finding } from '../finding.ts';
import { fileLinesMax, functionLinesMax, lineCodePointsMax, parametersMax } from '../limits.ts';
import { isTest, lineOf, type Source, walk } from '../source.ts';

export function checkLengths(sources: readonly Source[]): readonly Finding[] {
  return sources.flatMap((source) => {
    if (source.syntax === null) return [];
    return [...fileLength(source), ...lineLengths(source), ...functionLengths(source)];
  });
}

function fileLength(source: Source): readonly Finding[] {
  const lines = source.lines.length;
  if (lines <= fileLinesMax) return [];
  return [
    {
      rule: 'file-length',
      path: source.path,
      line: fileLinesMax + 1,
      subject: source.path,
      message: `the file has ${lines} lines; at most ${fileLinesMax} are allowed`,
      mend: 'split it: one noun per file.',
    },
  ];
}

function lineLengths(source: Source): readonly Finding[] {
  return source.lines.flatMap((text, index): readonly Finding[] => {
    const length = [...text].length;
    if (length <= lineCodePointsMax) return [];
    return [
      {
        rule: 'line-length',
        path: source.path,
        line: index + 1,
        subject: source.path,
        message: `the line has ${length} characters; at most ${lineCodePointsMax} are allowed`,
        mend: 'break it; a long text can be joined from parts.',
      },
    ];
  });
}

function functionLengths(source: Source): readonly Finding[] {
  const findings: Finding[] = [];
  if (source.syntax === null) return findings;
  walk(source.syntax, (node) => {
    if (!ts.isFunctionLike(node) || !('body' in node) || node.body === undefined) return;
    findings.push(...parameterCount(source, node));
    if (isTest(source.path) && isSuiteCallback(node)) return;
    const lines = linesOf(node);
    if (lines <= functionLinesMax) return;
    const name = functionName(node);
    findings.push({
      rule: 'function-length',
      path: source.path,
      line: lineOf(node),
      subject: name,
      message: `${name} has ${lines} lines; at most ${functionLinesMax} are allowed`,
      mend: 'give its parts names and call them.',
    });
  });
  return findings;
}

function parameterCount(source: Source, node: ts.SignatureDeclaration): readonly Finding[] {
  const count = node.parameters.filter((one) => one.name.getText() !== 'this').length;
  if (count <= parametersMax) return [];
  const name = functionName(node);
  return [
    {
      rule: 'parameter-count',
      path: source.path,
      line: lineOf(node),
      subject: name,
      message: `${name} takes ${count} parameters; at most ${parametersMax} are allowed`,
      mend: 'take one object with named fields.',
    },
  ];
}

function linesOf(node: ts.Node): number {
  const file = node.getSourceFile();
  return file.getLineAndCharacterOfPosition(node.getEnd()).line + 2 - lineOf(node);
}

/** The callback of `describe(…)`, which only groups tests. */
function isSuiteCallback(node: ts.Node): boolean {
  if (!ts.isCallExpression(node.parent)) return false;
  let callee: ts.Node = node.parent.expression;
  while (ts.isPropertyAccessExpression(callee) || ts.isCallExpression(callee)) {
    callee = callee.expression;
  }
  return ts.isIdentifier(callee) && callee.text === 'describe';
}

function functionName(node: ts.SignatureDeclaration): string {
  if (ts.isConstructorDeclaration(node)) return 'constructor';
  if (node.name !== undefined) return node.name.getText();
  const { parent } = node;
  if (ts.isVariableDeclaration(parent) || ts.isPropertyAssignment(parent)) {
    return parent.name.getText();
  }
  return '(anonymous)';
}
