import { renameSync } from 'node:fs';
import {
  createGitInspector,
  noWorkspace,
  underWorkspacePolicy,
  type WorkspaceInspector,
  type WorkspaceLimits,
} from 'holdfast';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { GitWorktree, never } from './git-worktree.ts';

const inspector = createGitInspector();
const noLimits: WorkspaceLimits = {};

let tree: GitWorktree;

beforeEach(() => {
  tree = new GitWorktree();
  tree.commit({ 'a.txt': 'one\n', 'src/b.txt': 'b\n' });
});

afterEach(() => tree.remove());

function reading(effect: () => unknown): Promise<unknown> {
  const guard = { policy: tree.read(), limits: noLimits, inspector, signal: never };
  return underWorkspacePolicy(guard, effect);
}

function writing(limits: WorkspaceLimits, effect: () => unknown): Promise<unknown> {
  const guard = { policy: tree.mayWrite('src/**'), limits, inspector, signal: never };
  return underWorkspacePolicy(guard, effect);
}

describe('an effect in mode none', () => {
  it('runs without an inspection', async () => {
    const untouched = () => expect.unreachable('nothing is inspected');
    const blind: WorkspaceInspector = { capture: untouched, compare: untouched };
    const guard = { policy: noWorkspace, limits: noLimits, inspector: blind, signal: never };
    await expect(underWorkspacePolicy(guard, () => 'done')).resolves.toBe('done');
  });
});

describe('an effect in mode read', () => {
  it('returns its result when it changes nothing', async () => {
    tree.write({ dirty: 'before\n' });
    await expect(reading(() => 'read')).resolves.toBe('read');
  });

  it('throws its own error when it changes nothing', async () => {
    const failure = new Error('the service is away');
    const failing = reading(() => Promise.reject(failure));
    await expect(failing).rejects.toBe(failure);
  });

  it('is a violation when it changes anything', async () => {
    const work = reading(() => tree.write({ 'src/new': 'n\n' }));
    await expect(work).rejects.toMatchObject({
      code: 'WORKSPACE_VIOLATION',
      message: `The attempt changed "src/new" in ${tree.folder}, where it may only read.`,
      details: { paths: ['src/new'], count: 1 },
    });
  });

  it('is a violation when it moves HEAD without changing a file', async () => {
    const work = reading(() => tree.commit());
    await expect(work).rejects.toMatchObject({ details: { paths: ['@git/HEAD'] } });
  });

  it('may change a file back', async () => {
    const work = reading(() => {
      tree.write({ 'a.txt': 'x\n' });
      tree.write({ 'a.txt': 'one\n' });
    });
    await expect(work).resolves.toBeUndefined();
  });
});

describe('an effect in mode write', () => {
  it('may change what its globs name', async () => {
    const work = writing(noLimits, () => {
      tree.write({ 'src/b.txt': 'x\n', 'src/deep/new': 'n\n' });
      return 'written';
    });
    await expect(work).resolves.toBe('written');
  });

  it('is a violation when it moves a file out of them', async () => {
    const work = writing(noLimits, () => renameSync(tree.at('src/b.txt'), tree.at('c.txt')));
    await expect(work).rejects.toMatchObject({ details: { paths: ['c.txt'], count: 1 } });
  });

  it('is a violation that names five paths and counts the others', async () => {
    const work = writing(noLimits, () => {
      for (const name of '1234567') tree.write({ [name]: 'x\n' });
    });
    await expect(work).rejects.toMatchObject({
      message: expect.stringContaining('changed "1", "2", "3", "4", "5" and 2 more in '),
      details: { paths: ['1', '2', '3', '4', '5'], count: 7 },
    });
  });

  it('may change as many files and lines as its limits say, and no more', async () => {
    const change = () => tree.write({ 'src/b.txt': 'x\n', 'src/new': '1\n2\n' });
    await expect(writing({ filesChanged: 2, linesChanged: 4 }, change)).resolves.toBeUndefined();
    tree.git('reset', '--hard', '--quiet');
    tree.git('clean', '--force', '--quiet');
    await expect(writing({ filesChanged: 2, linesChanged: 3 }, change)).rejects.toMatchObject({
      code: 'WORKSPACE_LIMIT',
      message: 'The attempt changed 2 files and 4 lines; allowed are 2 files and 3 lines.',
      details: { filesChanged: 2, linesChanged: 4, limits: { filesChanged: 2, linesChanged: 3 } },
    });
    tree.git('reset', '--hard', '--quiet');
    tree.git('clean', '--force', '--quiet');
    await expect(writing({ filesChanged: 1 }, change)).rejects.toMatchObject({
      code: 'WORKSPACE_LIMIT',
      message: expect.stringContaining('1 files and any number of lines'),
    });
  });

  it('is a violation before it is over a limit', async () => {
    const work = writing({ filesChanged: 0 }, () => tree.write({ new: 'n\n' }));
    await expect(work).rejects.toMatchObject({ code: 'WORKSPACE_VIOLATION' });
  });
});

describe('what an effect did to its workspace', () => {
  it('outranks the error that it threw, which becomes the cause', async () => {
    const failure = new Error('the service is away');
    const fail = () => {
      tree.write({ 'src/b.txt': 'x\n' });
      throw failure;
    };
    const violation = reading(fail);
    await expect(violation).rejects.toMatchObject({ code: 'WORKSPACE_VIOLATION', cause: failure });
    tree.git('reset', '--hard', '--quiet');
    const over = writing({ linesChanged: 1 }, fail);
    await expect(over).rejects.toMatchObject({ code: 'WORKSPACE_LIMIT', cause: failure });
  });

  it('is still looked at when the effect was aborted', async () => {
    const controller = new AbortController();
    const guard = { policy: tree.read(), limits: noLimits, inspector, signal: controller.signal };
    const work = underWorkspacePolicy(guard, () => {
      tree.write({ new: 'n\n' });
      controller.abort();
      throw new Error('aborted');
    });
    await expect(work).rejects.toMatchObject({ code: 'WORKSPACE_VIOLATION' });
  });

  it('is unknown when it destroyed the repository, and the attempt has failed', async () => {
    const work = reading(() => {
      renameSync(tree.at('.git'), tree.at('gone'));
      return 'done';
    });
    await expect(work).rejects.toMatchObject({ code: 'WORKSPACE_INSPECTION' });
  });

  it('is not looked for beyond the exit signal', async () => {
    const exitSignal = AbortSignal.abort();
    const guard = { policy: tree.read(), limits: noLimits, inspector, signal: never, exitSignal };
    const failure = new Error('late');
    const work = underWorkspacePolicy(guard, () => Promise.reject(failure));
    await expect(work).rejects.toMatchObject({ code: 'ABORTED', cause: failure });
  });
});

describe('an effect whose workspace cannot be inspected', () => {
  it.each([
    [
      'the folder is not the top of a worktree',
      () => tree.at('src'),
      never,
      'WORKSPACE_INSPECTION',
    ],
    ['the signal is aborted', () => tree.folder, AbortSignal.abort(), 'ABORTED'],
  ])('never starts when %s', async (_, folder, signal, code) => {
    const policy = { mode: 'read', directory: folder(), allowedPaths: [] } as const;
    const guard = { policy, limits: noLimits, inspector, signal };
    const work = underWorkspacePolicy(guard, () => expect.unreachable('it must not start'));
    await expect(work).rejects.toMatchObject({ code });
  });
});
