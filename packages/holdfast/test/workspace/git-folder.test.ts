/** What an attempt does to the folder of git, where hooks and settings wait for somebody else. */
import { chmodSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { GitWorktree } from './git-worktree.ts';

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

describe('the folder of git', () => {
  it('is seen to get a hook, and a hook to become one that runs', async () => {
    const install = () => tree.write({ '.git/hooks/pre-commit': '#!/bin/sh\n' });
    expect(await seen(install)).toEqual(['@git/hooks/pre-commit']);
    const arm = () => chmodSync(tree.at('.git/hooks/pre-commit'), 0o755);
    expect(await seen(arm)).toEqual(['@git/hooks/pre-commit']);
    expect(await seen(() => rmSync(tree.at('.git/hooks/pre-commit')))).toEqual([
      '@git/hooks/pre-commit',
    ]);
  });

  it('is seen to get a hook in an ignored folder that holds the hooks', async () => {
    tree.git('config', 'core.hooksPath', 'build/hooks');
    const install = () => tree.write({ 'build/hooks/pre-push': '#!/bin/sh\n' });
    expect(await seen(install)).toEqual(['@git/core.hooksPath/pre-push']);
  });

  it.each<[string, (it: GitWorktree) => unknown, readonly string[]]>([
    ['a branch', (it) => it.git('branch', 'other'), ['@git/refs/heads/other']],
    ['a tag', (it) => it.git('tag', 't'), ['@git/refs/tags/t']],
    ['a moved branch', (it) => it.git('branch', '--force', 'old', 'HEAD'), ['@git/refs/heads/old']],
    ['a lost branch', (it) => it.git('branch', '-D', 'old'), ['@git/refs/heads/old']],
    [
      'a stash',
      (it) => {
        edit();
        it.git('stash');
      },
      ['@git/refs/stash'],
    ],
    [
      'a commit in another place',
      (it) => it.git('replace', 'HEAD', 'HEAD~1'),
      [`@git/refs/replace/`],
    ],
    ['a setting', (it) => it.git('config', 'alias.st', '!rm'), ['@git/config']],
    ['a graft', (it) => it.write({ '.git/info/grafts': '' }), ['@git/info/grafts']],
    [
      'other attributes',
      (it) => it.write({ '.git/info/attributes': '* -diff\n' }),
      ['@git/info/attributes'],
    ],
    [
      'another store of objects',
      (it) => it.write({ '.git/objects/info/alternates': '/elsewhere\n' }),
      ['@git/objects/info/alternates'],
    ],
    [
      'a rebase to go on with',
      (it) => it.write({ '.git/rebase-merge/git-rebase-todo': 'exec rm\n' }),
      ['@git/rebase-merge/git-rebase-todo'],
    ],
    [
      'settings of a repository inside',
      (it) => it.write({ '.git/modules/m/config': '[core]\n' }),
      ['@git/modules/m/config'],
    ],
  ])('is seen to get %s', async (_, work, expected) => {
    tree.git('branch', 'old');
    tree.commit({ 'src/b.txt': 'c\n' });
    const paths = await seen(() => work(tree));
    expect(paths.map((path) => path.replace(/[0-9a-f]{40}$/, ''))).toEqual(expected);
  });

  it('is seen to get settings and attributes in files of the user that it reads', async () => {
    outside.write({ included: '', attributes: '' });
    tree.git('config', 'include.path', outside.at('included'));
    tree.git('config', 'core.attributesFile', outside.at('attributes'));
    const set = () => outside.write({ included: '[alias]\nst = !rm\n' });
    expect(await seen(set)).toEqual(['@git/config']);
    const attribute = () => outside.write({ attributes: '* -diff\n' });
    expect(await seen(attribute)).toEqual(['@git/core.attributesFile']);
  });

  it('is seen to have a hook that leads elsewhere, and a large file of other bytes', async () => {
    symlinkSync(outside.at('one'), tree.at('.git/hooks/pre-push'));
    tree.write({ '.git/large': Buffer.alloc(2 ** 21) });
    const work = () => {
      rmSync(tree.at('.git/hooks/pre-push'));
      symlinkSync(outside.at('two'), tree.at('.git/hooks/pre-push'));
      tree.write({ '.git/large': Buffer.alloc(2 ** 21, 1) });
    };
    expect(await seen(work)).toEqual(['@git/hooks/pre-push', '@git/large']);
  });

  it('is seen in a nested repository too, and is gone with it', async () => {
    const inner = new GitWorktree(tree.at('inner'));
    inner.commit({ x: 'x\n' });
    const install = () => inner.write({ '.git/hooks/pre-commit': '#!/bin/sh\n' });
    expect(await seen(install)).toEqual(['inner']);
    expect(await seen(() => inner.git('tag', 't'))).toEqual(['inner']);
    expect(await seen(() => inner.remove())).toEqual(['inner']);
  });

  it('is not seen twice when it is that of a submodule, nor when that is taken away', async () => {
    outside.commit({ x: 'x\n' });
    const add = ['submodule', '--quiet', 'add', outside.folder, 'm'];
    tree.git('-c', 'protocol.file.allow=always', ...add);
    tree.commit();
    expect(await seen(() => tree.git('-C', 'm', 'config', 'alias.st', '!rm'))).toEqual(['m']);
    expect(await seen(() => rmSync(tree.at('m'), { recursive: true }))).toEqual(['m']);
  });

  it('is one path where it belongs to no repository', async () => {
    tree.write({ 'odd/.git/x': 'x\n', 'odd/y': 'y\n' });
    expect(await seen(() => tree.write({ 'odd/.git/x': 'z\n' }))).toEqual(['odd/.git']);
    expect(await seen(() => {})).toEqual([]);
  });

  it('is seen to hold a commit that hides what was changed', async () => {
    const work = () => {
      edit();
      tree.git('commit', '--quiet', '--all', '--amend', '--no-edit');
    };
    expect(await seen(work)).toEqual(['a.txt', '@git/HEAD']);
  });

  it('is not seen to pack what it holds', async () => {
    tree.git('branch', 'other');
    expect(await seen(() => tree.git('gc', '--quiet', '--prune=now'))).toEqual([]);
  });

  it('is seen to be another', async () => {
    const work = () => {
      tree.git('clone', '--quiet', '--bare', '.', outside.at('other'));
      rmSync(tree.at('.git'), { recursive: true });
      tree.write({ '.git': `gitdir: ${outside.at('other')}\n` });
      tree.git('config', 'core.bare', 'false');
      tree.git('reset', '--quiet');
    };
    expect(await seen(work)).toContain('@git/gitdir');
  });

  it.each([
    ['core.worktree', () => outside.folder],
    ['core.bare', () => 'true'],
  ])('that names another worktree by %s ends the inspection', async (key, value) => {
    const work = () => {
      edit();
      tree.git('config', key, value());
    };
    await expect(seen(work)).rejects.toMatchObject({ code: 'WORKSPACE_INSPECTION' });
  });

  it.each(['GIT_DIR', 'GIT_WORK_TREE', 'GIT_INDEX_FILE', 'GIT_CONFIG_COUNT', 'GIT_TRACE'])(
    'is not taken from %s of the environment',
    async (name) => {
      const value = name === 'GIT_DIR' ? outside.at('.git') : outside.folder;
      const work = () => {
        edit();
        process.env[name] = value;
      };
      const paths = await seen(work).finally(() => {
        delete process.env[name];
      });
      expect(paths).toEqual(['a.txt']);
    },
  );
});

describe('another worktree of the repository', () => {
  it('is outside: that it is made, and what is committed there, is not seen', async () => {
    const place = outside.at('linked');
    const add = () => tree.git('worktree', 'add', '--quiet', '-b', 'linked', place);
    expect(await seen(add)).toEqual([]);
    const work = () => {
      writeFileSync(`${place}/new`, 'n\n');
      tree.git('-C', place, 'add', '--all');
      tree.git('-C', place, 'commit', '--quiet', '--message', 'there');
    };
    expect(await seen(work)).toEqual([]);
  });

  it('does not make a branch its own that was there before', async () => {
    tree.git('branch', 'old');
    const work = () => {
      tree.git('worktree', 'add', '--quiet', outside.at('linked'), 'old');
      tree.git('-C', outside.at('linked'), 'commit', '--quiet', '--allow-empty', '-m', 'moved');
    };
    expect(await seen(work)).toEqual(['@git/refs/heads/old']);
  });

  it('is one path where it stands in this one, whatever is committed here', async () => {
    tree.commit({ '.gitignore': '' });
    const inner = tree.linked('inner', tree.at('inner'));
    expect(await seen(() => tree.git('commit', '--quiet', '--allow-empty', '-m', 'here'))).toEqual([
      '@git/HEAD',
    ]);
    expect(await seen(() => inner.commit({ new: 'n\n' }))).toEqual(['inner']);
  });

  it('is seen to get settings of its own, which may name programs', async () => {
    const linked = tree.linked('linked', outside.at('linked'));
    tree.git('config', 'extensions.worktreeConfig', 'true');
    const work = () => linked.git('config', '--worktree', 'core.hooksPath', '/elsewhere');
    expect(await seen(work)).toEqual(['@git/worktrees/linked/config.worktree']);
  });

  it('sees as little of the main one, and all that both share', async () => {
    const linked = tree.linked('linked', outside.at('linked'));
    const commit = () => {
      tree.commit({ new: 'n\n' });
      tree.write({ '.git/MERGE_HEAD': tree.git('rev-parse', 'HEAD') });
    };
    expect((await linked.changes(commit)).paths).toEqual([]);
    const share = () => tree.git('config', 'alias.st', '!rm');
    expect((await linked.changes(share)).paths).toEqual(['@git/config']);
    const todo = () =>
      tree.write({ '.git/worktrees/linked/rebase-merge/git-rebase-todo': 'x rm\n' });
    expect((await linked.changes(todo)).paths).toEqual(['@git/rebase-merge/git-rebase-todo']);
    const own = () => linked.commit({ own: 'o\n' });
    expect((await linked.changes(own)).paths).toEqual(['own', '@git/HEAD']);
  });
});

describe('what stands in the folder of git', () => {
  const install = () => tree.write({ '.git/hooks/pre-commit': '#!/bin/sh\n' });

  it('is allowed by no glob for files, not even the one for all', async () => {
    const violation = tree.under(tree.mayWrite('**'), install);
    await expect(violation).rejects.toMatchObject({
      code: 'WORKSPACE_VIOLATION',
      details: { paths: ['@git/hooks/pre-commit'] },
    });
  });

  it('is allowed by a glob that names it', async () => {
    await expect(tree.under(tree.mayWrite('@git/hooks/*'), install)).resolves.toBeUndefined();
  });

  it('is not needed for a commit where all files are allowed', async () => {
    const work = () => tree.commit({ 'a.txt': 'three\n' });
    await expect(tree.under(tree.mayWrite('**'), work)).resolves.toBeUndefined();
  });
});
