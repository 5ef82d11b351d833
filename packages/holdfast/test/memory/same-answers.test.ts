/** The two adapters answer alike, whatever they are asked. */
import fc from 'fast-check';
import {
  createFileMemory,
  createInMemoryMemory,
  type MemoryCommand,
  type MemoryResult,
} from 'holdfast';
import { expect, it } from 'vitest';
import { newDirectory, removeDirectory } from './backings.ts';

const name = fc.constantFrom('a.a', 'b', 'é.md');
const path = fc.oneof(
  { weight: 20, arbitrary: fc.array(name, { minLength: 1, maxLength: 2 }) },
  { weight: 1, arbitrary: fc.constantFrom([], ['..'], ['.x'], ['a.']) },
);
const somePath = path.map((names) => ['/memories', ...names].join('/'));
const text = fc.array(fc.constantFrom('x', 'y', 'é', '\n', '\r\n', '$&'), { maxLength: 5 });
const someText = text.map((parts) => parts.join(''));
const line = fc.integer({ min: -1, max: 5 });

const command: fc.Arbitrary<MemoryCommand> = fc.oneof(
  fc.record({ command: fc.constant('view' as const), path: somePath }),
  fc.record({
    command: fc.constant('view' as const),
    path: somePath,
    view_range: fc.tuple(line, line),
  }),
  {
    weight: 3,
    arbitrary: fc.record({
      command: fc.constant('create' as const),
      path: somePath,
      file_text: someText,
    }),
  },
  fc.record({
    command: fc.constant('str_replace' as const),
    path: somePath,
    old_str: fc.constantFrom('x', 'y', 'xy', '\n', ''),
    new_str: someText,
  }),
  fc.record({
    command: fc.constant('insert' as const),
    path: somePath,
    insert_line: line,
    insert_text: someText,
  }),
  fc.record({ command: fc.constant('delete' as const), path: somePath }),
  fc.record({ command: fc.constant('rename' as const), old_path: somePath, new_path: somePath }),
);

const commands = fc.array(command, { minLength: 1, maxLength: 30, size: 'max' });
const evicting = fc.constantFrom('oldest' as const, undefined);
const onlyExtensions = fc.constantFrom(['.md', '.a'], undefined);
const limits = { maxFileBytes: 8, maxTotalBytes: 14, maxFiles: 3 };

it('a list of commands has the same results in memory and on disk', async () => {
  const property = fc.asyncProperty(
    commands,
    evicting,
    onlyExtensions,
    async (list, evict, extensions) => {
      const options = { scope: 's', limits, evict, extensions };
      const directory = newDirectory();
      try {
        const memory = createInMemoryMemory(options);
        let file = createFileMemory({ ...options, directory });
        for (const [place, each] of list.entries()) {
          expect(await file.execute(each)).toEqual(await memory.execute(each));
          // What a memory knows is all on disk: another object goes on where this one was.
          if (place % 7 === 6) file = createFileMemory({ ...options, directory });
        }
        const view = { command: 'view', path: '/memories' } as const;
        expect(await file.execute(view)).toEqual(await memory.execute(view));
      } finally {
        removeDirectory(directory);
      }
    },
  );
  await fc.assert(property, { numRuns: 150 });
});

/** Of a fixed seed: chance alone does not reach every outcome each time. */
it('such lists reach what commands can end in', async () => {
  const done = new Set<string>();
  const cases = fc.sample(fc.tuple(commands, evicting, onlyExtensions), {
    numRuns: 500,
    seed: 1,
  });
  for (const [list, evict, extensions] of cases) {
    const memory = createInMemoryMemory({ scope: 's', limits, evict, extensions });
    for (const each of list) {
      const result = await memory.execute(each);
      done.add(`${each.command} ${result.ok ? 'done' : result.error.code}`);
    }
  }
  expect([...done]).toEqual(
    expect.arrayContaining([
      'view done',
      'create done',
      'insert done',
      'str_replace done',
      'rename done',
      'delete done',
      'create LIMIT_EXCEEDED',
      'create PATH_CONFLICT',
      'rename ALREADY_EXISTS',
      'rename PATH_CONFLICT',
      'view INVALID_RANGE',
    ]),
  );
});

it('a result is frozen, with all that is in it', async () => {
  const memory = createInMemoryMemory({ scope: 's' });
  await memory.execute({ command: 'create', path: '/memories/a', file_text: 'aa' });
  const results: MemoryResult[] = [
    await memory.execute({ command: 'view', path: '/memories' }),
    await memory.execute({
      command: 'str_replace',
      path: '/memories/a',
      old_str: 'a',
      new_str: '',
    }),
  ];
  const isDeepFrozen = (value: unknown): boolean =>
    typeof value !== 'object' ||
    value === null ||
    (Object.isFrozen(value) && Object.values(value).every(isDeepFrozen));
  expect(results.map(({ ok }) => ok)).toEqual([true, false]);
  expect(results.every(isDeepFrozen)).toBe(true);
});
