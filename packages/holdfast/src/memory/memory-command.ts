/**
 * From anything a caller hands over to a command that is known to be well formed: plain JavaScript
 * callers and models send what they like.
 *
 * Invariants: the command is a frozen copy, made at the call; its paths are paths of a memory, and
 * only `view` has the root.
 */
import { errorText } from '../base/errors.ts';
import { cloneFrozenJson, isJsonObject, type JsonObject, type JsonValue } from '../base/json.ts';
import { oneLine, truncateText } from '../base/text.ts';
import type { MemoryCommand } from './memory.ts';
import { MEMORY_ROOT, memoryPathFault } from './memory-path.ts';
import { Refusal } from './refusal.ts';

type Argument = 'path' | 'text' | 'filled text' | 'line' | 'range';

interface Shape {
  readonly required: Readonly<Record<string, Argument>>;
  readonly optional?: Readonly<Record<string, Argument>>;
}

const shapes: Readonly<Record<MemoryCommand['command'], Shape>> = {
  view: { required: { path: 'path' }, optional: { view_range: 'range' } },
  create: { required: { path: 'path', file_text: 'text' } },
  str_replace: { required: { path: 'path', old_str: 'filled text', new_str: 'text' } },
  insert: { required: { path: 'path', insert_line: 'line', insert_text: 'filled text' } },
  delete: { required: { path: 'path' } },
  rename: { required: { old_path: 'path', new_path: 'path' } },
};

const COMMANDS = Object.keys(shapes).join(', ');
const SHOWN_LENGTH = 100;

/** The command that `given` is, or why it is none. It is a copy: later changes do nothing. */
export function checkedCommand(given: unknown): MemoryCommand | Refusal {
  let command: JsonValue;
  try {
    command = cloneFrozenJson(given);
  } catch (error) {
    return new Refusal('INVALID_ARGUMENT', `The command is not plain JSON: ${bounded(error)}.`);
  }
  if (!isJsonObject(command)) {
    return new Refusal('INVALID_COMMAND', 'A command must be an object with a `command`.');
  }
  const name = command['command'];
  const shape = typeof name === 'string' && Object.hasOwn(shapes, name) ? shapeOf(name) : null;
  if (shape === null) {
    const shown = typeof name === 'string' ? `"${truncateText(name, SHOWN_LENGTH)}"` : typeof name;
    return new Refusal(
      'INVALID_COMMAND',
      `\`command\` is ${shown}; it must be one of ${COMMANDS}.`,
    );
  }
  const fault = argumentFault(command, shape);
  // What the shape has checked is what the type says.
  return fault ?? (command as unknown as MemoryCommand);
}

function shapeOf(name: string): Shape | null {
  return (shapes as Readonly<Record<string, Shape>>)[name] ?? null;
}

/** The name under which a result answers `given`. */
export function commandName(given: unknown): string {
  try {
    const name: unknown = (given as { readonly command?: unknown } | null)?.command;
    return typeof name === 'string' ? oneLine(name, SHOWN_LENGTH, 'unknown') : 'unknown';
  } catch {
    return 'unknown';
  }
}

function argumentFault(command: JsonObject, { required, optional }: Shape): Refusal | null {
  const known = { ...required, ...optional };
  for (const name of Object.keys(command)) {
    if (name === 'command' || Object.hasOwn(known, name)) continue;
    const shown = truncateText(name, SHOWN_LENGTH);
    return new Refusal('INVALID_ARGUMENT', `\`${shown}\` is no argument of this command.`);
  }
  for (const [name, kind] of Object.entries(known)) {
    const value = Object.hasOwn(command, name) ? command[name] : undefined;
    if (value === undefined) {
      if (!Object.hasOwn(required, name)) continue;
      return new Refusal('INVALID_ARGUMENT', `\`${name}\` is missing.`);
    }
    const fault = faults[kind](name, value, command);
    if (fault !== null) return fault;
  }
  return null;
}

type Check = (name: string, value: JsonValue, command: JsonObject) => Refusal | null;

const faults: Readonly<Record<Argument, Check>> = {
  path(name, value, { command }) {
    if (typeof value !== 'string') return wrongKind(name, 'a string');
    const shown = oneLine(value, SHOWN_LENGTH, '');
    const fault = memoryPathFault(value);
    if (fault !== null) {
      return new Refusal('INVALID_PATH', `\`${name}\` "${shown}" is refused: ${fault}.`, {
        path: shown,
      });
    }
    if (value !== MEMORY_ROOT || command === 'view') return null;
    return new Refusal('ROOT_PROTECTED', `${MEMORY_ROOT} itself can only be viewed.`, {
      path: MEMORY_ROOT,
    });
  },
  text: (name, value) => (typeof value === 'string' ? null : wrongKind(name, 'a string')),
  'filled text': (name, value) =>
    typeof value === 'string' && value !== ''
      ? null
      : wrongKind(name, 'a string that is not empty'),
  line(name, value) {
    if (!Number.isSafeInteger(value)) return wrongKind(name, 'a whole number');
    if (Number(value) >= 0) return null;
    return new Refusal('INVALID_RANGE', `\`${name}\` is ${String(value)}; lines count from 1.`);
  },
  range(name, value) {
    const isPair = Array.isArray(value) && value.length === 2 && value.every(Number.isSafeInteger);
    if (!isPair) return wrongKind(name, 'a list of two whole numbers');
    const [first, last] = value.map(Number) as [number, number];
    if (first >= 1 && (last >= first || last === -1)) return null;
    const what = `\`${name}\` is [${first}, ${last}]; it counts from 1, and -1 is the last line`;
    return new Refusal('INVALID_RANGE', `${what}.`);
  },
};

function wrongKind(name: string, wanted: string): Refusal {
  return new Refusal('INVALID_ARGUMENT', `\`${name}\` must be ${wanted}.`);
}

function bounded(error: unknown): string {
  return oneLine(errorText(error), 2 * SHOWN_LENGTH, 'it cannot be read');
}
