import {
  chmodSync,
  existsSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { createGitInspector } from 'holdfast';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { GitWorktree, never } from './git-worktree.ts';

let tree: GitWorktree;

beforeEach(() => {
  tree = new GitWorktree();
  tree.commit({ 'a.txt': 'one\ntwo\nthree\n', 'src/b.txt': 'b\n' });
});

afterEach(() => tree.remove());

async function changed(work: () => unknown): Promise<readonly string[]> {
  const { changes, paths } = await tree.changes(work);
  const moved = paths.slice(changes.length);
  return [...changes.map(({ path, kind, lines }) => `${kind} ${path} ${lines}`), ...moved];
}

describe('the changes of a worktree', () => {
  it('are none when nothing is done', async () => {
    tree.write({ 'a.txt': 'dirty before\n', new: 'untracked before\n' });
    expect(await tree.changes(() => {})).toEqual({
      changes: [],
      paths: [],
      filesChanged: 0,
      linesChanged: 0,
    });
  });

  it('are added, modified and deleted files with their lines', async () => {
    const work = () => {
      tree.write({ 'a.txt': 'one\n2\nthree\nfour\n', new: 'x\ny' });
      rmSync(tree.at('src/b.txt'));
    };
    const expected = ['modified a.txt 3', 'added new 2', 'deleted src/b.txt 1'];
    expect(await changed(work)).toEqual(expected);
    expect(await tree.changes(() => {})).toMatchObject({ filesChanged: 0 });
  });

  it('count files and lines', async () => {
    const { filesChanged, linesChanged } = await tree.changes(() => {
      tree.write({ 'a.txt': 'one\n', new: '1\n2\n3\n' });
    });
    expect({ filesChanged, linesChanged }).toEqual({ filesChanged: 2, linesChanged: 5 });
  });

  it('name both paths of a renamed file', async () => {
    const rename = () => renameSync(tree.at('a.txt'), tree.at('z.txt'));
    expect(await changed(rename)).toEqual(['deleted a.txt 3', 'added z.txt 3']);
    const staged = () => tree.git('mv', 'src/b.txt', 'src/c.txt');
    expect(await changed(staged)).toEqual(['deleted src/b.txt 1', 'added src/c.txt 1']);
  });

  it('count from what was dirty before, not from HEAD', async () => {
    tree.write({ 'a.txt': '1\n2\n3\n4\n5\n', new: 'n\n' });
    const work = () => tree.write({ 'a.txt': '1\n2\n3\n4\n5\n6\n', new: 'm\n' });
    expect(await changed(work)).toEqual(['modified a.txt 1', 'modified new 2']);
  });

  it('count what is staged, also when the file was changed back', async () => {
    const stage = () => {
      tree.write({ 'a.txt': 'staged\n' });
      tree.git('add', 'a.txt');
    };
    expect(await changed(stage)).toEqual(['modified a.txt 4']);
    tree.git('reset', '--hard', '--quiet');
    const hide = () => {
      stage();
      tree.write({ 'a.txt': 'one\ntwo\nthree\n' });
    };
    expect(await changed(hide)).toEqual(['modified a.txt 4']);
  });

  it('count what is committed, and the move of HEAD', async () => {
    const work = () => tree.commit({ 'a.txt': 'one\n', new: 'n\n' });
    expect(await changed(work)).toEqual(['modified a.txt 2', 'added new 1', '@git/HEAD']);
  });

  it('count the commit of what was dirty before by what left the index', async () => {
    tree.write({ 'a.txt': 'one\n' });
    expect(await changed(() => tree.commit())).toEqual(['modified a.txt 2', '@git/HEAD']);
  });

  it('are none for files changed and changed back', async () => {
    tree.write({ new: 'n\n' });
    const work = () => {
      tree.write({ 'a.txt': 'x', new: 'x' });
      tree.write({ 'a.txt': 'one\ntwo\nthree\n', new: 'n\n' });
    };
    expect(await changed(work)).toEqual([]);
  });

  it('tell of a new branch at the same commit, and of a detached HEAD', async () => {
    expect(await changed(() => tree.git('switch', '--quiet', '-c', 'x'))).toEqual(['@git/HEAD']);
    const detach = () => tree.git('switch', '--quiet', '--detach');
    expect(await changed(detach)).toEqual(['@git/HEAD']);
  });

  it('tell of the first commit', async () => {
    const fresh = new GitWorktree();
    fresh.write({ old: 'o\n' });
    const { paths } = await fresh.changes(() => fresh.commit({ new: 'n\n' }));
    expect(paths).toEqual(['new', 'old', '@git/HEAD']);
    fresh.remove();
  });

  it('count a binary file as one line', async () => {
    const binary = Buffer.from('a\0b\nc\nd\n');
    expect(await changed(() => tree.write({ bin: binary }))).toEqual(['added bin 1']);
    const work = () => tree.write({ bin: Buffer.from('a\0b\nc\r\nd\n') });
    expect(await changed(work)).toEqual(['modified bin 2']);
    tree.commit();
    expect(await changed(() => tree.write({ bin: 'x\ny\n' }))).toEqual(['modified bin 3']);
  });

  it('count a changed mode as a file without lines', async () => {
    const work = () => chmodSync(tree.at('a.txt'), 0o755);
    expect(await changed(work)).toEqual(['modified a.txt 0']);
  });

  it('count changed line ends as a file without lines', async () => {
    const work = () => tree.write({ 'a.txt': 'one\r\ntwo\r\nthree\r\n' });
    expect(await changed(work)).toEqual(['modified a.txt 0']);
  });

  it('leave out what is ignored, and take what becomes ignored for deleted', async () => {
    tree.commit({ '.gitignore': 'out/\n' });
    tree.write({ new: 'n\n' });
    expect(await changed(() => tree.write({ 'out/x': 'x\n' }))).toEqual([]);
    const ignore = () => tree.write({ '.gitignore': 'out/\nnew\n' });
    expect(await changed(ignore)).toEqual(['modified .gitignore 1', 'deleted new 1']);
  });

  it('see a file that left the index and is ignored', async () => {
    tree.commit({ '.gitignore': 'secret\n' });
    tree.write({ secret: 's\n' });
    tree.git('add', '--force', 'secret');
    tree.git('commit', '--quiet', '-m', 'secret');
    tree.git('rm', '--cached', '--quiet', 'secret');
    expect(await changed(() => tree.write({ secret: 't\n' }))).toEqual(['modified secret 2']);
  });

  it('are of the index alone when a file leaves it and stays, or comes back', async () => {
    const leave = () => tree.git('rm', '--cached', '--quiet', 'a.txt');
    expect(await changed(leave)).toEqual(['modified a.txt 3']);
    const comeBack = () => tree.git('reset', '--quiet', '--', 'a.txt');
    expect(await changed(comeBack)).toEqual(['modified a.txt 3']);
  });

  it('see a changed merge conflict', async () => {
    tree.git('switch', '--quiet', '-c', 'other');
    tree.commit({ 'a.txt': 'other\n' });
    tree.git('switch', '--quiet', 'main');
    tree.commit({ 'a.txt': 'mine\n' });
    const merge = () => expect(() => tree.git('merge', 'other')).toThrow();
    const merging = ['@git/MERGE_HEAD', '@git/MERGE_MODE'];
    expect(await changed(merge)).toEqual(['modified a.txt 4', ...merging]);
    expect(await changed(() => {})).toEqual([]);
    expect(await changed(() => tree.write({ 'a.txt': 'mine\n' }))).toEqual(['modified a.txt 4']);
  });

  it('compare what git would store where a filter stands between', async () => {
    tree.git('config', 'core.autocrlf', 'true');
    tree.write({ 'a.txt': 'one\r\ntwo\r\nthree\r\nfour\r\n' });
    const work = () => tree.commit();
    expect(await changed(work)).toEqual(['modified a.txt 1', '@git/HEAD']);
    const edit = () => tree.write({ 'a.txt': 'one\r\ntwo\r\nthree\r\n5\r\n' });
    expect(await changed(edit)).toEqual(['modified a.txt 2']);
  });

  it('are seen through settings that would hide them', async () => {
    for (const setting of [
      'status.showUntrackedFiles=no',
      'status.renames=copies',
      'color.ui=always',
    ]) {
      const [key = '', value = ''] = setting.split('=');
      tree.git('config', key, value);
    }
    expect(await changed(() => tree.write({ new: 'n\n' }))).toEqual(['added new 1']);
  });

  it('are looked for without writing, locking or running a hook', async () => {
    tree.write({ '.git/hooks/post-index-change': '#!/bin/sh\ntouch "$PWD/hooked"\n' });
    chmodSync(tree.at('.git/hooks/post-index-change'), 0o755);
    tree.git('config', 'core.fsmonitor', `touch ${tree.at('monitored')}; false`);
    tree.write({ '.git/index.lock': '' });
    const count = () => rmSync(tree.at('a.txt'));
    expect(await changed(count)).toEqual(['deleted a.txt 3']);
    expect(['hooked', 'monitored'].filter((name) => existsSync(tree.at(name)))).toEqual([]);
  });
});

describe('names in a worktree', () => {
  it.each(['a b', ' a ', 'a\nb', 'a\r', 'a"b\\c', "it's", '-a', 'Ünïcödé', '*', ':(top)x', '\x01'])(
    'may be %j',
    async (name) => {
      expect((await tree.changes(() => tree.write({ [name]: 'x\n' }))).paths).toEqual([name]);
      tree.commit();
      const { paths } = await tree.changes(() => tree.commit({ [name]: 'y\n' }));
      expect(paths).toEqual([name, '@git/HEAD']);
    },
  );

  it('may be no UTF-8, and are told apart', async () => {
    const place = (byte: number) =>
      Buffer.concat([Buffer.from(`${tree.folder}/n`), Buffer.from([byte])]);
    writeFileSync(place(0xfe), 'x\n');
    writeFileSync(place(0xff), 'x\n');
    const { changes } = await tree.changes(() => writeFileSync(place(0xff), 'y\n'));
    expect(changes).toEqual([{ path: 'n\\xff', kind: 'modified', lines: 2 }]);
    tree.git('add', '--all');
    const committed = await tree.changes(() => rmSync(place(0xfe)));
    expect(committed.changes).toEqual([{ path: 'n\\xfe', kind: 'deleted', lines: 1 }]);
  });
});

describe('symbolic links', () => {
  it('are compared by their target and never followed', async () => {
    const outside = new GitWorktree();
    outside.write({ x: '1\n' });
    symlinkSync(outside.at('x'), tree.at('link'));
    expect(await changed(() => outside.write({ x: '2\n' }))).toEqual([]);
    const relink = () => {
      rmSync(tree.at('link'));
      symlinkSync('elsewhere', tree.at('link'));
    };
    expect(await changed(relink)).toEqual(['modified link 2']);
    expect(await changed(() => tree.commit())).toEqual(['modified link 1', '@git/HEAD']);
    outside.remove();
  });

  it('in the place of a folder hide nothing of it', async () => {
    const outside = new GitWorktree();
    outside.write({ 'b.txt': 'b\n' });
    const swap = () => {
      rmSync(tree.at('src'), { recursive: true });
      symlinkSync(outside.folder, tree.at('src'));
    };
    expect(await changed(swap)).toEqual(['added src 1', 'deleted src/b.txt 1']);
    outside.remove();
  });

  it('in the place of a file change it', async () => {
    const swap = () => {
      rmSync(tree.at('a.txt'));
      symlinkSync('src/b.txt', tree.at('a.txt'));
    };
    expect(await changed(swap)).toEqual(['modified a.txt 4']);
  });
});

describe('a nested repository', () => {
  it('is one path, whatever changes inside', async () => {
    const inner = new GitWorktree(tree.at('deep/inner'));
    inner.commit({ x: 'x\n' });
    expect(await changed(() => inner.write({ x: 'y\n', z: 'z\n' }))).toEqual([
      'modified deep/inner 2',
    ]);
    expect(await changed(() => inner.write({ z: 'zz\n' }))).toEqual(['modified deep/inner 2']);
    expect(await changed(() => inner.commit())).toEqual(['modified deep/inner 2']);
    expect(await changed(() => {})).toEqual([]);
    expect(await changed(() => inner.remove())).toEqual(['deleted deep/inner 1']);
  });

  it('is added as its files and the folder of git, and one path from then on', async () => {
    const inner = () => new GitWorktree(tree.at('inner'));
    const work = () => inner().write({ x: 'x\n', y: 'y\n' });
    const expected = ['added inner/.git 1', 'added inner/x 1', 'added inner/y 1'];
    expect(await changed(work)).toEqual(expected);
    expect(await changed(() => inner().write({ x: 'z\n' }))).toEqual(['modified inner 2']);
  });

  it('is one path as a submodule, clean or not', async () => {
    const origin = new GitWorktree();
    origin.commit({ x: 'x\n' });
    const add = () =>
      tree.git(
        '-c',
        'protocol.file.allow=always',
        'submodule',
        '--quiet',
        'add',
        origin.folder,
        'm',
      );
    const added = ['added .gitmodules 3', 'added m 1', 'added m/.git 1', 'added m/x 1'];
    const ofGit = ['config', 'modules/m/config', 'modules/m/description', 'modules/m/info/exclude'];
    expect(await changed(add)).toEqual([...added, ...ofGit.map((name) => `@git/${name}`)]);
    tree.commit();
    tree.git('config', 'submodule.m.ignore', 'all');
    const dirty = () => tree.write({ 'm/x': 'y\n' });
    expect(await changed(dirty)).toEqual(['modified m 2']);
    expect(await changed(() => tree.write({ 'm/new': 'n\n' }))).toEqual(['modified m 2']);
    const restore = () => {
      tree.write({ 'm/x': 'x\n' });
      rmSync(tree.at('m/new'));
    };
    expect(await changed(restore)).toEqual(['modified m 2']);
    expect(await changed(dirty)).toEqual(['modified m 2']);
    origin.remove();
  });

  it('is where the index says as a submodule without a checkout', async () => {
    const commit = tree.git('rev-parse', 'HEAD').trim();
    mkdirSync(tree.at('m'));
    tree.git('update-index', '--add', '--cacheinfo', `160000,${commit},m`);
    expect(await changed(() => tree.write({ 'a.txt': 'one\n' }))).toEqual(['modified a.txt 2']);
  });
});

describe('a folder that cannot be inspected', () => {
  const inspector = createGitInspector();

  function refusal(message: RegExp): unknown {
    return expect.objectContaining({
      code: 'WORKSPACE_INSPECTION',
      message: expect.stringMatching(message),
    });
  }

  it('is not the top of its worktree', async () => {
    await expect(inspector.capture(tree.at('src'), never)).rejects.toEqual(refusal(/top folder/));
    await expect(inspector.capture(tree.at('.git'), never)).rejects.toEqual(refusal(/top folder/));
  });

  it('is no repository: git says so', async () => {
    rmSync(tree.at('.git'), { recursive: true });
    const said = refusal(/git rev-parse ended with 128: fatal: not a git repository/);
    await expect(inspector.capture(tree.folder, never)).rejects.toEqual(said);
  });

  it('does not exist, or is a file', async () => {
    await expect(inspector.capture(tree.at('no'), never)).rejects.toEqual(
      refusal(/no such folder/),
    );
    await expect(inspector.capture(tree.at('a.txt'), never)).rejects.toEqual(refusal(/folder/));
  });

  it('has a broken index', async () => {
    tree.write({ '.git/index': 'broken' });
    await expect(inspector.capture(tree.folder, never)).rejects.toEqual(
      refusal(/git ls-files ended/),
    );
  });

  it('is on a machine without git', async () => {
    const { PATH } = process.env;
    process.env['PATH'] = path.join(tree.folder, 'src');
    const refused = expect(inspector.capture(tree.folder, never)).rejects;
    await refused.toEqual(refusal(/git cannot be started/)).finally(() => {
      process.env['PATH'] = PATH;
    });
  });

  it('is not pointed elsewhere by the environment of the host', async () => {
    process.env['GIT_DIR'] = '/nowhere';
    const captured = await inspector.capture(tree.folder, never).finally(() => {
      delete process.env['GIT_DIR'];
    });
    expect(captured.branch).toBe('main');
  });

  it('is given up when the signal is aborted', async () => {
    const aborted = expect.objectContaining({ code: 'ABORTED' });
    const stopped = inspector.capture(tree.folder, AbortSignal.abort());
    await expect(stopped).rejects.toEqual(aborted);
    const controller = new AbortController();
    const stopping = inspector.capture(tree.folder, controller.signal);
    controller.abort();
    await expect(stopping).rejects.toEqual(aborted);
  });

  it('is a linked worktree as good as a main one', async () => {
    const place = `${tree.folder}-linked`;
    tree.git('worktree', 'add', '--quiet', '-b', 'linked', place);
    const captured = await inspector.capture(place, never);
    expect(captured).toMatchObject({ directory: place, branch: 'linked' });
    rmSync(place, { recursive: true });
  });

  it('has a folder where HEAD has a file, and the other way round', async () => {
    const work = () => {
      rmSync(tree.at('a.txt'));
      mkdirSync(tree.at('a.txt'));
      tree.write({ 'a.txt/x': 'x\n' });
    };
    expect(await changed(work)).toEqual(['deleted a.txt 3', 'added a.txt/x 1']);
  });

  it.each([0, 1.5, Number.NaN, 2 ** 31])('takes no time bound of %s', (timeoutMs) => {
    const refused = expect.objectContaining({ code: 'INVALID_OPTION' });
    expect(() => createGitInspector({ timeoutMs })).toThrow(refused);
  });
});
