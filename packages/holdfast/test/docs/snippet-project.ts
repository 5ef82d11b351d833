/**
 * The snippets of all pages as one TypeScript project inside the package, so that `holdfast` means
 * the built package, just as it does for a reader who installed it.
 *
 * A snippet is padded with empty lines: its line numbers are those of its page.
 */
import { execFile } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Fence, fencesOf } from './markdown-fences.ts';

const root = fileURLToPath(new URL('../../../../', import.meta.url));
const project = fileURLToPath(new URL('.snippets/', import.meta.url));
const runTimeoutMs = 30_000;

export interface Snippet extends Fence {
  /** The page's path from the root of the repository. */
  readonly page: string;
  /** The file's path below the project, such as `docs/flows.md/line-12.ts`. */
  readonly source: string;
}

/** README.md and every page below docs, those of its folders included. */
export function readSnippets(): readonly Snippet[] {
  const pages = ['README.md', ...pagesBelow('docs')];
  return pages.flatMap((page) => snippetsOf(page, readFileSync(path.join(root, page), 'utf8')));
}

export function snippetsOf(page: string, markdown: string): readonly Snippet[] {
  return fencesOf(markdown)
    .filter((fence) => fence.language === 'ts' || fence.file !== null)
    .map((fence) => ({
      ...fence,
      page,
      source: `${page}/${fence.file ?? `line-${fence.line}.ts`}`,
    }));
}

function pagesBelow(folder: string): readonly string[] {
  return readdirSync(path.join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const file = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return entry.name === 'node_modules' ? [] : pagesBelow(file);
    return entry.name.endsWith('.md') ? [file] : [];
  });
}

const options = {
  extends: '../../../../../tsconfig.test.json',
  compilerOptions: {
    incremental: false,
    noEmit: false,
    allowImportingTsExtensions: false,
    rewriteRelativeImportExtensions: true,
    noUnusedLocals: false,
    noUnusedParameters: false,
    rootDir: '.',
    outDir: 'out',
    sourceMap: true,
  },
  include: ['**/*.ts'],
  exclude: ['out'],
};

/** Writes and compiles all snippets; resolves with `page:line message` of every type error. */
export async function compileSnippets(snippets: readonly Snippet[]): Promise<readonly string[]> {
  rmSync(project, { recursive: true, force: true });
  mkdirSync(project, { recursive: true });
  writeFileSync(path.join(project, 'tsconfig.json'), JSON.stringify(options));
  for (const snippet of snippets) {
    const padding = snippet.language === 'ts' ? '\n'.repeat(snippet.line - 1) : '';
    const text = `${padding}${snippet.code}${snippet.language === 'ts' ? 'export {};\n' : ''}`;
    for (const folder of snippet.language === 'ts' ? [''] : ['', 'out']) {
      const file = path.join(project, folder, snippet.source);
      mkdirSync(path.dirname(file), { recursive: true });
      writeFileSync(file, text);
    }
  }
  const tsc = path.join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  const { output } = await run([tsc, '-p', project, '--pretty', 'false'], project);
  return typeErrors(output);
}

/** Turns the compiler's `docs/a.md/line-3.ts(5,2): error …` into `docs/a.md:5 …`. */
export function typeErrors(output: string): readonly string[] {
  const lines = output.split('\n').filter((line) => /(^|: )error TS/.test(line));
  return lines.map((line) => {
    const match = /^(?<page>.*\.md)\/[^(]*\((?<line>\d+),\d+\): error (?<text>.*)$/.exec(line);
    const { page, line: at, text } = match?.groups ?? {};
    return page === undefined ? line : `${page}:${at} ${text}`;
  });
}

/** A new folder that the snippets of one page run in, with the page's named files. */
export function makeRunFolder(snippets: readonly Snippet[]): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'holdfast-snippets-'));
  for (const { language, file, source } of snippets) {
    if (language !== 'ts' && file !== null) {
      mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
      cpSync(path.join(project, source), path.join(folder, file));
    }
  }
  return folder;
}

/** Runs one compiled snippet; resolves with its exit code and all it printed. */
export function runSnippet(snippet: Snippet, folder: string): Promise<Ended> {
  const script = path.join(project, 'out', snippet.source.replace(/\.ts$/, '.js'));
  return run(['--enable-source-maps', script], folder);
}

interface Ended {
  readonly exitCode: number | string;
  readonly output: string;
}

function run(args: readonly string[], cwd: string): Promise<Ended> {
  return new Promise((resolve) => {
    execFile(process.execPath, args, { cwd, timeout: runTimeoutMs }, (error, stdout, stderr) => {
      const exitCode = error === null ? 0 : (error.code ?? error.signal ?? 'failed');
      resolve({ exitCode, output: `${stdout}${stderr}` });
    });
  });
}
