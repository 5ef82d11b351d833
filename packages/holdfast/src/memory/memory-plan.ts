/**
 * The commands of a memory as a pure decision: from a command and what is stored to the answer
 * and the one change to be made. Every adapter carries out what stands here.
 */
import { freezeJson, type JsonValue } from '../base/json.ts';
import { utf8Length } from '../base/text.ts';
import type { MemoryCommand } from './memory.ts';
import { countLines, insertLines, lineAt, offsetsOf, sliceLines } from './memory-lines.ts';
import type { MemoryRules } from './memory-options.ts';
import { isBelow, memoryPathFault, nameOf } from './memory-path.ts';
import { roomFor } from './memory-room.ts';
import {
  bytesOf,
  entriesOf,
  fileAbove,
  filesAt,
  kindAt,
  type MemoryTree,
  unsafeNear,
} from './memory-tree.ts';
import type {
  MemoryDeleteReceipt,
  MemoryDirectoryView,
  MemoryFileView,
  MemoryRenameReceipt,
  MemoryWriteReceipt,
} from './memory-values.ts';
import { Refusal } from './refusal.ts';

export type MemoryChange =
  | {
      readonly kind: 'write';
      readonly path: string;
      readonly text: string;
      readonly isNew: boolean;
      readonly evicted: readonly string[];
    }
  | { readonly kind: 'delete'; readonly path: string; readonly files: readonly string[] }
  | {
      readonly kind: 'rename';
      readonly from: string;
      readonly to: string;
      readonly isDirectory: boolean;
    };

/** What a command answers once its change is made; null changes nothing. */
export interface MemoryPlan {
  readonly value: JsonValue;
  readonly change: MemoryChange | null;
}

/** What is known when a command is decided. */
export interface MemoryMoment {
  readonly tree: MemoryTree;
  readonly rules: MemoryRules;
  /** The text of the file that `textWanted` names; null when there is none. */
  readonly text: string | null;
}

type Of<Name extends MemoryCommand['command']> = MemoryCommand & { readonly command: Name };

const SHOWN_MATCHES = 20;

/** The file whose text a command is decided on, or null. */
export function textWanted(command: MemoryCommand, { tree, rules }: MemoryMoment): string | null {
  if (!('path' in command) || command.command === 'create' || command.command === 'delete') {
    return null;
  }
  const bytes = tree.files.get(command.path)?.bytes;
  return bytes === undefined || bytes > rules.limits.maxFileBytes ? null : command.path;
}

/** Decides a checked command. */
export function planCommand(command: MemoryCommand, moment: MemoryMoment): MemoryPlan | Refusal {
  const paths = 'path' in command ? [command.path] : [command.old_path, command.new_path];
  for (const path of paths) {
    const unsafe = unsafeNear(moment.tree, path);
    if (unsafe !== null) return unsafeStorage(unsafe);
  }
  switch (command.command) {
    case 'view':
      return view(command, moment);
    case 'create':
      return create(command, moment);
    case 'str_replace':
      return replace(command, moment);
    case 'insert':
      return insert(command, moment);
    case 'delete':
      return remove(command, moment);
    case 'rename':
      return rename(command, moment);
  }
}

/** The refusal of a link or special file where a memory's own files stand. */
export function unsafeStorage(path: string): Refusal {
  const message = `${path} is a link or a special file in the storage; it is not followed.`;
  return new Refusal('UNSAFE_STORAGE', message, { path });
}

function view(command: Of<'view'>, moment: MemoryMoment): MemoryPlan | Refusal {
  const { path, view_range: range } = command;
  if (kindAt(moment.tree, path) === 'directory') {
    if (range !== undefined) {
      return new Refusal('INVALID_ARGUMENT', `${path} is a directory: leave out \`view_range\`.`);
    }
    const entries = entriesOf(moment.tree, path);
    return answer({ kind: 'directory', path, entries } satisfies MemoryDirectoryView);
  }
  const text = textOf(path, moment);
  if (text instanceof Refusal) return text;
  const lineCount = countLines(text);
  const [first, end] = range ?? [Math.min(1, lineCount), -1];
  const last = end === -1 ? lineCount : end;
  if (range !== undefined && (first > lineCount || last > lineCount)) {
    return outside(path, `[${first}, ${end}]`, lineCount);
  }
  return answer({
    kind: 'file',
    path,
    bytes: utf8Length(text),
    lineCount,
    firstLine: first,
    lastLine: last,
    text: range === undefined ? text : sliceLines(text, first, last),
  } satisfies MemoryFileView);
}

function create(command: Of<'create'>, moment: MemoryMoment): MemoryPlan | Refusal {
  const { path, file_text: text } = command;
  const taken = placeFault(path, moment);
  if (taken !== null) return taken;
  const refused = extensionFault(path, moment.rules);
  if (refused !== null) return refused;
  return write({ path, text, isNew: true, line: 1, written: text }, moment);
}

function replace(command: Of<'str_replace'>, moment: MemoryMoment): MemoryPlan | Refusal {
  const { path, old_str: sought, new_str: written } = command;
  const text = textOf(path, moment);
  if (text instanceof Refusal) return text;
  const offsets = offsetsOf(text, sought, SHOWN_MATCHES);
  const [offset] = offsets;
  if (offset === undefined) {
    const message = `${path} does not hold \`old_str\`. View it and give the exact text.`;
    return new Refusal('MATCH_NOT_FOUND', message, { path });
  }
  if (offsets.length > 1) {
    const lines = offsets.map((at) => lineAt(text, at));
    const message = `${path} holds \`old_str\` more than once, at lines ${lines.join(', ')}.`;
    return new Refusal('MATCH_NOT_UNIQUE', `${message} Give more of the text around it.`, {
      path,
      details: { lines },
    });
  }
  // Not String.replace: `$&` in the new text must stay as it is.
  const after = text.slice(0, offset) + written + text.slice(offset + sought.length);
  const line = lineAt(text, offset);
  return write({ path, text: after, isNew: false, line, written }, moment);
}

function insert(command: Of<'insert'>, moment: MemoryMoment): MemoryPlan | Refusal {
  const { path, insert_line: line, insert_text: written } = command;
  const text = textOf(path, moment);
  if (text instanceof Refusal) return text;
  const lineCount = countLines(text);
  if (line > lineCount) return outside(path, String(line), lineCount);
  const after = insertLines(text, line, written);
  return write({ path, text: after, isNew: false, line: line + 1, written }, moment);
}

function remove(command: Of<'delete'>, { tree }: MemoryMoment): MemoryPlan | Refusal {
  const { path } = command;
  const files = filesAt(tree, path);
  if (files.length === 0) return notFound(path);
  const receipt = { path, files: files.length, bytes: bytesOf(tree, files) };
  return answer(receipt satisfies MemoryDeleteReceipt, { kind: 'delete', path, files });
}

function rename(command: Of<'rename'>, moment: MemoryMoment): MemoryPlan | Refusal {
  const { old_path: from, new_path: to } = command;
  const files = filesAt(moment.tree, from);
  if (files.length === 0) return notFound(from);
  if (isBelow(to, from)) {
    return new Refusal('PATH_CONFLICT', `${from} cannot move into itself.`, { path: to });
  }
  const taken = placeFault(to, moment);
  if (taken !== null) return taken;
  const isDirectory = kindAt(moment.tree, from) === 'directory';
  const refused = isDirectory ? movedPathFault(files, from, to) : extensionFault(to, moment.rules);
  if (refused !== null) return refused;
  const bytes = bytesOf(moment.tree, files);
  const receipt = { path: to, from, files: files.length, bytes };
  return answer(receipt satisfies MemoryRenameReceipt, { kind: 'rename', from, to, isDirectory });
}

interface Write {
  readonly path: string;
  readonly text: string;
  readonly isNew: boolean;
  readonly line: number;
  readonly written: string;
}

function write(what: Write, { tree, rules }: MemoryMoment): MemoryPlan | Refusal {
  const { path, text, isNew, line, written } = what;
  const bytes = utf8Length(text);
  const evicted = roomFor({ path, bytes }, tree, rules);
  if (evicted instanceof Refusal) return evicted;
  const lines = countLines(written);
  const receipt: MemoryWriteReceipt = {
    path,
    bytes,
    lineCount: countLines(text),
    line: lines === 0 ? 0 : line,
    lines,
    evicted,
  };
  return answer(receipt, { kind: 'write', path, text, isNew, evicted });
}

function answer(value: JsonValue, change: MemoryChange | null = null): MemoryPlan {
  return { value: freezeJson(value), change };
}

/** The text of the file at `path`, or why there is none to work on. */
function textOf(path: string, { tree, rules, text }: MemoryMoment): string | Refusal {
  if (kindAt(tree, path) === 'directory') {
    return new Refusal('PATH_CONFLICT', `${path} is a directory.`, { path });
  }
  const info = tree.files.get(path);
  if (info === undefined) return notFound(path);
  const limit = rules.limits.maxFileBytes;
  if (info.bytes > limit) {
    const message = `${path} has ${info.bytes} bytes; files over ${limit} are not read.`;
    return new Refusal('LIMIT_EXCEEDED', message, { path, details: { limit } });
  }
  if (text !== null) return text;
  return new Refusal('CONFLICT', `${path} went away meanwhile. Look again.`, { path });
}

/** Why nothing new can be put at `path`, or null. */
function placeFault(path: string, { tree }: MemoryMoment): Refusal | null {
  const kind = kindAt(tree, path);
  if (kind !== null) {
    return new Refusal('ALREADY_EXISTS', `${path} is there already: a ${kind}.`, { path });
  }
  const above = fileAbove(tree, path);
  if (above === null) return null;
  return new Refusal('PATH_CONFLICT', `${above} is a file, so ${path} cannot be.`, { path });
}

function extensionFault(path: string, { extensions }: MemoryRules): Refusal | null {
  if (extensions === null) return null;
  const name = nameOf(path).toLowerCase();
  const isAllowed = extensions.some((end) => name.endsWith(end) && name.length > end.length);
  if (isAllowed) return null;
  const message = `${path} must end with ${extensions.join(', ')}.`;
  return new Refusal('INVALID_EXTENSION', message, { path });
}

/** The files of a directory that moves must have paths afterwards too. */
function movedPathFault(files: readonly string[], from: string, to: string): Refusal | null {
  for (const file of files) {
    const fault = memoryPathFault(to + file.slice(from.length));
    if (fault === null) continue;
    const message = `${file} would have no path below ${to}: ${fault}.`;
    return new Refusal('INVALID_PATH', message, { path: to });
  }
  return null;
}

function notFound(path: string): Refusal {
  return new Refusal('NOT_FOUND', `There is nothing at ${path}.`, { path });
}

function outside(path: string, what: string, lineCount: number): Refusal {
  const message = `${path} has ${lineCount} lines; ${what} is outside of them.`;
  return new Refusal('INVALID_RANGE', message, { path, details: { lineCount } });
}
