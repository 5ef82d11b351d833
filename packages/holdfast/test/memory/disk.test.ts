/** What a directory of memory files may hold that no command has put there. */
import { once } from 'node:events';
import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { createFileMemory, type Memory, type MemoryCommand, type MemoryOptions } from 'holdfast';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { newDirectory, removeDirectory } from './backings.ts';

let outside = '';
let directory = '';
let memory: Memory;

beforeEach(() => {
  outside = newDirectory();
  directory = join(outside, 'memory');
  mkdirSync(directory);
  writeFileSync(join(outside, 'secret'), 'secret\n');
  memory = open();
});

afterEach(() => removeDirectory(outside));

function open(options: Partial<MemoryOptions> = {}): Memory {
  return createFileMemory({ scope: 's', directory, ...options });
}

/** The refusal's code, or the value. */
async function ask(command: MemoryCommand): Promise<unknown> {
  const result = await memory.execute(command);
  return result.ok ? result.value : result.error.code;
}

const create = (path: string, file_text = 'x\n') => ask({ command: 'create', path, file_text });
const view = (path: string) => ask({ command: 'view', path });

/** Every command, at, below and around `path`. */
function commandsAt(path: string): readonly MemoryCommand[] {
  return [
    { command: 'view', path },
    { command: 'create', path, file_text: 'x' },
    { command: 'str_replace', path, old_str: 'secret', new_str: 'x' },
    { command: 'insert', path, insert_line: 0, insert_text: 'x' },
    { command: 'delete', path },
    { command: 'rename', old_path: path, new_path: '/memories/new' },
    { command: 'rename', old_path: '/memories/real', new_path: path },
  ];
}

describe('a link in the directory', () => {
  it('to a file is neither read nor written through', async () => {
    await create('/memories/real');
    symlinkSync(join(outside, 'secret'), join(directory, 'link'));
    for (const command of commandsAt('/memories/link')) {
      expect(await ask(command), command.command).toBe('UNSAFE_STORAGE');
    }
    expect(readFileSync(join(outside, 'secret'), 'utf8')).toBe('secret\n');
  });

  it('to a directory leads nowhere', async () => {
    await create('/memories/real');
    symlinkSync(outside, join(directory, 'link'));
    for (const command of commandsAt('/memories/link/secret')) {
      expect(await ask(command), command.command).toBe('UNSAFE_STORAGE');
    }
    expect(readdirSync(outside).sort()).toEqual(['memory', 'secret']);
    expect(readFileSync(join(outside, 'secret'), 'utf8')).toBe('secret\n');
  });

  it('refuses the directory it stands in, and leaves the others', async () => {
    await create('/memories/a/real');
    await create('/memories/b/real');
    symlinkSync(outside, join(directory, 'a/link'));
    for (const path of ['/memories', '/memories/a']) {
      expect(await view(path)).toBe('UNSAFE_STORAGE');
    }
    expect(await ask({ command: 'delete', path: '/memories/a' })).toBe('UNSAFE_STORAGE');
    const moved = { old_path: '/memories/a', new_path: '/memories/c' };
    expect(await ask({ command: 'rename', ...moved })).toBe('UNSAFE_STORAGE');
    expect(await view('/memories/b/real')).toMatchObject({ text: 'x\n' });
    expect(await create('/memories/b/more')).toMatchObject({ bytes: 2 });
  });

  it('is not followed either where it leads nowhere, or back into the memory', async () => {
    await create('/memories/real');
    symlinkSync(join(outside, 'not-there'), join(directory, 'broken'));
    symlinkSync(join(directory, 'real'), join(directory, 'back'));
    expect(await create('/memories/broken')).toBe('UNSAFE_STORAGE');
    expect(await view('/memories/back')).toBe('UNSAFE_STORAGE');
    expect(existsSync(join(outside, 'not-there'))).toBe(false);
  });

  it('that takes the place of the directory itself later is refused', async () => {
    await create('/memories/real');
    renameSync(directory, join(outside, 'moved'));
    symlinkSync(join(outside, 'moved'), directory);
    for (const command of commandsAt('/memories/real')) {
      expect(await ask(command), command.command).toBe('UNSAFE_STORAGE');
    }
    // A host that says so itself may have its directory behind a link.
    memory = open();
    expect(await view('/memories/real')).toMatchObject({ text: 'x\n' });
  });
});

describe('the directory', () => {
  it('is made by the first command, not before', async () => {
    directory = join(outside, 'deep/down');
    memory = open();
    expect(existsSync(directory)).toBe(false);
    await create('/memories/a/b.md', 'text');
    expect(readFileSync(join(directory, 'a/b.md'), 'utf8')).toBe('text');
  });

  it('holds nothing but the files after commands: no empty directories, no leftovers', async () => {
    await create('/memories/a/b/c');
    await create('/memories/a/d');
    await ask({ command: 'rename', old_path: '/memories/a/b/c', new_path: '/memories/e' });
    await ask({ command: 'insert', path: '/memories/e', insert_line: 0, insert_text: 'y' });
    await ask({ command: 'delete', path: '/memories/a/d' });
    await create('/memories/a/b/c/too', 'x'.repeat(300_000));
    expect(readdirSync(directory)).toEqual(['e']);
  });

  it('may be a repository: hidden files are no part of the memory, and survive it', async () => {
    for (const path of ['.git', 'a/.git']) {
      mkdirSync(join(directory, path), { recursive: true });
      writeFileSync(join(directory, path, 'config'), 'x');
    }
    expect(await view('/memories')).toMatchObject({ entries: [] });
    expect(await create('/memories/.git/hooks/post-commit')).toBe('INVALID_PATH');
    await create('/memories/a/b');
    expect(await ask({ command: 'delete', path: '/memories/a' })).toMatchObject({ files: 1 });
    expect(readdirSync(join(directory, 'a/.git'))).toEqual(['config']);
    expect(await create('/memories/a')).toBe('CONFLICT');
  });

  it('may hold empty directories, which are not there for a memory', async () => {
    mkdirSync(join(directory, 'a/b'), { recursive: true });
    mkdirSync(join(directory, 'c/d'), { recursive: true });
    expect(await view('/memories')).toMatchObject({ entries: [] });
    expect(await view('/memories/a')).toBe('NOT_FOUND');
    expect(await create('/memories/a')).toMatchObject({ bytes: 2 });
    await create('/memories/x/y');
    const moved = { old_path: '/memories/x', new_path: '/memories/c' };
    expect(await ask({ command: 'rename', ...moved })).toMatchObject({ files: 1 });
  });

  it.runIf(process.platform !== 'win32')('a socket in it stops nobody', async () => {
    const server = createServer().listen(join(directory, 'socket'));
    await once(server, 'listening');
    try {
      expect(await view('/memories/socket')).toBe('UNSAFE_STORAGE');
      expect(await create('/memories/a')).toMatchObject({ bytes: 2 });
    } finally {
      server.close();
    }
  });

  it('a file in it that is no text, or too long, is not read but may go', async () => {
    writeFileSync(join(directory, 'image'), Buffer.from([0x89, 0x50, 0xff]));
    expect(await view('/memories/image')).toBe('STORAGE_ERROR');
    writeFileSync(join(directory, 'long'), 'x'.repeat(101));
    memory = open({ limits: { maxFileBytes: 100, maxTotalBytes: 100 } });
    expect(await view('/memories/long')).toBe('LIMIT_EXCEEDED');
    expect(await view('/memories')).toMatchObject({
      entries: [{ bytes: 3 }, { bytes: 101 }],
    });
    for (const path of ['/memories/image', '/memories/long']) {
      expect(await ask({ command: 'delete', path })).toMatchObject({ files: 1 });
    }
  });

  it('that cannot be used is a typed refusal, without a path of the host', async () => {
    directory = join(outside, 'secret/below-a-file');
    memory = open();
    const result = await memory.execute({ command: 'view', path: '/memories' });
    const error = { code: 'STORAGE_ERROR', details: { systemCode: 'ENOTDIR' } };
    expect(result).toMatchObject({ ok: false, error });
    expect(JSON.stringify(result)).not.toContain(outside);
  });

  it('names no path of the host in what a model may read', async () => {
    rmSync(directory, { recursive: true });
    writeFileSync(directory, 'a file where the directory should be');
    const result = await memory.execute({ command: 'view', path: '/memories' });
    expect(result).toMatchObject({ ok: false, error: { code: 'UNSAFE_STORAGE' } });
    expect(JSON.stringify(result)).not.toContain(outside);
  });
});

describe('an unfinished write of a killed process', () => {
  it('is no part of the memory, and is cleared away once it is old', async () => {
    const [old, young] = [join(directory, '.holdfast-1-1'), join(directory, '.holdfast-1-2')];
    for (const path of [old, young]) writeFileSync(path, 'half');
    utimesSync(old, 1_000_000_000, 1_000_000_000);
    expect(await view('/memories')).toMatchObject({ entries: [] });
    await create('/memories/a');
    expect(readdirSync(directory).sort()).toEqual(['.holdfast-1-2', 'a']);
  });

  it('stands in nobody’s way, whatever its number', async () => {
    for (let number = 1; number <= 3; number += 1) {
      writeFileSync(join(directory, `.holdfast-${process.pid}-${number}`), 'half');
    }
    expect(await create('/memories/a', 'whole')).toMatchObject({ bytes: 5 });
    expect(readFileSync(join(directory, 'a'), 'utf8')).toBe('whole');
  });
});

describe.runIf(process.platform !== 'win32')('the lock of a killed process', () => {
  let socket = '';

  beforeEach(async () => {
    // A socket whose listener is gone. Closing removes it, but not its second name.
    const [bound, kept] = [join(outside, 'bound'), join(outside, 'kept')];
    const server = createServer().listen(bound);
    await once(server, 'listening');
    linkSync(bound, kept);
    server.close();
    await once(server, 'close');
    socket = kept;
  });

  it('goes to one after the other of those who want it, never to two', async () => {
    const handles = Array.from({ length: 6 }, () => open({ limits: { maxFiles: 1 } }));
    for (let round = 0; round < 30; round += 1) {
      const lock = join(directory, '.holdfast-lock');
      mkdirSync(lock);
      linkSync(socket, join(lock, `1-${round}`));
      // Two who have it at once both find room for their file.
      const asked = handles.map(async (handle, place) => {
        const path = `/memories/${place}`;
        const result = await handle.execute({ command: 'create', path, file_text: '' });
        return result.ok ? [path] : result.error.code;
      });
      const answers = await Promise.all(asked);
      const made = answers.flatMap((answer) => (typeof answer === 'string' ? [] : answer));
      expect(answers.filter((answer) => answer === 'LIMIT_EXCEEDED')).toHaveLength(5);
      expect(readdirSync(directory).map((name) => `/memories/${name}`)).toEqual(made);
      rmSync(join(directory, readdirSync(directory).join()));
    }
  });

  it('is broken by its own name: that of a living one beside it stays', async () => {
    const lock = join(directory, '.holdfast-lock');
    mkdirSync(lock);
    linkSync(socket, join(lock, '1-dead'));
    const living = createServer().listen(join(lock, '2-living'));
    await once(living, 'listening');
    const hasty = createFileMemory({ scope: 's', directory, lockWaitMs: 20 });
    const create = { command: 'create', path: '/memories/a', file_text: '' } as const;
    const error = { code: 'LOCKED', details: { pid: 2 } };
    expect(await hasty.execute(create)).toMatchObject({ ok: false, error });
    expect(readdirSync(lock)).toEqual(['2-living']);
    living.close();
    expect(await hasty.execute(create)).toMatchObject({ ok: true });
  });

  it('moves with the directory, and is no part of the memory', async () => {
    const limits = { maxFiles: 1, maxTotalBytes: 4, maxFileBytes: 4 };
    mkdirSync(join(directory, '.holdfast-lock'));
    linkSync(socket, join(directory, '.holdfast-lock/1-a'));
    const moved = join(outside, 'moved');
    renameSync(directory, moved);
    memory = createFileMemory({ scope: 's', directory: moved, limits });
    expect(await view('/memories')).toMatchObject({ entries: [] });
    expect(await create('/memories/a', '1234')).toMatchObject({ bytes: 4 });
    expect(readdirSync(moved)).toEqual(['a']);
  });

  it('and the socket of one who waited for it are cleared away once they are old', async () => {
    const [old, young] = [join(directory, '.holdfast-1-old'), join(directory, '.holdfast-1-young')];
    for (const path of [old, young]) {
      mkdirSync(path);
      linkSync(socket, join(path, '1'));
    }
    utimesSync(old, 1_000_000_000, 1_000_000_000);
    await create('/memories/a');
    expect(readdirSync(directory).sort()).toEqual(['.holdfast-1-young', 'a']);
  });

  it('is no link: what stands at its name instead is neither followed nor removed', async () => {
    const lock = join(directory, '.holdfast-lock');
    symlinkSync(outside, lock);
    expect(await create('/memories/a')).toBe('UNSAFE_STORAGE');
    expect(await view('/memories')).toMatchObject({ entries: [] });
    expect(readdirSync(outside).sort()).toEqual(['kept', 'memory', 'secret']);
    rmSync(lock);
    mkdirSync(lock);
    symlinkSync(join(outside, 'secret'), join(lock, '1-link'));
    expect(await create('/memories/a')).toMatchObject({ bytes: 2 });
    expect(readFileSync(join(outside, 'secret'), 'utf8')).toBe('secret\n');
  });
});

it('an edit works on the newest text, also where others have written since', async () => {
  await create('/memories/a', 'one\ntwo\n');
  const other = open();
  const path = '/memories/a';
  await other.execute({ command: 'str_replace', path, old_str: 'one', new_str: 'three' });
  await ask({ command: 'str_replace', path, old_str: 'two', new_str: 'four' });
  expect(await view(path)).toMatchObject({ text: 'three\nfour\n' });
});

it('handles of one process all get their turn, and lose no edit', async () => {
  const path = '/memories/log';
  await create(path, '');
  const asked = Array.from({ length: 4 }, () => open()).flatMap((handle, place) =>
    Array.from({ length: 8 }, async (_, round) => {
      const insert_text = `${place}.${round}`;
      const insert = { command: 'insert', path, insert_line: 0, insert_text } as const;
      return { insert_text, result: await handle.execute(insert) };
    }),
  );
  const edits = await Promise.all(asked);
  expect(edits.flatMap(({ result }) => (result.ok ? [] : [result.error]))).toEqual([]);
  const { text } = (await view(path)) as { readonly text: string };
  const done = edits.map(({ insert_text }) => insert_text);
  expect(text.trimEnd().split('\n').sort()).toEqual(done.sort());
});

it('the file written last is the youngest, also after the clock went back', async () => {
  memory = open({ limits: { maxFiles: 2 }, evict: 'oldest' });
  await create('/memories/b');
  utimesSync(join(directory, 'b'), 4_000_000_000, 4_000_000_000);
  await create('/memories/a');
  expect(await create('/memories/c')).toMatchObject({ evicted: ['/memories/b'] });
  expect(await create('/memories/b')).toMatchObject({ evicted: ['/memories/a'] });
});

it('after its limits were lowered a memory can be made smaller, not larger', async () => {
  const path = '/memories/a';
  await create(path, '0123456789');
  await create('/memories/b', '0123456789');
  memory = open({ limits: { maxTotalBytes: 12, maxFiles: 1 } });
  const replace = { command: 'str_replace', path, old_str: '9' } as const;
  expect(await ask({ ...replace, new_str: '99' })).toBe('LIMIT_EXCEEDED');
  expect(await ask({ ...replace, new_str: '' })).toMatchObject({ bytes: 9, evicted: [] });
  expect(await create('/memories/c', '')).toBe('LIMIT_EXCEEDED');
});
