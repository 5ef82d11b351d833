/** Random work in real worktrees, compared with readings of everything that stands there. */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import type * as fc from 'fast-check';
import { array, assert, asyncProperty, constant, constantFrom, oneof, record } from 'fast-check';
import { createGitInspector } from 'holdfast';
import { afterAll, describe, expect, it } from 'vitest';
import { GitWorktree } from './git-worktree.ts';

const names = ['a', 'b c', 'd/e', 'd/f\ng', 'h/i/"j"', 'ä'] as const;
const contents = ['', '1\n', '1\n2\n', '2\n1\n', 'x', 'b\0in'] as const;

type Operation =
  | { readonly kind: 'write'; readonly name: string; readonly content: string }
  | { readonly kind: 'move'; readonly name: string; readonly to: string }
  | { readonly kind: 'link'; readonly name: string; readonly to: string }
  | {
      readonly kind:
        | 'remove'
        | 'execute'
        | 'stage'
        | 'unstage'
        | 'untrack'
        | 'assume'
        | 'skip'
        | 'restamp';
      readonly name: string;
    }
  | { readonly kind: 'commit' | 'commit staged' | 'reset' | 'back' | 'branch' };

const name = constantFrom(...names);
const operation: fc.Arbitrary<Operation> = oneof(
  {
    weight: 6,
    arbitrary: record({ kind: constant('write'), name, content: constantFrom(...contents) }),
  },
  { weight: 2, arbitrary: record({ kind: constantFrom('move', 'link'), name, to: name }) },
  {
    weight: 6,
    arbitrary: record({
      kind: constantFrom(
        'remove',
        'execute',
        'stage',
        'unstage',
        'untrack',
        'assume',
        'skip',
        'restamp',
      ),
      name,
    }),
  },
  {
    weight: 3,
    arbitrary: record({ kind: constantFrom('commit', 'commit staged', 'reset', 'back', 'branch') }),
  },
) as fc.Arbitrary<Operation>;
const operations = array(operation, { maxLength: 8 });

const tree = new GitWorktree();
/** It lets stamps stand for contents as soon as it can, and remembers what it read last. */
const inspector = createGitInspector({ settleMs: 0 });
afterAll(() => tree.remove());

/** Some operations do not fit the state they meet: those do nothing, as for an attempt. */
function perform(operation: Operation): void {
  try {
    attempt(operation);
  } catch {
    // git, or the file system, refused.
  }
}

function attempt(operation: Operation): void {
  switch (operation.kind) {
    case 'write':
      rmSync(tree.at(operation.name), { force: true });
      return tree.write({ [operation.name]: operation.content });
    case 'move':
      mkdirSync(path.dirname(tree.at(operation.to)), { recursive: true });
      return renameSync(tree.at(operation.name), tree.at(operation.to));
    case 'link':
      rmSync(tree.at(operation.name), { force: true });
      return symlinkSync(operation.to, tree.at(operation.name));
    case 'remove':
      return rmSync(tree.at(operation.name), { force: true });
    case 'restamp':
      return changeUnderItsTimes(tree.at(operation.name));
    case 'execute':
      return chmodSync(tree.at(operation.name), 0o755);
    default:
      runGit(operation);
  }
}

/** Other bytes of the same number, and the times as they were. */
function changeUnderItsTimes(file: string): void {
  const { atime, mtime } = lstatSync(file);
  writeFileSync(
    file,
    readFileSync(file).map((byte) => byte ^ 1),
  );
  utimesSync(file, atime, mtime);
}

function runGit(operation: Operation): void {
  switch (operation.kind) {
    case 'stage':
      tree.git('add', '--', operation.name);
      return;
    case 'unstage':
      tree.git('reset', '--quiet', '--', operation.name);
      return;
    case 'untrack':
      tree.git('rm', '--cached', '--quiet', '--', operation.name);
      return;
    case 'assume':
      tree.git('update-index', '--assume-unchanged', '--', operation.name);
      return;
    case 'skip':
      tree.git('update-index', '--skip-worktree', '--', operation.name);
      return;
    case 'commit':
      return tree.commit();
    case 'commit staged':
      tree.git('commit', '--quiet', '-m', 'staged');
      return;
    case 'reset':
      tree.git('reset', '--hard', '--quiet');
      return;
    case 'back':
      tree.git('reset', '--hard', '--quiet', 'HEAD~1');
      return;
    default:
      tree.git('switch', '--quiet', '-c', `b${tree.git('branch').split('\n').length}`);
  }
}

interface Everything {
  readonly paths: ReadonlyMap<string, string>;
  readonly head: string;
  readonly branch: string;
  readonly refs: ReadonlyMap<string, string>;
}

/** All as it stands: files by content and mode, what the index holds, HEAD and refs. */
function everything(): Everything {
  const paths = new Map<string, string>();
  for (const file of filesBelow('')) paths.set(file, `present ${fileOnDisk(file)}`);
  for (const line of tree.git('ls-files', '--stage', '-v', '-z').split('\0')) {
    const [entry, file] = line.split('\t');
    if (file !== undefined) paths.set(file, `${paths.get(file) ?? ''} staged ${entry}`);
  }
  const branch = tree.git('branch', '--show-current').trim();
  const refs = new Map<string, string>();
  for (const line of tree.git('show-ref').trim().split('\n')) {
    const [id = '', ref = ''] = line.split(' ');
    refs.set(ref, id);
  }
  return { paths, head: tree.git('rev-parse', 'HEAD') + branch, branch, refs };
}

function filesBelow(folder: string): readonly string[] {
  return readdirSync(tree.at(folder), { withFileTypes: true }).flatMap((entry) => {
    const file = path.join(folder, entry.name);
    if (file === '.git') return [];
    return entry.isDirectory() ? filesBelow(file) : [file];
  });
}

function fileOnDisk(file: string): string {
  const stat = lstatSync(tree.at(file));
  if (stat.isSymbolicLink()) return `link ${readlinkSync(tree.at(file))}`;
  const content = readFileSync(tree.at(file)).toString('base64');
  return `${(stat.mode & 0o100) === 0 ? 'plain' : 'executable'} ${content}`;
}

function naiveChanges(before: Everything, after: Everything): readonly string[] {
  const changed = differing(before.paths, after.paths);
  const isMoved = before.head !== after.head;
  const ofHead = isMoved ? [before.branch, after.branch].map((name) => `refs/heads/${name}`) : [];
  const refs = differing(before.refs, after.refs).filter((ref) => !ofHead.includes(ref));
  const ofGit = [...(isMoved ? ['HEAD'] : []), ...refs].map((name) => `@git/${name}`);
  return [...changed, ...ofGit].sort();
}

function differing(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): readonly string[] {
  const all = new Set([...before.keys(), ...after.keys()]);
  return [...all].filter((name) => before.get(name) !== after.get(name));
}

describe('any sequence of file and git operations', () => {
  it('changes exactly the paths that a reading of everything finds different', async () => {
    const property = asyncProperty(operations, operations, async (earlier, later) => {
      for (const file of readdirSync(tree.folder)) rmSync(tree.at(file), { recursive: true });
      tree.git('init', '--quiet', '--initial-branch=main');
      tree.commit({ a: '1\n2\n', 'd/e': 'x\n' });
      tree.commit({ 'h/i/"j"': '1\n', a: '1\n' });
      for (const operation of earlier) perform(operation);
      const before = everything();
      const work = () => {
        for (const operation of later) perform(operation);
      };
      const { paths } = await tree.changes(work, inspector);
      expect([...paths].sort()).toEqual(naiveChanges(before, everything()));
    });
    await assert(property, { numRuns: 40 });
  });
});

describe('any two contents of a file', () => {
  const line = constantFrom('a', 'b', 'c', '}', '', 'a b');
  const text = array(line, { maxLength: 12 }).map((lines) => lines.join('\n'));

  it('differ by as many lines as the shortest difference that git finds', async () => {
    const lines = new GitWorktree();
    const property = asyncProperty(text, text, async (first, second) => {
      lines.write({ file: first, '.git/first': first, '.git/second': second });
      const { linesChanged } = await lines.changes(() => lines.write({ file: second }));
      expect(linesChanged).toBe(minimalDifference(lines.at('.git')));
    });
    await assert(property, { numRuns: 60, seed: 1 });
    lines.remove();
  });

  it('count the same from the object store as from the worktree', async () => {
    const lines = new GitWorktree();
    const property = asyncProperty(text, text, async (first, second) => {
      lines.commit({ file: first, '.git/first': first, '.git/second': second });
      const { linesChanged } = await lines.changes(() => lines.commit({ file: second }));
      expect(linesChanged).toBe(minimalDifference(lines.at('.git')));
    });
    await assert(property, { numRuns: 30, seed: 1 });
    lines.remove();
  });

  it('are compared in bounded time when every line of a large file moved', async () => {
    const large = new GitWorktree();
    const count = 20_000;
    const ordered = Array.from({ length: count }, (_, index) => `line ${index}`);
    const shuffled = ordered.map((_, index) => `line ${(index * 7_919) % count}`);
    large.commit({ file: ordered.join('\n') });
    const { changes } = await large.changes(() =>
      writeFileSync(large.at('file'), shuffled.join('\n')),
    );
    expect(changes).toEqual([{ path: 'file', kind: 'modified', lines: expect.any(Number) }]);
    expect(changes[0]?.lines).toBeGreaterThan(5_000);
    large.remove();
  });
});

function minimalDifference(folder: string): number {
  const args = ['diff', '--no-index', '--numstat', '--minimal', 'first', 'second'];
  const options = { cwd: folder, encoding: 'utf8', env: { PATH: process.env['PATH'] } } as const;
  let said = '';
  try {
    said = execFileSync('git', args, options);
  } catch (error) {
    // It ends with 1 when there is a difference.
    said = String((error as { readonly stdout?: unknown }).stdout);
  }
  const [added = '0', removed = '0'] = said.split('\t');
  return Number(added) + Number(removed);
}
