/** One planted violation for each rule, and the nearest innocent text beside it. */
import { describe, expect, it } from 'vitest';
import { findingText } from '../src/finding.ts';
import { makeSource } from '../src/source.ts';
import { tidy } from '../src/tidy.ts';

const library = 'packages/holdfast/src';

/** `rule:line` of each finding in a workspace of just these files. */
function findings(files: Readonly<Record<string, string>>): readonly string[] {
  const sources = Object.entries(files).map(([path, text]) => makeSource(path, text));
  return tidy(sources, []).map((finding) => `${finding.rule}:${finding.line}`);
}

/** Findings of one file of the executor's room. */
function inLibrary(text: string, file = 'executor/turn.ts'): readonly string[] {
  return findings({ [`${library}/${file}`]: text });
}

describe('import table', () => {
  const cases: readonly (readonly [what: string, from: string, specifier: string])[] = [
    ['a pure room opens a room above it', 'graph/kernel.ts', '../flow/ready.ts'],
    ['a pure room imports node:', 'graph/kernel.ts', 'node:fs'],
    ['a room without node: rights imports it', 'executor/turn.ts', 'node:fs'],
    ['a pure door imports node:', 'graph.ts', 'node:fs'],
    ['a pure door opens an impure room', 'graph.ts', './executor/turn.ts'],
    ['a room imports a door', 'executor/turn.ts', '../index.ts'],
    ['a room imports the library by name', 'executor/turn.ts', 'holdfast'],
    ['a room imports testing', 'executor/turn.ts', '../testing/kit.ts'],
    ['another door opens testing', 'index.ts', './testing/kit.ts'],
    ['a package that the room does not list', 'flow/ready.ts', 'canonicalize'],
    ['one adapter imports another', 'adapters/sqlite/events.ts', '../memory/events.ts'],
    ['attempt imports nodes', 'attempt/attempt.ts', '../nodes/data-node.ts'],
    ['a path that leaves the library', 'base/json.ts', '../../test/json.ts'],
  ];
  it.each(cases)('refuses: %s', (_what, from, specifier) => {
    expect(inLibrary(`import { x } from '${specifier}';`, from)).toEqual(['import-table:1']);
  });

  const allowed: readonly (readonly [from: string, specifier: string])[] = [
    ['flow/ready.ts', '../graph/definition.ts'],
    ['flow/ready.ts', './plan-state.ts'],
    ['executor/turn.ts', '../attempt/attempt.ts'],
    ['graph-runner/runner.ts', '../adapters/memory/events.ts'],
    ['graph-runner/runner.ts', '../expression/compile.ts'],
    ['fleet/worker.ts', '../adapters/postgres/leases.ts'],
    ['adapters/sqlite/driver.ts', 'node:fs'],
    ['base/digest.ts', '@noble/hashes/sha2.js'],
    ['testing/kit.ts', '../executor/turn.ts'],
    ['testing.ts', './testing/kit.ts'],
    ['storage/local.ts', '../adapters/sqlite/storage.ts'],
    ['graph.ts', './graph/kernel.ts'],
  ];
  it.each(allowed)('lets %s import %s', (from, specifier) => {
    expect(inLibrary(`import { x } from '${specifier}';`, from)).toEqual([]);
  });

  it.each([
    ['a re-export', `export { x } from '../flow/ready.ts';`],
    ['a dynamic import', `export const load = () => import('../flow/ready.ts');`],
    ['an import type', `export type X = import('../flow/ready.ts').X;`],
    ['a type-only import', `import type { X } from '../flow/ready.ts';`],
  ])('sees %s', (_what, text) => {
    expect(inLibrary(text, 'graph/kernel.ts')).toEqual(['import-table:1']);
  });

  it('refuses a room that the table does not know', () => {
    expect(inLibrary('export const x = 1;', 'attic/x.ts')).toEqual(['import-table:1']);
  });

  it.each([
    ['a path into the library', '../../../packages/holdfast/src/base/json.ts'],
    ['a subpath that is no door', 'holdfast/dist/index.js'],
    ['a room as if it were a door', 'holdfast/executor'],
  ])('refuses in an app: %s', (_what, specifier) => {
    const files = {
      [`${library}/index.ts`]: '',
      'apps/cli/src/main.ts': `import { x } from '${specifier}';`,
    };
    expect(findings(files)).toEqual(['import-table:1']);
  });

  it('lets an app import a door, and a test anything', () => {
    const files = {
      [`${library}/storage/local.ts`]: '',
      'apps/cli/src/main.ts': `import { x } from 'holdfast/storage/local';`,
      'packages/holdfast/test/base/json.test.ts': `import { x } from '../../src/base/json.ts';`,
    };
    expect(findings(files)).toEqual([]);
  });
});

describe('import cycles', () => {
  it('reports a cycle of three files once, at the import that closes it', () => {
    const files = {
      [`${library}/run/a.ts`]: `import { b } from './b.ts';`,
      [`${library}/run/b.ts`]: `\nimport type { c } from './c.ts';`,
      [`${library}/run/c.ts`]: `\n\nexport { a } from './a.ts';`,
    };
    expect(findings(files)).toEqual(['import-cycle:3']);
  });

  it('is content with two ways to one file', () => {
    const files = {
      [`${library}/run/a.ts`]: `import { b } from './b.ts';\nimport { c } from './c.ts';`,
      [`${library}/run/b.ts`]: `import { c } from './c.ts';`,
      [`${library}/run/c.ts`]: '',
    };
    expect(findings(files)).toEqual([]);
  });
});

describe('lengths', () => {
  const lines = (count: number): string => '// x\n'.repeat(count);

  it('allows a file of 500 lines and refuses 501', () => {
    expect(inLibrary(lines(500))).toEqual([]);
    expect(inLibrary(lines(501))).toEqual(['file-length:501']);
  });

  it('allows a function of 70 lines and refuses 71', () => {
    expect(inLibrary(`function f() {\n${lines(68)}}\n`)).toEqual([]);
    expect(inLibrary(`\nfunction f() {\n${lines(69)}}\n`)).toEqual(['function-length:2']);
    expect(inLibrary(`class A {\n  m() {\n${lines(69)}}\n}\n`)).toEqual(['function-length:2']);
  });

  it('lets describe be long in a test, but no test', () => {
    const path = 'packages/holdfast/test/run/a.test.ts';
    const suite = `describe('a', () => {\n${lines(90)}});\n`;
    const test = `it('a', () => {\n${lines(90)}});\n`;
    expect(findings({ [path]: suite })).toEqual([]);
    expect(findings({ [path]: test })).toEqual(['function-length:1']);
  });

  it('allows four parameters and refuses five, this not counted', () => {
    expect(inLibrary('function f(this: X, a: 1, b: 1, c: 1, d: 1) {}')).toEqual([]);
    expect(inLibrary('const f = (a: 1, b: 1, c: 1, d: 1, e: 1) => a;')).toEqual([
      'parameter-count:1',
    ]);
  });

  it('counts code points, not code units', () => {
    expect(inLibrary(`// ${'😀'.repeat(97)}`)).toEqual([]);
    expect(inLibrary(`// ${'😀'.repeat(98)}`)).toEqual(['line-length:1']);
  });
});

describe('banned calls', () => {
  it.each([
    'Date.now()',
    'performance.now()',
    'Math.random()',
    'crypto.randomUUID()',
    'globalThis.crypto.randomUUID()',
    'setTimeout(f, 1)',
    'globalThis.setTimeout(f, 1)',
    'setInterval(f, 1)',
    'setImmediate(f)',
    'console.error(1)',
    'new Date()',
    'Date()',
    'call(setTimeout)',
    '{ setTimeout }',
  ])('refuses %s', (code) => {
    expect(inLibrary(`export const x = () => (${code});`)).toEqual(['banned-call:1']);
  });

  it('refuses process in a pure room only', () => {
    expect(inLibrary('export const x = process.pid;', 'run/a.ts')).toEqual(['banned-call:1']);
    expect(inLibrary('export const x = process.pid;', 'process/a.ts')).toEqual([]);
  });

  it.each([
    'new Date(5)',
    'Date.parse(text)',
    'clock.setTimeout(f)',
    '{ process: 1 }',
    '"Date.now()"',
    'log.console',
  ])('is content with %s', (code) => {
    expect(inLibrary(`export const x = () => (${code});`, 'run/a.ts')).toEqual([]);
  });

  it('leaves apps alone', () => {
    expect(findings({ 'apps/cli/src/a.ts': 'console.log(Date.now());' })).toEqual([]);
  });

  it('refuses a variable at the top of a module', () => {
    expect(inLibrary('export const a = 1;\nlet count = 0;')).toEqual(['mutable-module:2']);
    expect(inLibrary('export function f() { let count = 0; return count; }')).toEqual([]);
  });
});

describe('banned names', () => {
  it.each([
    ['file-name', 'export const a = 1;', 'run/utils.ts'],
    ['file-name', 'export const a = 1;', 'run/types.ts'],
    ['file-name', 'export const a = 1;', 'run/helpers/a.ts'],
    ['default-export', 'export default 1;', 'run/a.ts'],
    ['default-export', 'export default function f() {}', 'run/a.ts'],
    ['default-export', 'const a = 1; export { a as default };', 'run/a.ts'],
    ['star-export', `export * from './b.ts';`, 'run/a.ts'],
    ['star-export', `export * as b from './b.ts';`, 'run/a.ts'],
    ['any', 'export const a = (b: any) => b;', 'run/a.ts'],
    ['non-null', 'export const a = b!;', 'run/a.ts'],
    ['non-null', 'class A { b!: string; }', 'run/a.ts'],
    ['ts-comment', `// @${'ts-ignore'}`, 'run/a.ts'],
    ['ts-comment', `/* @${'ts-nocheck'} */`, 'run/a.ts'],
    ['ts-comment', `  // @${'ts-expect-error'}: later`, 'run/a.ts'],
  ])('reports %s for %s', (rule, text, file) => {
    expect(inLibrary(text, file)).toEqual([`${rule}:1`]);
  });

  it('lets a test expect a type error, and a text speak of any', () => {
    const path = 'packages/holdfast/test/run/a.test.ts';
    expect(findings({ [path]: `// @${'ts-expect-error'}: refused` })).toEqual([]);
    expect(inLibrary(`export const a = 'any of !them';`)).toEqual([]);
  });
});

describe('machine names', () => {
  const folder = ['', 'work', 'main'].join('/');

  it.each(['README.md', '.ci/run', 'packages/holdfast/src/run/a.ts', 'docs/package.json'])(
    'refuses a folder of one machine in %s',
    (path) => {
      expect(findings({ [path]: `\n// see ${folder}` })).toEqual(['machine-name:2']);
    },
  );

  it('refuses the host of a registry', () => {
    const host = ['registry', 'npmjs', 'org'].join('.');
    expect(findings({ 'docs/a.md': `https://${host}/a` })).toEqual(['machine-name:1']);
  });

  it('is content with a folder of that name inside another', () => {
    expect(findings({ 'docs/a.md': `src${folder}` })).toEqual([]);
  });
});

describe('exceptions', () => {
  const path = `${library}/executor/system-clock.ts`;
  const clock = makeSource(path, 'export const now = () => Date.now();');
  const exception = { rule: 'banned-call', path, subject: 'Date.now', reason: 'the port' } as const;

  it('takes a named exception out', () => {
    expect(tidy([clock], [exception])).toEqual([]);
  });

  it('keeps what the exception does not name', () => {
    const other = { ...exception, subject: 'setTimeout' };
    expect(tidy([clock], [other]).map((finding) => finding.rule)).toEqual([
      'banned-call',
      'stale-exception',
    ]);
  });

  it('reports an exception that nothing needs', () => {
    const clean = makeSource(path, 'export const now = 1;');
    expect(tidy([clean], [exception]).map((finding) => finding.rule)).toEqual(['stale-exception']);
  });
});

it('says where, which rule, what and how to mend it', () => {
  const [finding] = tidy([makeSource(`${library}/run/a.ts`, '\nlet count = 0;')], []);
  expect(finding === undefined ? '' : findingText(finding)).toBe(
    'packages/holdfast/src/run/a.ts:2 mutable-module: count is module-level state that can ' +
      'change\n    mend: keep it in a value that the caller owns, or make it const.',
  );
});
