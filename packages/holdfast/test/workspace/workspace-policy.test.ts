import { checkWorkspacePolicy, foreignPaths, noWorkspace } from 'holdfast';
import { describe, expect, it } from 'vitest';

const directory = '/srv/repo';

function mayWrite(...allowedPaths: readonly unknown[]): unknown {
  return { mode: 'write', directory, allowedPaths };
}

function foreign(globs: readonly string[], paths: readonly string[]): readonly string[] {
  return foreignPaths(checkWorkspacePolicy(mayWrite(...globs)), paths);
}

describe('a workspace policy', () => {
  it.each([
    [{ mode: 'none', directory: null, allowedPaths: [] }],
    [{ mode: 'read', directory, allowedPaths: [] }],
    [{ mode: 'write', directory, allowedPaths: ['src/**', 'a file.txt', '{a,b}/*.ts'] }],
  ])('is taken as it is: %j', (given) => {
    const checked = checkWorkspacePolicy(given);
    expect(checked).toEqual(given);
    expect(Object.isFrozen(checked)).toBe(true);
    expect(Object.isFrozen(checked.allowedPaths)).toBe(true);
  });

  it.each<[string, unknown, string]>([
    ['that is no object', null, 'workspace'],
    ['that is a list', [], 'workspace'],
    ['with an unknown field', { ...noWorkspace, paths: [] }, 'workspace'],
    ['without a mode', { directory, allowedPaths: [] }, 'workspace.mode'],
    ['of an unknown mode', { mode: 'rw', directory, allowedPaths: [] }, 'workspace.mode'],
    ['none with a directory', { mode: 'none', directory, allowedPaths: [] }, 'workspace.directory'],
    ['none without null', { mode: 'none', allowedPaths: [] }, 'workspace.directory'],
    ['none with paths', { ...noWorkspace, allowedPaths: ['a'] }, 'workspace.allowedPaths'],
    ['read without a directory', { ...noWorkspace, mode: 'read' }, 'workspace.directory'],
    [
      'read of a relative one',
      { mode: 'read', directory: 'a', allowedPaths: [] },
      'workspace.directory',
    ],
    ['read with paths', { mode: 'read', directory, allowedPaths: ['a'] }, 'workspace.allowedPaths'],
    ['without a list of paths', { mode: 'read', directory }, 'workspace.allowedPaths'],
    ['write without paths', mayWrite(), 'workspace.allowedPaths'],
    ['with a path that is no text', mayWrite(1), 'workspace.allowedPaths[0]'],
    ['with an empty path', mayWrite('a', ''), 'workspace.allowedPaths[1]'],
    ['with a path twice', mayWrite('a', 'a'), 'workspace.allowedPaths[1]'],
    ['with white space around a path', mayWrite(' a'), 'workspace.allowedPaths[0]'],
    ['with ..', mayWrite('a/../b'), 'workspace.allowedPaths[0]'],
    ['with .. in braces', mayWrite('{a,..}/b'), 'workspace.allowedPaths[0]'],
    ['with a backslash', mayWrite('a\\b'), 'workspace.allowedPaths[0]'],
    ['with an absolute path', mayWrite('/a'), 'workspace.allowedPaths[0]'],
    ['with a drive', mayWrite('C:/a'), 'workspace.allowedPaths[0]'],
    ['with a negation', mayWrite('!a'), 'workspace.allowedPaths[0]'],
    ['with a folder for all in it', mayWrite('src/'), 'workspace.allowedPaths[0]'],
    ['with a dot as a part', mayWrite('./src'), 'workspace.allowedPaths[0]'],
    ['with a line end', mayWrite('a\nb'), 'workspace.allowedPaths[0]'],
    ['with an open bracket', mayWrite('a[b'), 'workspace.allowedPaths[0]'],
    ['with a very long path', mayWrite('a'.repeat(1_001)), 'workspace.allowedPaths[0]'],
  ])('%s is refused, and the place named', (_, given, place) => {
    const refusal = expect.objectContaining({ code: 'INVALID_OPTION', details: { option: place } });
    expect(() => checkWorkspacePolicy(given)).toThrow(refusal);
  });

  it('is refused with the place that its caller gives, and the value', () => {
    const check = () => checkWorkspacePolicy(mayWrite('../x'), 'nodes.critic.workspace');
    expect(check).toThrow(/nodes\.critic\.workspace\.allowedPaths\[0\] .*not \.\.\/x/);
  });
});

describe('a changed path', () => {
  it('is never foreign in mode none, and always in mode read', () => {
    const read = checkWorkspacePolicy({ mode: 'read', directory, allowedPaths: [] });
    expect(foreignPaths(noWorkspace, ['a'])).toEqual([]);
    expect(foreignPaths(read, ['a', '@git/HEAD'])).toEqual(['a', '@git/HEAD']);
  });

  it.each<[readonly string[], readonly string[], readonly string[]]>([
    [['src/**'], ['src/a.ts', 'src/b/c.ts', 'lib/a.ts', 'src2/a.ts'], ['lib/a.ts', 'src2/a.ts']],
    [['*.md'], ['a.md', 'docs/a.md'], ['docs/a.md']],
    [
      ['src/**', 'a/*'],
      ['src', 'a'],
      ['src', 'a'],
    ],
    [
      ['**', '*/*/*'],
      ['@git/HEAD', '@git/config', '@git/hooks/x'],
      ['@git/config', '@git/hooks/x'],
    ],
    [['@git/hooks/*', 'a'], ['@git/hooks/x', '@git/config', 'a'], ['@git/config']],
    [['**'], ['.github/x', 'a/.b/c', 'a b', 'a\nb', '@git/HEAD'], []],
    [['src/*'], ['src/.env', 'src/a\\xff'], []],
    [['src/*', '@git/HEAD'], ['@git/HEAD', 'src/a'], []],
    [['src/*'], ['SRC/a', '@git/HEAD'], ['SRC/a', '@git/HEAD']],
    [['{a,b}/*.ts', 'c?.txt'], ['a/x.ts', 'b/y.ts', 'c1.txt', 'c12.txt'], ['c12.txt']],
  ])('is foreign in mode write when none of %j matches', (globs, paths, expected) => {
    expect(foreign(globs, paths)).toEqual(expected);
  });
});
