/**
 * Time, chance, timers, the console and the process are reached through ports only: a library that
 * reads a clock by itself can be neither simulated nor replayed.
 */
import ts from 'typescript';
import type { Finding } from '../finding.ts';
import { isPure } from '../house.ts';
import { isLibrary, isTest, lineOf, type Source, walk } from '../source.ts';

interface Ban {
  readonly mend: string;
  readonly pureOnly?: true;
}

const timers: Ban = { mend: 'wait through the Clock port (after, soon).' };
const chance: Ban = { mend: 'take the Random or Ids port.' };
const clock: Ban = { mend: 'ask the Clock port (now).' };

const bannedMembers: Readonly<Record<string, Ban>> = {
  'Date.now': clock,
  'performance.now': clock,
  'Math.random': chance,
  'crypto.randomUUID': chance,
  'crypto.getRandomValues': chance,
};

const bannedNames: Readonly<Record<string, Ban>> = {
  setTimeout: timers,
  setInterval: timers,
  setImmediate: timers,
  randomUUID: chance,
  randomBytes: chance,
  console: { mend: 'return the text, or give it to the log that the host passed in.' },
  process: { mend: 'take what you need as a parameter or a port.', pureOnly: true },
};

export function checkBannedCalls(sources: readonly Source[]): readonly Finding[] {
  return sources
    .filter((source) => isLibrary(source.path) && !isTest(source.path))
    .flatMap((source) => [...bannedUses(source), ...mutableModule(source)]);
}

function bannedUses(source: Source): readonly Finding[] {
  const findings: Finding[] = [];
  if (source.syntax === null) return findings;
  walk(source.syntax, (node) => {
    const name = bannedNameOf(node);
    if (name === null) return;
    const ban = bannedMembers[name] ?? bannedNames[name] ?? clock;
    if (ban.pureOnly === true && !isPure(source.path)) return;
    findings.push({
      rule: 'banned-call',
      path: source.path,
      line: lineOf(node),
      subject: name,
      message: `${name} is not allowed in the library`,
      mend: `${ban.mend} A port's implementation is listed in tools/tidy/src/exceptions.ts.`,
    });
  });
  return findings;
}

function bannedNameOf(node: ts.Node): string | null {
  if (ts.isPropertyAccessExpression(node)) return bannedMember(node);
  if (ts.isNewExpression(node) || ts.isCallExpression(node)) return dateOfNow(node);
  if (!ts.isIdentifier(node) || !Object.hasOwn(bannedNames, node.text)) return null;
  return isFreeUse(node) ? node.text : null;
}

function bannedMember(node: ts.PropertyAccessExpression): string | null {
  const holder = node.expression.getText().replace(/^globalThis\./, '');
  const member = `${holder}.${node.name.text}`;
  if (Object.hasOwn(bannedMembers, member)) return member;
  const ofGlobal = holder === 'globalThis' && Object.hasOwn(bannedNames, node.name.text);
  return ofGlobal ? node.name.text : null;
}

/** `new Date()` and `Date(…)` read the clock; `new Date(ms)` does not. */
function dateOfNow(node: ts.NewExpression | ts.CallExpression): string | null {
  if (node.expression.getText() !== 'Date') return null;
  if (ts.isCallExpression(node)) return 'Date()';
  return (node.arguments ?? []).length === 0 ? 'new Date()' : null;
}

/** True unless the identifier only names a member, a key or a parameter of our own. */
function isFreeUse(node: ts.Identifier): boolean {
  const { parent } = node;
  if (ts.isPropertyAccessExpression(parent)) return parent.expression === node;
  if (ts.isImportSpecifier(parent)) return (parent.propertyName ?? parent.name) === node;
  if (ts.isTypeNode(parent) || ts.isQualifiedName(parent)) return false;
  const namesMember =
    ts.isPropertyAssignment(parent) ||
    ts.isPropertySignature(parent) ||
    ts.isPropertyDeclaration(parent) ||
    ts.isMethodDeclaration(parent) ||
    ts.isMethodSignature(parent) ||
    ts.isParameter(parent) ||
    ts.isVariableDeclaration(parent) ||
    ts.isBindingElement(parent);
  return !(namesMember && parent.name === node);
}

/** `let` at the top of a module is state that two runs of one process would share. */
function mutableModule(source: Source): readonly Finding[] {
  return (source.syntax?.statements ?? []).flatMap((statement): readonly Finding[] => {
    if (!ts.isVariableStatement(statement)) return [];
    if ((statement.declarationList.flags & ts.NodeFlags.Const) !== 0) return [];
    const subject = statement.declarationList.declarations.map((one) => one.name.getText()).join();
    return [
      {
        rule: 'mutable-module',
        path: source.path,
        line: lineOf(statement),
        subject,
        message: `${subject} is module-level state that can change`,
        mend: 'keep it in a value that the caller owns, or make it const.',
      },
    ];
  });
}
