import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { brokenLinks, relativeLinks } from '../../src/report/broken-links.ts';
import { fileSizes, sizeText } from '../../src/report/file-tree.ts';
import { gitItems } from '../../src/report/git.ts';
import { changedAreas, commitsSince, survey } from '../../src/report/history.ts';
import { findRepository, type Repository } from '../../src/report/repository.ts';
import { workMarkers } from '../../src/report/work-markers.ts';
import { TestRepository } from '../fakes/repository.ts';
import { Workspace } from '../fakes/workspace.ts';

const { signal } = new AbortController();

describe('the facts of a repository', () => {
  const place = new Workspace();
  let of: Repository;

  beforeAll(async () => {
    const repository = new TestRepository(place.path('shop'));
    repository.commit('Begin', { 'src/a.ts': 'let a;\n', 'README.md': '# Shop\n' });
    repository.git('tag', 'v1.0.0');
    repository.commit('Add pages, "quotes" | and <tags>', {
      'docs/guide.md': [
        '# Guide',
        '[good](../README.md) [folder](../src/) [top](/src/a.ts#L1) [out](../../elsewhere.md)',
        '[bad](missing.md) and ![image](<pic 1.png>) [web](https://example.org/x.md) [here](#x)',
        '`[code](no.md)`',
        '```',
        '[fenced](no.md)',
        '```',
        '[defined]: gone.md',
      ].join('\n'),
      'src/a.ts': 'let a;\n// TODO: name it\n/* FIXME it */\nconst text = "a TODO in a text";\n',
      'docs/größe & ü.md': 'TODO at the beginning\n',
    });
    repository.commit('Weigh', { 'assets/big.bin': '\0'.repeat(2_000_000) });
    of = await findRepository(place.path('shop/src'));
  });

  afterAll(() => {
    place.remove();
  });

  it('stand for the whole repository, wherever in it one asks', () => {
    expect(of).toMatchObject({ name: 'shop', head: expect.stringMatching(/^[0-9a-f]{40}$/) });
    expect(of.repository.endsWith('/shop')).toBe(true);
  });

  it('commits and areas since the last tag', async () => {
    const found = await survey(of, signal);
    expect(found).toEqual({ base: 'v1.0.0', commits: 2, summary: 'since v1.0.0' });
    const commits = await commitsSince(of, found, signal);
    expect(commits.newest.map(({ subject }) => subject)).toEqual([
      'Weigh',
      'Add pages, "quotes" | and <tags>',
    ]);
    expect(commits.summary).toBe('2 commits by 1 person');
    const areas = await changedAreas(of, found, signal);
    expect(areas).toEqual({
      total: 4,
      areas: [
        { area: 'docs', files: 2, added: 9, deleted: 0 },
        { area: 'assets', files: 1, added: 0, deleted: 0 },
        { area: 'src', files: 1, added: 3, deleted: 0 },
      ],
      summary: '4 files in 3 areas',
    });
  });

  it('work markers, but not texts that only name them', async () => {
    const { todo, fixme, first } = await workMarkers(of, signal);
    expect([todo, fixme]).toEqual([2, 1]);
    expect(first.map(({ path, line, kind }) => `${path}:${line} ${kind}`)).toEqual([
      'docs/größe & ü.md:1 TODO',
      'src/a.ts:2 TODO',
      'src/a.ts:3 FIXME',
    ]);
  });

  it('broken relative links, with their lines', async () => {
    const { links, broken, first, pages } = await brokenLinks(of, signal);
    expect([pages, links, broken]).toEqual([3, 7, 3]);
    expect(first.map(({ line, target }) => `${line} ${target}`)).toEqual([
      '3 missing.md',
      '3 pic 1.png',
      '8 gone.md',
    ]);
  });

  it('the largest files', async () => {
    const { files, largest } = await fileSizes(of, signal);
    expect(files).toBe(5);
    expect(largest[0]).toEqual({ path: 'assets/big.bin', bytes: 2_000_000 });
    expect(largest.map(({ bytes }) => bytes)).toEqual(
      largest.map(({ bytes }) => bytes).sort((a, b) => b - a),
    );
  });

  it('of a repository without a commit are empty', async () => {
    new TestRepository(place.path('empty'));
    const empty = await findRepository(place.path('empty'));
    expect(empty.head).toBeNull();
    const found = await survey(empty, signal);
    expect((await commitsSince(empty, found, signal)).total).toBe(0);
    expect((await changedAreas(empty, found, signal)).total).toBe(0);
    expect((await workMarkers(empty, signal)).todo).toBe(0);
    expect((await brokenLinks(empty, signal)).pages).toBe(0);
    expect((await fileSizes(empty, signal)).files).toBe(0);
  });

  it('of a repository without a tag count everything', async () => {
    new TestRepository(place.path('untagged')).commit('One', { a: 'x' });
    const untagged = await findRepository(place.path('untagged'));
    const found = await survey(untagged, signal);
    expect(found).toMatchObject({ base: null, commits: 1 });
    expect((await changedAreas(untagged, found, signal)).total).toBe(1);
  });

  it('git can be stopped in the middle of its answer', async () => {
    const seen: string[] = [];
    const args = ['log', '--format=%s', '-z'];
    await gitItems({ repository: of.repository, args }, '\0', (item) => {
      seen.push(item);
      return false;
    });
    expect(seen).toEqual(['Weigh']);
  });
});

describe('relativeLinks', () => {
  it.each([
    ['[a](b.md)', ['b.md']],
    ['[a](b.md "title")', ['b.md']],
    ['[a](<b c.md>)', ['b c.md']],
    ['[a](b(1).md)', ['b(1).md']],
    ['[![i](i.png)](t.md)', ['i.png', 't.md']],
    ['[a](mailto:x@y.z) [b](//host/x) [c](#d)', []],
    ['``[a](b.md)``', []],
    ['~~~\n[a](b.md)\n~~~\n[c](d.md)', ['d.md']],
    ['````\n```\n[a](b.md)\n````\n', []],
  ])('%j', (markdown, targets) => {
    expect(relativeLinks(markdown).map(({ target }) => target)).toEqual(targets);
  });
});

describe('sizeText', () => {
  it.each([
    [0, '0 B'],
    [999, '999 B'],
    [1_500, '1.5 kB'],
    [2_500_000_000, '2.5 GB'],
  ])('%i', (bytes, text) => {
    expect(sizeText(bytes)).toBe(text);
  });
});
