/** Every TypeScript snippet of the documentation compiles against the built package and runs. */
import { existsSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fencesOf } from './markdown-fences.ts';
import {
  compileSnippets,
  makeRunFolder,
  readSnippets,
  runSnippet,
  snippetsOf,
  typeErrors,
} from './snippet-project.ts';

const snippets = readSnippets();
const scripts = snippets.filter((snippet) => snippet.language === 'ts');

describe('the documentation', () => {
  let errors: readonly string[] = [];
  const folders = new Map<string, string>();

  beforeAll(async () => {
    const built = fileURLToPath(new URL('../../dist/index.d.ts', import.meta.url));
    if (!existsSync(built)) throw new Error('The package is not built: run `npm run build` first.');
    if (scripts.length > 0) errors = await compileSnippets(snippets);
    for (const page of new Set(snippets.map((snippet) => snippet.page))) {
      folders.set(page, makeRunFolder(snippets.filter((snippet) => snippet.page === page)));
    }
  }, 120_000);

  afterAll(() => {
    for (const folder of folders.values()) rmSync(folder, { recursive: true, force: true });
  });

  it('compiles', () => {
    expect(errors).toEqual([]);
  });

  // In the order of the page: a later snippet may go on with what an earlier one stored.
  it
    .runIf(scripts.length > 0)
    .each(
      scripts
        .filter((snippet) => snippet.run)
        .map((snippet) => [`${snippet.page}:${snippet.line}`, snippet] as const),
    )('runs %s', async (_place, snippet) => {
    const { exitCode, output } = await runSnippet(snippet, folders.get(snippet.page) ?? '.');
    expect(exitCode, output).toBe(0);
  });
});

describe('reading a page', () => {
  it('finds fences of backticks and tildes, names and no-run, with their lines', () => {
    const page = [
      '# A page',
      '```ts',
      'const a = 1;',
      '```',
      '~~~ts file=nodes.ts no-run',
      'const b = `',
      '```',
      '`;',
      '~~~',
      '````md',
      '```ts',
      'inside another',
      '```',
      '````',
      '- a list',
      '  ```json file=flow.json',
      '  {',
      '    "a": 1',
      '  }',
      '  ```',
    ].join('\n');
    expect(fencesOf(page)).toEqual([
      { language: 'ts', file: null, run: true, line: 3, code: 'const a = 1;\n' },
      { language: 'ts', file: 'nodes.ts', run: false, line: 6, code: 'const b = `\n```\n`;\n' },
      { language: 'md', file: null, run: true, line: 11, code: '```ts\ninside another\n```\n' },
      { language: 'json', file: 'flow.json', run: true, line: 17, code: '{\n  "a": 1\n}\n' },
    ]);
  });

  it('takes TypeScript and named files, and leaves the rest', () => {
    const page = '```sh\nls\n```\n```ts\n1;\n```\n```json file=a.json\n{}\n```\n```json\n{}\n```\n';
    const sources = snippetsOf('docs/a.md', page).map((snippet) => snippet.source);
    expect(sources).toEqual(['docs/a.md/line-5.ts', 'docs/a.md/a.json']);
  });

  it('names a type error by the page and its line', () => {
    const output = [
      `docs/a.md/line-3.ts(5,2): error TS2304: Cannot find name 'x'.`,
      '  more about it',
      'error TS18003: No inputs were found.',
    ].join('\n');
    expect(typeErrors(output)).toEqual([
      `docs/a.md:5 TS2304: Cannot find name 'x'.`,
      'error TS18003: No inputs were found.',
    ]);
  });
});
