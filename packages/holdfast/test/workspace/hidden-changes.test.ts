/** What an attempt does so that git says nothing of it: every trick with the real git. */
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createGitInspector } from 'holdfast';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { GitWorktree, never } from './git-worktree.ts';

let tree: GitWorktree;
let outside: GitWorktree;

beforeEach(() => {
  tree = new GitWorktree();
  tree.commit({ 'a.txt': 'one\n', 'src/b.txt': 'b\n', '.gitignore': 'build/\n' });
  outside = new GitWorktree();
  // Whole seconds, which can be set as they were.
  utimesSync(tree.at('a.txt'), 1_600_000_000, 1_600_000_000);
  tree.git('status');
});

afterEach(() => {
  tree.remove();
  outside.remove();
});

async function seen(work: () => unknown): Promise<readonly string[]> {
  return (await tree.changes(work)).paths;
}

function edit(): void {
  tree.write({ 'a.txt': 'two\n' });
}

/** Other bytes, and everything of the file's record that its owner may set as it was. */
function editUnderTheSameStat(): void {
  const { atime, mtime } = lstatSync(tree.at('a.txt'));
  edit();
  utimesSync(tree.at('a.txt'), atime, mtime);
}

describe('a change is seen', () => {
  it.each(['--assume-unchanged', '--skip-worktree', '--fsmonitor-valid'])(
    'of a file that the index marks %s, by the attempt or before it',
    async (flag) => {
      const mark = () => tree.git('update-index', flag, 'a.txt');
      const markAndEdit = () => {
        mark();
        edit();
      };
      expect(await seen(markAndEdit)).toContain('a.txt');
      tree.git('update-index', flag.replace('--', '--no-'), 'a.txt');
      tree.git('reset', '--quiet', '--hard');
      mark();
      expect(await seen(edit)).toEqual(['a.txt']);
    },
  );

  it.each([
    ['--assume-unchanged', '--no-assume-unchanged'],
    ['--skip-worktree', '--no-skip-worktree'],
  ])('when a file is marked %s and not touched yet', async (flag, unflag) => {
    expect(await seen(() => tree.git('update-index', flag, 'a.txt'))).toEqual(['a.txt']);
    expect(await seen(() => tree.git('update-index', unflag, 'a.txt'))).toEqual(['a.txt']);
  });

  it('of a file that keeps its size and gets its times back', async () => {
    expect(await seen(editUnderTheSameStat)).toEqual(['a.txt']);
  });

  it('of such a file when the settings and the index were made to believe it', async () => {
    const work = () => {
      tree.git('config', 'core.trustctime', 'false');
      tree.git('config', 'core.checkStat', 'minimal');
      editUnderTheSameStat();
      expect(tree.git('status', '--porcelain')).toBe('');
    };
    expect(await seen(work)).toEqual(['a.txt', '@git/config']);
  });

  it('of a mode when git does not look at modes', async () => {
    const work = () => {
      tree.git('config', 'core.fileMode', 'false');
      chmodSync(tree.at('a.txt'), 0o755);
    };
    expect(await seen(work)).toEqual(['a.txt', '@git/config']);
    chmodSync(tree.at('a.txt'), 0o644);
    expect(await seen(() => chmodSync(tree.at('a.txt'), 0o755))).toEqual(['a.txt']);
    expect(await seen(() => chmodSync(tree.at('a.txt'), 0o4755))).toEqual(['a.txt']);
  });

  it('of a file whose filter gives back what is committed', async () => {
    tree.git('config', 'filter.same.clean', 'echo one');
    tree.git('config', 'filter.same.smudge', 'cat');
    const work = () => {
      tree.write({ '.git/info/attributes': '*.txt filter=same\n' });
      edit();
    };
    expect(await seen(work)).toEqual(['a.txt', '@git/info/attributes']);
    tree.write({ 'a.txt': 'one\n' });
    expect(await seen(edit)).toEqual(['a.txt']);
  });

  it('of what git takes out of a file before it compares', async () => {
    tree.commit({ '.gitattributes': '*.txt ident\n', 'a.txt': '$Id$\n' });
    const work = () => tree.write({ 'a.txt': '$Id: rm -rf everything $\n' });
    expect(await seen(work)).toEqual(['a.txt']);
  });

  it('through a file monitor and a cache that know of none', async () => {
    tree.git('update-index', '--untracked-cache');
    tree.git('status');
    const work = () => {
      tree.write({ '.git/quiet': '#!/bin/sh\nprintf "token\\0"\n' });
      chmodSync(tree.at('.git/quiet'), 0o755);
      tree.git('config', 'core.fsmonitor', '.git/quiet');
      tree.git('update-index', '--fsmonitor');
      edit();
      tree.write({ new: 'n\n' });
    };
    expect(await seen(work)).toEqual(['a.txt', 'new', '@git/config', '@git/quiet']);
  });

  it('of files that a sparse checkout takes away or leaves out', async () => {
    const work = () => tree.git('sparse-checkout', 'set', '--no-cone', '/src/');
    const paths = await seen(work);
    expect(paths).toEqual(expect.arrayContaining(['.gitignore', 'a.txt']));
    expect(paths).toEqual(expect.arrayContaining(['@git/config', '@git/info/sparse-checkout']));
    expect(await seen(edit)).toEqual(['a.txt']);
  });

  it('of the letters in a name when git takes them for the same', async () => {
    tree.git('config', 'core.ignoreCase', 'true');
    const work = () => renameSync(tree.at('a.txt'), tree.at('A.TXT'));
    expect(await seen(work)).toEqual(['A.TXT', 'a.txt']);
  });
});

describe('a new file is seen', () => {
  it('when the attempt ignores it in .git/info/exclude', async () => {
    const work = () => tree.write({ '.git/info/exclude': '*\n', new: 'n\n', 'src/new': 'n\n' });
    expect(await seen(work)).toEqual(['new', 'src/new', '@git/info/exclude']);
  });

  it('when the attempt ignores it in a .gitignore that ignores itself', async () => {
    const work = () => tree.write({ 'src/.gitignore': '*\n', 'src/new/x': 'x\n' });
    expect(await seen(work)).toEqual(['src/.gitignore', 'src/new/x']);
  });

  it('when the attempt names a list of what is ignored in the configuration', async () => {
    const work = () => {
      outside.write({ list: 'new\n' });
      tree.git('config', 'core.excludesFile', outside.at('list'));
      tree.write({ new: 'n\n' });
    };
    expect(await seen(work)).toEqual(['new', '@git/config', '@git/core.excludesFile']);
  });

  it('when the attempt writes to such a list outside the worktree', async () => {
    outside.write({ list: 'old\n' });
    tree.git('config', 'core.excludesFile', outside.at('list'));
    const work = () => {
      outside.write({ list: 'old\nnew\n' });
      tree.write({ new: 'n\n', old: 'o\n' });
    };
    expect(await seen(work)).toEqual(['new', '@git/core.excludesFile']);
  });

  it('when the attempt takes the exception from an ignored kind', async () => {
    tree.commit({ '.gitignore': '*.log\n', 'src/.gitignore': '!keep.log\n' });
    const work = () => {
      rmSync(tree.at('src/.gitignore'));
      tree.write({ 'src/keep.log': 'k\n', 'src/other.log': 'o\n' });
    };
    expect(await seen(work)).toEqual(['src/.gitignore', 'src/keep.log']);
  });

  it('in a new folder that is made a repository', async () => {
    const work = () => new GitWorktree(tree.at('out/deep')).commit({ x: 'x\n', 'y/z': 'z\n' });
    expect(await seen(work)).toEqual(['out/deep/.git', 'out/deep/x', 'out/deep/y/z']);
  });

  it('in an old folder that is made a repository', async () => {
    const work = () => new GitWorktree(tree.at('src')).write({ new: 'n\n' });
    expect(await seen(work)).toEqual(['src/.git', 'src/new']);
  });

  it('in a folder that was made one before, where this repository has files too', async () => {
    const inner = new GitWorktree(tree.at('src'));
    const work = () => inner.write({ 'b.txt': 'c\n', new: 'n\n' });
    expect(await seen(work)).toEqual(['src', 'src/b.txt']);
    expect(await seen(() => inner.write({ new: 'm\n' }))).toEqual(['src']);
  });

  it('in a folder that is entered in the index as a repository', async () => {
    const commit = tree.git('rev-parse', 'HEAD').trim();
    const work = () => {
      tree.git('update-index', '--add', '--cacheinfo', `160000,${commit},out`);
      new GitWorktree(tree.at('out')).write({ new: 'n\n' });
    };
    expect(await seen(work)).toEqual(['out', 'out/.git', 'out/new']);
  });

  it('that is no file', async () => {
    const work = () => tree.git('-c', 'alias.pipe=!mkfifo pipe', 'pipe');
    expect(await seen(work)).toEqual(['pipe']);
  });
});

describe('what was ignored before', () => {
  it('stays out of sight, whatever the rules become', async () => {
    tree.write({ 'build/x': 'x\n' });
    const work = () => tree.write({ 'build/x': 'y\n', 'build/deep/z': 'z\n', '.gitignore': '' });
    expect(await seen(work)).toEqual(['.gitignore']);
  });

  it('is seen where it left the index and stayed', async () => {
    tree.write({ 'build/x': 'x\n' });
    tree.git('add', '--force', 'build/x');
    const leave = () => {
      tree.git('rm', '--quiet', '--cached', 'build/x');
      tree.write({ 'build/x': 'y\n' });
    };
    const { changes } = await tree.changes(leave);
    expect(changes).toEqual([{ path: 'build/x', kind: 'modified', lines: 2 }]);
  });

  it('is seen where it is tracked all the same', async () => {
    tree.write({ 'build/x': 'x\n', 'build/y': 'y\n' });
    tree.git('add', '--force', 'build/x');
    expect(await seen(() => tree.write({ 'build/x': '1\n', 'build/y': '1\n' }))).toEqual([
      'build/x',
    ]);
  });

  it('follows the exceptions, the folders and the spelling that git knows', async () => {
    tree.commit({ '.gitignore': '/*\n!/src/\n!/[e-g]?\n/src/*.o\n\\#x\nlast \\ \n' });
    const work = () =>
      tree.write({ new: 'n\n', 'src/x': 'x\n', 'src/x.o': 'x\n', f1: 'f\n', 'src/#x': 'x\n' });
    expect(await seen(work)).toEqual(['f1', 'src/x']);
  });

  it('is told by the rules of the repository and of its settings too', async () => {
    outside.write({ list: 'of-user\n' });
    tree.git('config', 'core.excludesFile', outside.at('list'));
    tree.write({ '.git/info/exclude': 'of-repository\n' });
    const work = () => tree.write({ 'of-user': 'u\n', 'of-repository': 'r\n', 'src/own': 'o\n' });
    expect(await seen(work)).toEqual(['src/own']);
  });

  it('is told by letters of either case where the repository says so', async () => {
    tree.git('config', 'core.ignoreCase', 'true');
    expect(await seen(() => tree.write({ 'BUILD/x': 'x\n' }))).toEqual([]);
  });
});

describe('a folder that is swapped', () => {
  it('is a link in its place, which no glob for what is in it allows', async () => {
    const swap = () => {
      rmSync(tree.at('src'), { recursive: true });
      symlinkSync(outside.folder, tree.at('src'));
      tree.write({ 'src/b.txt': 'b\n' });
    };
    await expect(tree.under(tree.mayWrite('src/**'), swap)).rejects.toMatchObject({
      code: 'WORKSPACE_VIOLATION',
      details: { paths: ['src'] },
    });
  });

  it('is not the worktree any more when it is the top', async () => {
    const swap = () => {
      renameSync(tree.folder, outside.at('moved'));
      symlinkSync(outside.at('moved'), tree.folder);
    };
    const violation = tree.under(tree.read(), swap);
    await expect(violation).resolves.toBeUndefined();
    const copy = () => {
      outside.git('clone', '--quiet', outside.at('moved'), outside.at('copy'));
      rmSync(tree.folder);
      symlinkSync(outside.at('copy'), tree.folder);
    };
    const other = tree.under(tree.read(), copy);
    await expect(other).rejects.toMatchObject({
      code: 'WORKSPACE_INSPECTION',
      message: expect.stringContaining('another folder'),
    });
  });
});

describe('a look', () => {
  it('ends in time, however large a file is made', async () => {
    writeFileSync(tree.at('large'), '');
    truncateSync(tree.at('large'), 2 ** 40);
    const look = createGitInspector({ timeoutMs: 500 }).capture(tree.folder, never);
    await expect(look).rejects.toMatchObject({ code: 'WORKSPACE_INSPECTION' });
  });

  it('believes the stamp of a file only while nothing of it was changed', async () => {
    const inspector = createGitInspector({ settleMs: 0 });
    await inspector.capture(tree.folder, never);
    expect((await tree.changes(() => {}, inspector)).paths).toEqual([]);
    expect((await tree.changes(editUnderTheSameStat, inspector)).paths).toEqual(['a.txt']);
    const replace = () => {
      const { atime, mtime } = lstatSync(tree.at('a.txt'));
      outside.write({ other: 'six\n' });
      utimesSync(outside.at('other'), atime, mtime);
      renameSync(outside.at('other'), tree.at('a.txt'));
    };
    expect((await tree.changes(replace, inspector)).paths).toEqual(['a.txt']);
  });

  it('goes on from the one before it, also when that was of another folder', async () => {
    const inspector = createGitInspector({ settleMs: 0 });
    outside.commit({ 'a.txt': 'elsewhere\n' });
    await inspector.capture(outside.folder, never);
    expect((await tree.changes(edit, inspector)).changes).toEqual([
      { path: 'a.txt', kind: 'modified', lines: 2 },
    ]);
  });

  it('takes no snapshot of another inspector to go on from', async () => {
    const foreign = await createGitInspector().capture(tree.folder, never);
    const look = createGitInspector().capture(tree.folder, never, foreign);
    await expect(look).rejects.toThrow(/snapshot of this inspector/);
  });

  it.each([-1, 0.5, Number.NaN])('takes no age of %s for a stamp to be believed', (settleMs) => {
    const refused = expect.objectContaining({ code: 'INVALID_OPTION' });
    expect(() => createGitInspector({ settleMs })).toThrow(refused);
  });

  it('leaves the worktree, the index and the folder of git as they were', async () => {
    mkdirSync(tree.at('empty'));
    tree.write({ new: 'n\n', 'build/x': 'x\n' });
    const index = readFileSync(tree.at('.git/index'));
    const stamp = () =>
      ['', '.git', 'src', 'empty', 'build'].map((name) => lstatSync(tree.at(name)).ctimeMs);
    const before = stamp();
    expect(await seen(() => {})).toEqual([]);
    expect(stamp()).toEqual(before);
    expect(readFileSync(tree.at('.git/index')).equals(index)).toBe(true);
  });
});
