/** File names that collect everything, and words of the language that hide mistakes. */
import { posix } from 'node:path';
import ts from 'typescript';
import type { Finding, RuleName } from '../finding.ts';
import { isTest, lineOf, type Source, walk } from '../source.ts';

const dumpNames = new Set(['utils', 'util', 'helpers', 'helper', 'common', 'types', 'misc']);

export function checkBannedNames(sources: readonly Source[]): readonly Finding[] {
  return sources.flatMap((source) => {
    if (source.syntax === null) return [];
    return [...fileName(source), ...bannedSyntax(source), ...tsComments(source)];
  });
}

function fileName(source: Source): readonly Finding[] {
  const parts = source.path.replace(/(\.test)?\.[cm]?[jt]sx?$/, '').split('/');
  return parts
    .filter((part) => dumpNames.has(part))
    .map((part) => ({
      rule: 'file-name',
      path: source.path,
      line: 1,
      subject: posix.basename(source.path),
      message: `"${part}" names no one thing`,
      mend: 'name the file after the noun it exports; split it if there are several.',
    }));
}

function bannedSyntax(source: Source): readonly Finding[] {
  const findings: Finding[] = [];
  if (source.syntax === null) return findings;
  walk(source.syntax, (node) => {
    const found = bannedNode(node);
    if (found === null) return;
    const [rule, subject, message, mend] = found;
    findings.push({ rule, path: source.path, line: lineOf(node), subject, message, mend });
  });
  return findings;
}

type Ban = readonly [rule: RuleName, subject: string, message: string, mend: string];

function bannedNode(node: ts.Node): Ban | null {
  if (isDefaultExport(node)) {
    return ['default-export', 'default', 'default exports have no name', 'export it by name.'];
  }
  if (ts.isExportDeclaration(node) && !isNamedExport(node)) {
    return ['star-export', '*', 'export * hides what a file offers', 'list the names.'];
  }
  if (node.kind === ts.SyntaxKind.AnyKeyword) {
    return ['any', 'any', 'any switches the compiler off', 'use unknown and narrow it.'];
  }
  if (ts.isNonNullExpression(node) || hasDefiniteMark(node)) {
    return ['non-null', '!', '! asserts what nobody checked', 'use present() or handle null.'];
  }
  return null;
}

function isDefaultExport(node: ts.Node): boolean {
  if (ts.isExportAssignment(node)) return true;
  if (ts.isExportSpecifier(node)) return node.name.text === 'default';
  return ts.canHaveModifiers(node)
    ? (ts.getModifiers(node) ?? []).some((one) => one.kind === ts.SyntaxKind.DefaultKeyword)
    : false;
}

function isNamedExport(node: ts.ExportDeclaration): boolean {
  return node.exportClause !== undefined && ts.isNamedExports(node.exportClause);
}

function hasDefiniteMark(node: ts.Node): boolean {
  const canHave = ts.isPropertyDeclaration(node) || ts.isVariableDeclaration(node);
  return canHave && node.exclamationToken !== undefined;
}

/** Where a comment begins with the word, as the compiler itself reads it. */
function tsComments(source: Source): readonly Finding[] {
  const words = isTest(source.path) ? 'ignore|nocheck' : 'ignore|nocheck|expect-error';
  const silencer = new RegExp(`(?:\\/\\/\\/?|\\/\\*+|^\\s*\\*)\\s*(@ts-(?:${words}))`);
  return source.lines.flatMap((text, index): readonly Finding[] => {
    const subject = silencer.exec(text)?.[1];
    if (subject === undefined) return [];
    return [
      {
        rule: 'ts-comment',
        path: source.path,
        line: index + 1,
        subject,
        message: `${subject} silences the compiler`,
        mend: 'mend the type; a test of a refused type may use @ts-expect-error.',
      },
    ];
  });
}
