/** What an attempt does to its git worktree, seen through the record. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dataNode, type NodeWorkspacePolicy } from 'holdfast';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { worldOf } from './world.ts';

let directory = '';

beforeEach(() => {
  directory = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-policy-')));
  const git = (...words: readonly string[]) => execFileSync('git', words, { cwd: directory });
  git('init', '-q', '-b', 'main');
  writeFileSync(join(directory, 'kept.txt'), 'one\n');
  git('add', '.');
  git('-c', 'user.name=T', '-c', 'user.email=t@example.com', 'commit', '-qm', 'begin');
});

afterEach(() => rmSync(directory, { recursive: true, force: true }));

async function outcomeOf(
  change: () => void,
  rules: Parameters<typeof dataNode>[1],
): Promise<unknown> {
  const work = () => {
    change();
    return 'done';
  };
  const world = await worldOf({ a: dataNode(work, rules) });
  await (await world.open()).run();
  const types = ['graph:node-completed', 'graph:node-failed'];
  return (await world.events()).find(({ type }) => types.includes(type))?.payload;
}

const write = (name: string) => () => writeFileSync(join(directory, name), 'a\nb\n');
const read = (): NodeWorkspacePolicy => ({ mode: 'read', directory, allowedPaths: [] });
const writable = (): NodeWorkspacePolicy => ({
  mode: 'write',
  directory,
  allowedPaths: ['out/**', '*.md'],
});

it('a change that the policy allows is kept with the result', async () => {
  expect(await outcomeOf(write('notes.md'), { workspace: writable() })).toMatchObject({
    result: 'done',
  });
});

it('a change elsewhere is a violation that outranks the result, and is not retryable', async () => {
  expect(await outcomeOf(write('kept.txt'), { workspace: writable() })).toMatchObject({
    code: 'WORKSPACE_VIOLATION',
    retryable: false,
    message: expect.stringContaining('kept.txt'),
  });
});

it('any change is a violation when the node may only read', async () => {
  expect(await outcomeOf(write('notes.md'), { workspace: read() })).toMatchObject({
    code: 'WORKSPACE_VIOLATION',
  });
});

it('more lines than the limit are refused', async () => {
  const rules = { workspace: writable(), linesChanged: 1 };
  expect(await outcomeOf(write('notes.md'), rules)).toMatchObject({ code: 'WORKSPACE_LIMIT' });
});

it('a directory that is no worktree fails the attempt before its code runs', async () => {
  const workspace: NodeWorkspacePolicy = { mode: 'read', directory: tmpdir(), allowedPaths: [] };
  const run = () => {
    throw new Error('it ran');
  };
  expect(await outcomeOf(run, { workspace })).toMatchObject({ code: 'WORKSPACE_INSPECTION' });
});
