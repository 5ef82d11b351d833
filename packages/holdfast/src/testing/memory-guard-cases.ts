/** Cases of the memory kit: what is refused, limits, and commands at the same time. */

import { expectSame, expectTrue } from './expectation.ts';
import type { MemoryCase, MemoryHandle } from './memory-fixture.ts';

const badPaths: readonly string[] = [
  '',
  'memories/a',
  '/',
  '/etc/passwd',
  '/memoriesa',
  '/Memories/a',
  '/memories/',
  '/memories//a',
  '/memories/a/',
  '/memories/./a',
  '/memories/../a',
  '/memories/a/../../b',
  '/memories/..',
  '/memories/...',
  '/memories/.hidden',
  '/memories/a.',
  '/memories/a ',
  '/memories/a\\..\\b',
  '/memories/a\0',
  '/memories/a\nb',
  '/memories/a\x7f',
  '/memories/%2e%2e/a',
  '/memories/%2E%2E%2Fa',
  '/memories/%252e%252e/a',
  '/memories/a%00b',
  '/memories/c:d',
  '/memories/what?',
  '/memories/nul',
  '/memories/COM1.md',
  '/memories/e\u0301',
  `/memories/${'x'.repeat(201)}`,
  `/memories${'/x'.repeat(17)}`,
  `/memories${`/${'x'.repeat(199)}`.repeat(6)}`,
];

const goodPaths: readonly string[] = [
  '/memories/a b.md',
  '/memories/-rf',
  '/memories/100%.md',
  '/memories/__proto__',
  '/memories/constructor/toString',
  '/memories/é😀',
  '/memories/memories',
  '/memories/nulls',
  `/memories/${'x'.repeat(200)}`,
  `/memories${'/d'.repeat(16)}`,
];

const notCommands: readonly unknown[] = [
  undefined,
  null,
  7,
  'view',
  [],
  {},
  { command: null, path: '/memories' },
  { command: 'View', path: '/memories' },
  { command: 'toString', path: '/memories' },
  { command: '__proto__', path: '/memories' },
];

const badArguments: readonly unknown[] = [
  { command: 'view' },
  { command: 'view', path: 7 },
  { command: 'view', path: '/memories', more: 1 },
  { command: 'view', path: '/memories', view_range: undefined },
  { command: 'view', path: '/memories/a', view_range: [1] },
  { command: 'view', path: '/memories/a', view_range: [1, 2, 3] },
  { command: 'view', path: '/memories/a', view_range: ['1', '2'] },
  { command: 'view', path: '/memories/a', view_range: [1.5, 2] },
  { command: 'create', path: '/memories/b' },
  { command: 'create', path: '/memories/b', file_text: null },
  { command: 'create', path: '/memories/b', file_text: '\ud800' },
  { command: 'str_replace', path: '/memories/a', old_str: '', new_str: 'x' },
  { command: 'str_replace', path: '/memories/a', old_str: 'x' },
  { command: 'insert', path: '/memories/a', insert_line: '0', insert_text: 'x' },
  { command: 'insert', path: '/memories/a', insert_line: 0.5, insert_text: 'x' },
  { command: 'insert', path: '/memories/a', insert_line: 0, insert_text: '' },
  { command: 'delete', path: ['/memories/a'] },
  { command: 'rename', old_path: '/memories/a' },
  { command: 'rename', path: '/memories/a', new_path: '/memories/b' },
];

const guardCases: readonly MemoryCase[] = [
  {
    name: 'what is no command is refused, and nothing is ever thrown',
    async run(bench) {
      const memory = await bench.open();
      await memory.create('/memories/a', 'x\n');
      for (const command of notCommands) {
        await memory.refuses(command, 'INVALID_COMMAND', 'INVALID_ARGUMENT');
      }
      for (const command of badArguments) await memory.refuses(command, 'INVALID_ARGUMENT');
      const trap = {
        get command(): string {
          throw new Error('a trap');
        },
      };
      await memory.refuses(trap, 'INVALID_COMMAND', 'INVALID_ARGUMENT');
    },
  },
  {
    name: 'tricky paths are refused by every command, and plain ones are not',
    async run(bench) {
      const memory = await bench.open();
      await memory.create('/memories/a', 'x\n');
      for (const path of badPaths) {
        await memory.refuses({ command: 'view', path }, 'INVALID_PATH');
        await memory.refuses({ command: 'create', path, file_text: '' }, 'INVALID_PATH');
        const rename = { command: 'rename', old_path: '/memories/a', new_path: path };
        await memory.refuses(rename, 'INVALID_PATH');
      }
      for (const path of ['/memories/../a', '/memories/%2e%2e/a']) {
        const replace = { command: 'str_replace', path, old_str: 'x', new_str: 'y' };
        await memory.refuses(replace, 'INVALID_PATH');
        const insert = { command: 'insert', path, insert_line: 0, insert_text: 'y' };
        await memory.refuses(insert, 'INVALID_PATH');
        await memory.refuses({ command: 'delete', path }, 'INVALID_PATH');
        const rename = { command: 'rename', old_path: path, new_path: '/memories/b' };
        await memory.refuses(rename, 'INVALID_PATH');
      }
      for (const path of goodPaths) {
        await memory.create(path, path);
        await memory.holds(path, path);
      }
    },
  },
  {
    name: 'the root can only be viewed',
    async run(bench) {
      const memory = await bench.open();
      await memory.create('/memories/a', 'x\n');
      const path = '/memories';
      for (const command of [
        { command: 'create', path, file_text: '' },
        { command: 'str_replace', path, old_str: 'x', new_str: 'y' },
        { command: 'insert', path, insert_line: 0, insert_text: 'y' },
        { command: 'delete', path },
        { command: 'rename', old_path: path, new_path: '/memories/b' },
        { command: 'rename', old_path: '/memories/a', new_path: path },
      ]) {
        await memory.refuses(command, 'ROOT_PROTECTED');
      }
    },
  },
  {
    name: 'with a list of extensions, no file of another comes to be',
    async run(bench) {
      const memory = await bench.open({ extensions: ['.md', '.tar.gz'] });
      for (const path of ['/memories/a.md', '/memories/A.MD', '/memories/d.x/b.tar.gz']) {
        await memory.create(path, '');
      }
      for (const name of ['a', 'a.txt', 'amd', 'a.md.exe', 'b.gz']) {
        const path = `/memories/${name}`;
        await memory.refuses({ command: 'create', path, file_text: '' }, 'INVALID_EXTENSION');
        const rename = { command: 'rename', old_path: '/memories/a.md', new_path: path };
        await memory.refuses(rename, 'INVALID_EXTENSION');
      }
      const [from, to] = ['/memories/d.x', '/memories/e'];
      await memory.value({ command: 'rename', old_path: from, new_path: to });
    },
  },
];

/** Whether a create was refused for want of room, for memories that never give up a file. */
async function isRefusedForRoom(memory: MemoryHandle, path: string): Promise<boolean> {
  const result = await memory.ask({ command: 'create', path, file_text: 'new!' });
  return !result.ok && result.error.code === 'LIMIT_EXCEEDED';
}

const limitCases: readonly MemoryCase[] = [
  {
    name: 'a write over a limit is refused, and nothing is lost for it',
    async run(bench) {
      const limits = { maxFileBytes: 8, maxTotalBytes: 20, maxFiles: 3 };
      const memory = await bench.open({ limits });
      const create = { command: 'create', path: '/memories/new' } as const;
      await memory.create('/memories/a', 'é'.repeat(4));
      await memory.refuses({ ...create, file_text: 'é'.repeat(5) }, 'LIMIT_EXCEEDED');
      await memory.create('/memories/b', '12345678');
      await memory.refuses({ ...create, file_text: '12345' }, 'LIMIT_EXCEEDED');
      await memory.create('/memories/c', '1234');
      await memory.refuses({ ...create, file_text: '' }, 'LIMIT_EXCEEDED');
      const c = '/memories/c';
      const insert = { command: 'insert', path: c, insert_line: 1, insert_text: '5' };
      await memory.refuses(insert, 'LIMIT_EXCEEDED');
      const replace = { command: 'str_replace', path: c, old_str: '4' } as const;
      await memory.refuses({ ...replace, new_str: 'é' }, 'LIMIT_EXCEEDED');
      await memory.value({ ...replace, new_str: '5' });
      await memory.value({ command: 'delete', path: '/memories/b' });
      await memory.value({ ...create, file_text: '12345678' });
    },
  },
  {
    name: 'a memory that may evict gives up what was written longest ago, and says so',
    async run(bench) {
      const limits = { maxFileBytes: 8, maxTotalBytes: 16, maxFiles: 4 };
      const memory = await bench.open({ limits, evict: 'oldest' });
      for (const name of ['a', 'b', 'c', 'd']) await memory.create(`/memories/${name}`, '1234');
      const a = { command: 'str_replace', path: '/memories/a', old_str: '1234' } as const;
      await memory.value({ ...a, new_str: '4321' });
      const moved = { old_path: '/memories/b', new_path: '/memories/z' };
      await memory.value({ command: 'rename', ...moved });
      if (await isRefusedForRoom(memory, '/memories/e')) return;
      expectSame('the oldest is gone', await memory.list('/memories'), [
        '/memories/a',
        '/memories/c',
        '/memories/d',
        '/memories/e',
      ]);
      await memory.gives(
        { command: 'create', path: '/memories/f', file_text: '12345678' },
        {
          path: '/memories/f',
          bytes: 8,
          lineCount: 1,
          line: 1,
          lines: 1,
          evicted: ['/memories/c', '/memories/d'],
        },
      );
      const large = { command: 'create', path: '/memories/g', file_text: '123456789' };
      await memory.refuses(large, 'LIMIT_EXCEEDED');
      await memory.holds('/memories/a', '4321');
    },
  },
];

const raceCases: readonly MemoryCase[] = [
  {
    name: 'commands given at once are carried out in their order, each whole',
    async run(bench) {
      const memory = await bench.open();
      const path = '/memories/log';
      const lines = Array.from({ length: 12 }, (_, place) => `line ${place}\n`);
      const results = await Promise.all([
        memory.ask({ command: 'create', path, file_text: '' }),
        ...lines.map((line, place) =>
          memory.ask({ command: 'insert', path, insert_line: place, insert_text: line }),
        ),
      ]);
      expectTrue(
        'a command was refused',
        results.every(({ ok }) => ok),
      );
      await memory.holds(path, lines.join(''));
    },
  },
  {
    name: 'what the caller does to a command after the call does nothing',
    async run(bench) {
      const memory = await bench.open();
      const command = { command: 'create', path: '/memories/a', file_text: 'before' };
      const first = memory.ask({ command: 'create', path: '/memories/first', file_text: '' });
      const second = memory.ask(command);
      command.path = '/memories/b';
      command.file_text = 'after';
      await Promise.all([first, second]);
      await memory.holds('/memories/a', 'before');
    },
  },
  {
    name: 'of handles that race to create a file exactly one does',
    async run(bench) {
      const handles = await bench.openMany(5);
      for (let round = 0; round < 4; round += 1) {
        const path = `/memories/round-${round}/file`;
        const results = await Promise.all(
          handles.map((memory, place) =>
            memory.ask({ command: 'create', path, file_text: `handle ${place}` }),
          ),
        );
        const winners = results.flatMap(({ ok }, place) => (ok ? [place] : []));
        expectSame(`winners of round ${round}`, winners.length, 1);
        await handles[0]?.holds(path, `handle ${winners[0]}`);
        for (const result of results) {
          const isLate = result.ok || ['ALREADY_EXISTS', 'CONFLICT'].includes(result.error.code);
          expectTrue('a loser has another reason', isLate);
        }
      }
    },
  },
  {
    name: 'handles that edit one file at once leave whole edits',
    async run(bench) {
      const handles = await bench.openMany(4);
      const path = '/memories/shared';
      await handles[0]?.create(path, 'first\n');
      const results = await Promise.all(
        handles.map((memory, place) => {
          const text = `handle ${place} `.repeat(20);
          return memory.ask({ command: 'insert', path, insert_line: 1, insert_text: `${text}\n` });
        }),
      );
      for (const result of results) {
        expectTrue('another refusal', result.ok || result.error.code === 'CONFLICT');
      }
      const [first, ...lines] = String(await handles[0]?.read(path)).split('\n');
      expectSame('the first line', first, 'first');
      expectSame('the text behind the last line', lines.pop(), '');
      expectTrue('every edit is lost', lines.length > 0);
      for (const line of lines) {
        const place = Number(line.slice('handle '.length, line.indexOf(' ', 'handle '.length)));
        expectTrue('an edit is torn', line === `handle ${place} `.repeat(20));
        expectTrue('a refused edit was made', results[place]?.ok === true);
      }
      expectSame('edits made twice', new Set(lines).size, lines.length);
    },
  },
];

export const memoryGuardCases: readonly MemoryCase[] = [...guardCases, ...limitCases, ...raceCases];
