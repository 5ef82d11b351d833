/** Cases of the memory kit: what each command does to files. */

import { expectSame } from './expectation.ts';
import type { MemoryCase } from './memory-fixture.ts';

/** Texts that are easily changed on their way. */
const oddTexts: readonly string[] = [
  '',
  '\n',
  'no break at the end',
  'one\r\ntwo\r\n',
  '\uFEFFbehind a byte order mark',
  'NUL \0, tab \t, escape \x1b',
  'e\u0301 is not é, and 😀 is two units\n',
  ' \n\n spaces all around \n ',
];

const file = '/memories/notes.md';

const viewCases: readonly MemoryCase[] = [
  {
    name: 'a new memory is an empty directory',
    async run(bench) {
      const memory = await bench.open();
      expectSame('the scope', memory.memory.scope, 'kit');
      const empty = { kind: 'directory', path: '/memories', entries: [] };
      await memory.gives({ command: 'view', path: '/memories' }, empty);
    },
  },
  {
    name: 'every text comes back as it was written, by any handle',
    async run(bench) {
      const [memory, other] = [await bench.open(), await bench.open()];
      for (const [place, text] of oddTexts.entries()) {
        await memory.create(`/memories/odd/${place}`, text);
        await other.holds(`/memories/odd/${place}`, text);
      }
    },
  },
  {
    name: 'a view gives the lines asked for, with their numbers',
    async run(bench) {
      const memory = await bench.open();
      await memory.create(file, 'one\ntwo\nthrée');
      const of = { kind: 'file', path: file, bytes: 14, lineCount: 3 };
      const view = { command: 'view', path: file } as const;
      const all = { ...of, firstLine: 1, lastLine: 3, text: 'one\ntwo\nthrée' };
      await memory.gives(view, all);
      await memory.gives({ ...view, view_range: [1, -1] }, all);
      const two = { ...of, firstLine: 2, lastLine: 2, text: 'two\n' };
      await memory.gives({ ...view, view_range: [2, 2] }, two);
      const rest = { ...of, firstLine: 2, lastLine: 3, text: 'two\nthrée' };
      await memory.gives({ ...view, view_range: [2, 3] }, rest);
      for (const range of [
        [0, 1],
        [-1, 2],
        [2, 1],
        [2, -2],
        [4, -1],
        [1, 4],
      ] as const) {
        await memory.refuses({ ...view, view_range: range }, 'INVALID_RANGE');
      }
      await memory.create('/memories/empty', '');
      const empty = { kind: 'file', path: '/memories/empty', bytes: 0, lineCount: 0 };
      await memory.gives(
        { command: 'view', path: '/memories/empty' },
        { ...empty, firstLine: 0, lastLine: 0, text: '' },
      );
    },
  },
  {
    name: 'a directory lists its files and directories, sorted, with their sizes',
    async run(bench) {
      const memory = await bench.open();
      for (const [name, text] of [
        ['b.md', 'four'],
        ['a/deep/er.md', '12'],
        ['Z.md', ''],
        ['a/x.md', 'é'],
        ['a.md', '1'],
      ] as const) {
        await memory.create(`/memories/${name}`, text);
      }
      await memory.gives(
        { command: 'view', path: '/memories' },
        {
          kind: 'directory',
          path: '/memories',
          entries: [
            { kind: 'file', path: '/memories/Z.md', bytes: 0 },
            { kind: 'directory', path: '/memories/a', bytes: 4, files: 2 },
            { kind: 'file', path: '/memories/a.md', bytes: 1 },
            { kind: 'file', path: '/memories/b.md', bytes: 4 },
          ],
        },
      );
      expectSame('a', await memory.list('/memories/a'), ['/memories/a/deep', '/memories/a/x.md']);
      const ranged = { command: 'view', path: '/memories/a', view_range: [1, 1] };
      await memory.refuses(ranged, 'INVALID_ARGUMENT');
      await memory.refuses({ command: 'view', path: '/memories/no' }, 'NOT_FOUND');
      await memory.refuses({ command: 'view', path: '/memories/a.md/no' }, 'NOT_FOUND');
    },
  },
];

const writeCases: readonly MemoryCase[] = [
  {
    name: 'create makes a file and takes the place of nothing',
    async run(bench) {
      const memory = await bench.open();
      await memory.gives(
        { command: 'create', path: '/memories/a/b', file_text: 'x\ny' },
        { path: '/memories/a/b', bytes: 3, lineCount: 2, line: 1, lines: 2, evicted: [] },
      );
      const create = { command: 'create', file_text: 'other' };
      await memory.refuses({ ...create, path: '/memories/a/b' }, 'ALREADY_EXISTS');
      await memory.refuses({ ...create, path: '/memories/a' }, 'ALREADY_EXISTS');
      await memory.refuses({ ...create, path: '/memories/a/b/c' }, 'PATH_CONFLICT');
      await memory.holds('/memories/a/b', 'x\ny');
    },
  },
  {
    name: 'str_replace changes the one place that matches',
    async run(bench) {
      const memory = await bench.open();
      const replace = { command: 'str_replace', path: file } as const;
      await memory.refuses({ ...replace, old_str: 'a', new_str: 'b' }, 'NOT_FOUND');
      await memory.create(file, 'aaa\nbb\nc.c\n');
      const receipt = { path: file, evicted: [], line: 3 };
      await memory.gives(
        { ...replace, old_str: 'c.c', new_str: "$&$1$'\n" },
        { ...receipt, bytes: 15, lineCount: 4, lines: 1 },
      );
      await memory.holds(file, "aaa\nbb\n$&$1$'\n\n");
      for (const old of ['aa', 'b', '\n']) {
        await memory.refuses({ ...replace, old_str: old, new_str: '' }, 'MATCH_NOT_UNIQUE');
      }
      for (const old of ['.', 'AAA', 'aaa\r']) {
        await memory.refuses({ ...replace, old_str: old, new_str: '' }, 'MATCH_NOT_FOUND');
      }
      await memory.value({ ...replace, old_str: 'aaa\nbb\n', new_str: '' });
      await memory.holds(file, "$&$1$'\n\n");
      await memory.create('/memories/d/e', '');
      const directory = { ...replace, path: '/memories/d', old_str: 'a', new_str: 'b' };
      await memory.refuses(directory, 'PATH_CONFLICT');
    },
  },
  {
    name: 'insert puts lines of their own behind a line',
    async run(bench) {
      const memory = await bench.open();
      const insert = { command: 'insert', path: file } as const;
      await memory.refuses({ ...insert, insert_line: 0, insert_text: 'x' }, 'NOT_FOUND');
      await memory.create(file, '');
      const steps = [
        [0, 'b', 'b'],
        [1, 'd', 'b\nd'],
        [1, 'c', 'b\nc\nd'],
        [0, 'a\n', 'a\nb\nc\nd'],
        [4, 'e\n\n', 'a\nb\nc\nd\ne\n\n'],
        [6, 'f', 'a\nb\nc\nd\ne\n\nf'],
      ] as const;
      for (const [line, text, whole] of steps) {
        await memory.value({ ...insert, insert_line: line, insert_text: text });
        await memory.holds(file, whole);
      }
      await memory.gives(
        { ...insert, insert_line: 2, insert_text: 'x\ny' },
        { path: file, bytes: 16, lineCount: 9, line: 3, lines: 2, evicted: [] },
      );
      for (const line of [-1, 10]) {
        await memory.refuses({ ...insert, insert_line: line, insert_text: 'z' }, 'INVALID_RANGE');
      }
    },
  },
];

const moveCases: readonly MemoryCase[] = [
  {
    name: 'delete takes a file, or a directory with all below it',
    async run(bench) {
      const memory = await bench.open();
      for (const name of ['a/b/1', 'a/b/2', 'a/3', 'ab', 'c/d']) {
        await memory.create(`/memories/${name}`, name);
      }
      const [a, d] = ['/memories/a', '/memories/c/d'];
      await memory.gives({ command: 'delete', path: a }, { path: a, files: 3, bytes: 13 });
      await memory.gives({ command: 'delete', path: d }, { path: d, files: 1, bytes: 3 });
      expectSame('what is left', await memory.list('/memories'), ['/memories/ab']);
      await memory.refuses({ command: 'delete', path: d }, 'NOT_FOUND');
      await memory.refuses({ command: 'view', path: '/memories/c' }, 'NOT_FOUND');
      await memory.create('/memories/c', 'a file where a directory was');
    },
  },
  {
    name: 'rename moves a file or a directory, and takes the place of nothing',
    async run(bench) {
      const memory = await bench.open();
      const names = ['a/b/1', 'a/2', 'c'];
      for (const name of names) await memory.create(`/memories/${name}`, name);
      const rename = async (from: string, to: string) => {
        const paths = { old_path: `/memories/${from}`, new_path: `/memories/${to}` };
        return memory.value({ command: 'rename', ...paths });
      };
      const moved = { path: '/memories/x/y', from: '/memories/a', files: 2, bytes: 8 };
      expectSame('the receipt', await rename('a', 'x/y'), moved);
      await rename('c', 'a');
      await memory.holds('/memories/x/y/b/1', 'a/b/1');
      await memory.holds('/memories/a', 'c');
      for (const [from, to, code] of [
        ['no', 'new', 'NOT_FOUND'],
        ['a', 'x/y/2', 'ALREADY_EXISTS'],
        ['a', 'x', 'ALREADY_EXISTS'],
        ['a', 'a', 'ALREADY_EXISTS'],
        ['x/y', 'a', 'ALREADY_EXISTS'],
        ['x', 'a/b', 'PATH_CONFLICT'],
        ['x', 'x/y/z', 'PATH_CONFLICT'],
        ['a', 'a/b', 'PATH_CONFLICT'],
      ] as const) {
        const paths = { old_path: `/memories/${from}`, new_path: `/memories/${to}` };
        await memory.refuses({ command: 'rename', ...paths }, code);
      }
      await rename('x/y/b/1', 'x/1');
      await memory.refuses({ command: 'view', path: '/memories/x/y/b' }, 'NOT_FOUND');
      // Sixteen names deep is the most: what moves with its directory needs a path too.
      await memory.create(`/memories/x/y${'/z'.repeat(14)}`, '');
      const deeper = { old_path: '/memories/x/y', new_path: '/memories/x/y2/y' };
      await memory.refuses({ command: 'rename', ...deeper }, 'INVALID_PATH');
    },
  },
];

export const memoryFileCases: readonly MemoryCase[] = [...viewCases, ...writeCases, ...moveCases];
