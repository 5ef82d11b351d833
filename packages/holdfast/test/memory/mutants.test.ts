/** The kit must catch memories that are wrong in one way, by the case that is about it. */
import {
  createInMemoryMemory,
  type Memory,
  type MemoryCommand,
  type MemoryOptions,
  type MemoryResult,
} from 'holdfast';
import { type MemoryFactory, runMemoryConformance } from 'holdfast/testing';
import { expect, it } from 'vitest';

type Execute = Memory['execute'];
type Named<Name extends MemoryCommand['command']> = MemoryCommand & { readonly command: Name };

interface Mutant {
  /** Part of the name of a case that must fail. */
  readonly caught: string;
  readonly options?: (options: MemoryOptions) => Partial<MemoryOptions>;
  readonly execute?: (real: Execute) => Execute;
}

/** A memory that does one command in its own way. */
function doing<Name extends MemoryCommand['command']>(
  name: Name,
  how: (real: Execute, command: Named<Name>) => Promise<MemoryResult>,
): (real: Execute) => Execute {
  return (real) => (command) =>
    command?.command === name ? how(real, command as Named<Name>) : real(command);
}

/** A memory whose values come out changed. */
function answering(change: (value: Record<string, unknown>) => object): (real: Execute) => Execute {
  return (real) => async (command) => {
    const result = await real(command);
    if (!result.ok) return result;
    const value = { ...(result.value as object), ...change(result.value as never) };
    return { ...result, value: JSON.parse(JSON.stringify(value)) };
  };
}

const pause = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

async function textOf(real: Execute, path: string): Promise<string | null> {
  const result = await real({ command: 'view', path });
  const text = result.ok ? Reflect.get(result.value as object, 'text') : null;
  return typeof text === 'string' ? text : null;
}

const mutants: Readonly<Record<string, Mutant>> = {
  'throws for what it does not understand': {
    caught: 'nothing is ever thrown',
    execute: (real) => async (command) => {
      if (typeof command?.command !== 'string') throw new TypeError('no command');
      return real(command);
    },
  },
  'takes arguments it does not know': {
    caught: 'what is no command is refused',
    execute: doing('view', (real, { command, path, view_range }) =>
      real(Array.isArray(view_range) ? { command, path, view_range } : { command, path }),
    ),
  },
  'writes over what is there': {
    caught: 'create makes a file and takes the place of nothing',
    execute: doing('create', async (real, command) => {
      const result = await real(command);
      if (result.ok || result.error.code !== 'ALREADY_EXISTS') return result;
      if ((await textOf(real, command.path)) === null) return result;
      await real({ command: 'delete', path: command.path });
      return real(command);
    }),
  },
  'moves over what is there': {
    caught: 'rename moves a file or a directory, and takes the place of nothing',
    execute: doing('rename', async (real, command) => {
      const result = await real(command);
      if (result.ok || result.error.code !== 'ALREADY_EXISTS') return result;
      await real({ command: 'delete', path: command.new_path });
      return real(command);
    }),
  },
  'replaces the first match': {
    caught: 'str_replace changes the one place that matches',
    execute: doing('str_replace', async (real, command) => {
      const result = await real(command);
      if (result.ok || result.error.code !== 'MATCH_NOT_UNIQUE') return result;
      const text = (await textOf(real, command.path)) ?? '';
      return real({ ...command, old_str: text, new_str: text.replace(command.old_str, '') });
    }),
  },
  'takes the new text for a pattern': {
    caught: 'str_replace changes the one place that matches',
    execute: doing('str_replace', (real, command) =>
      real({ ...command, new_str: command.new_str?.replaceAll('$&', command.old_str) }),
    ),
  },
  'runs inserted lines together': {
    caught: 'insert puts lines of their own behind a line',
    execute: doing('insert', async (real, command) => {
      const text = await textOf(real, command.path);
      if (text === null || command.insert_line !== 1) return real(command);
      await real({ command: 'delete', path: command.path });
      const at = text.indexOf('\n') + 1;
      const file_text = text.slice(0, at) + command.insert_text + text.slice(at);
      await real({ command: 'create', path: command.path, file_text });
      return { ok: true, command: 'insert', value: null };
    }),
  },
  'normalises paths instead of refusing them': {
    caught: 'tricky paths are refused',
    execute: (real) => (command) => {
      if (typeof command?.command !== 'string' || command.command === 'rename') {
        return real(command);
      }
      if (typeof command.path !== 'string') return real(command);
      return real({ ...command, path: command.path.replace('/memories/../', '/memories/') });
    },
  },
  'decodes paths': {
    caught: 'tricky paths are refused',
    execute: doing('create', (real, command) =>
      real({ ...command, path: command.path?.replace('%2e%2e/', '') }),
    ),
  },
  'lets its root be deleted': {
    caught: 'the root can only be viewed',
    execute: doing('delete', (real, command) =>
      real(command.path === '/memories' ? { ...command, path: '/memories/a' } : command),
    ),
  },
  'does not look at extensions': {
    caught: 'no file of another comes to be',
    options: () => ({ extensions: undefined }),
  },
  'looks at the extensions of new files only': {
    caught: 'no file of another comes to be',
    execute: doing('rename', async (real, command) => {
      const result = await real(command);
      if (result.ok || result.error.code !== 'INVALID_EXTENSION') return result;
      return real({ ...command, new_path: `${command.new_path}.md` });
    }),
  },
  'counts characters, not bytes': {
    caught: 'a write over a limit is refused',
    options: ({ limits }) => ({
      limits: { ...limits, maxFileBytes: 2 * (limits?.maxFileBytes ?? 1_000) },
    }),
  },
  'evicts without being asked': {
    caught: 'a write over a limit is refused',
    options: () => ({ evict: 'oldest' }),
  },
  'evicts the file written last': {
    caught: 'gives up what was written longest ago',
    execute: (real) => {
      let last = '';
      return async (command) => {
        if (command?.command !== 'create') return real(command);
        const keptIn = last;
        last = command.path;
        const result = await real(command);
        const evicted = result.ok ? Reflect.get(result.value as object, 'evicted') : [];
        if (Array.isArray(evicted) && evicted.length > 0) {
          await real({ command: 'delete', path: keptIn });
          await real({ command: 'create', path: evicted[0], file_text: '1234' });
        }
        return result;
      };
    },
  },
  'does not say what it evicted': {
    caught: 'and says so',
    execute: answering((value) => ('evicted' in value ? { evicted: [] } : {})),
  },
  'lists without an order': {
    caught: 'sorted, with their sizes',
    execute: answering(({ entries }) =>
      Array.isArray(entries) ? { entries: [...entries].reverse() } : {},
    ),
  },
  'counts lines from zero': {
    caught: 'the lines asked for, with their numbers',
    execute: answering((value) =>
      'firstLine' in value ? { firstLine: Number(value['firstLine']) - 1 } : {},
    ),
  },
  'cuts a range at the end of the file': {
    caught: 'the lines asked for, with their numbers',
    execute: doing('view', async (real, command) => {
      const result = await real(command);
      if (result.ok || result.error.code !== 'INVALID_RANGE') return result;
      const [first = 1] = command.view_range ?? [];
      const rest = await real({ ...command, view_range: [first, -1] });
      return rest.ok ? rest : result;
    }),
  },
  'drops a byte order mark': {
    caught: 'every text comes back',
    execute: doing('create', (real, command) =>
      real({ ...command, file_text: command.file_text?.replace(/^\uFEFF/, '') }),
    ),
  },
  'makes line breaks its own': {
    caught: 'every text comes back',
    execute: doing('create', (real, command) =>
      real({ ...command, file_text: command.file_text?.replaceAll('\r\n', '\n') }),
    ),
  },
  'reads its command late': {
    caught: 'what the caller does to a command after the call',
    execute: (real) => async (command) => {
      await pause();
      return real(command);
    },
  },
  'lets commands come between each other': {
    caught: 'carried out in their order, each whole',
    execute: doing('insert', async (real, command) => {
      const text = await textOf(real, command.path);
      await pause();
      const now = await textOf(real, command.path);
      if (text === null || now === null) return real(command);
      await real({ command: 'delete', path: command.path });
      await real({ command: 'create', path: command.path, file_text: text });
      return real(command);
    }),
  },
  'lets every creator win': {
    caught: 'race to create a file exactly one does',
    execute: doing('create', async (real, command) => {
      const result = await real(command);
      if (result.ok || !command.path?.includes('round')) return result;
      return { ok: true, command: 'create', value: null };
    }),
  },
  'tears edits': {
    caught: 'leave whole edits',
    execute: doing('insert', (real, command) => {
      const text = command.insert_text;
      const isLong = typeof text === 'string' && text.length > 50;
      return real(isLong ? { ...command, insert_text: text.slice(0, 50) } : command);
    }),
  },
  'forgets what stood below': {
    caught: 'delete takes a file, or a directory',
    execute: doing('delete', async (real, command) => {
      const result = await real(command);
      if (result.ok && command.path === '/memories/a') {
        await real({ command: 'create', path: '/memories/a/3', file_text: '' });
      }
      return result;
    }),
  },
};

function mutated(mutant: Mutant): MemoryFactory {
  return () => {
    let memory: Memory | null = null;
    return {
      open: (options) => {
        const real = createInMemoryMemory({ ...options, ...mutant.options?.(options) });
        const execute = mutant.execute?.(real.execute) ?? real.execute;
        memory ??= { scope: real.scope, execute };
        return memory;
      },
    };
  };
}

it.each(Object.entries(mutants))('the kit catches a memory that %s', async (_, mutant) => {
  const { failures } = await runMemoryConformance(mutated(mutant));
  expect(failures.map((failure) => failure.case)).toContainEqual(
    expect.stringContaining(mutant.caught),
  );
});
