/** What the kit of memories works with: a factory of backings, and commands with expectations. */
import type { JsonValue } from '../base/json.ts';
import type { Memory, MemoryCommand, MemoryErrorCode, MemoryResult } from '../memory/memory.ts';
import type { MemoryOptions } from '../memory/memory-options.ts';
import { type BenchCase, reportOfBenches } from './bench-case.ts';
import { type ConformanceReport, fail } from './conformance-report.ts';
import { expectSame, shown } from './expectation.ts';

/** One place where a memory keeps its files: an empty directory, database or object. */
export interface MemoryBacking {
  /**
   * A memory over this backing, as another process would open it. A memory that only lives in its
   * object gives the same one again; all options of one backing are the same.
   */
  open(options: MemoryOptions): Memory | Promise<Memory>;
  /** Deletes the backing. */
  dispose?(): void | Promise<void>;
}

/** Called once a case. */
export type MemoryFactory = () => MemoryBacking | Promise<MemoryBacking>;

export type MemoryCase = BenchCase<MemoryBench>;

const kitScope = 'kit';

/** What a case works with. */
export class MemoryBench {
  readonly #backing: MemoryBacking;

  constructor(backing: MemoryBacking) {
    this.#backing = backing;
  }

  async open(options: Partial<MemoryOptions> = {}): Promise<MemoryHandle> {
    return new MemoryHandle(await this.#backing.open({ scope: kitScope, ...options }));
  }

  /** Memories as several processes would have them. */
  openMany(count: number): Promise<readonly MemoryHandle[]> {
    return Promise.all(Array.from({ length: count }, () => this.open()));
  }

  async close(): Promise<void> {
    await this.#backing.dispose?.();
  }
}

/** A memory, and what a case expects of it. */
export class MemoryHandle {
  readonly memory: Memory;

  constructor(memory: Memory) {
    this.memory = memory;
  }

  /** Gives anything to the memory, which must answer, and by the rules of results. */
  async ask(command: unknown): Promise<MemoryResult> {
    // The kit plays a caller without types.
    const result = await this.memory.execute(command as MemoryCommand);
    if (typeof result?.ok !== 'boolean') fail(`no result, but ${JSON.stringify(result)}`);
    return result;
  }

  /** The value of a command that must succeed. */
  async value(command: MemoryCommand): Promise<JsonValue> {
    const result = await this.ask(command);
    if (!result.ok) fail(`${shown(command)} was refused: ${shown(result.error)}`);
    expectSame(`the command of ${shown(command)}`, result.command, command.command);
    return result.value;
  }

  /** Checks what a command gives. */
  async gives(command: MemoryCommand, value: JsonValue): Promise<void> {
    expectSame(shown(command), await this.value(command), value);
  }

  /** Checks that a command is refused with this code, and changes nothing that a view shows. */
  async refuses(command: unknown, ...codes: readonly MemoryErrorCode[]): Promise<void> {
    const before = await this.text();
    const result = await this.ask(command);
    if (result.ok) fail(`${shown(command)}: expected ${codes.join(' or ')}, but it was done`);
    const { code, message } = result.error;
    if (!codes.includes(code)) {
      fail(`${shown(command)}: expected ${codes.join(' or ')}, got ${code}: ${message}`);
    }
    if (typeof message !== 'string' || message.trim() === '') fail(`${code} has no message`);
    if ((await this.text()) !== before) fail(`${shown(command)} was refused, but changed files`);
  }

  create(path: string, text: string): Promise<JsonValue> {
    return this.value({ command: 'create', path, file_text: text });
  }

  /** Checks the exact text of a file. */
  async holds(path: string, text: string): Promise<void> {
    const found = await this.read(path);
    if (found !== text) fail(`${path}: expected ${shown(text)}, found ${shown(found)}`);
  }

  async read(path: string): Promise<unknown> {
    return property(await this.value({ command: 'view', path }), 'text');
  }

  /** The paths in a directory. */
  async list(path: string): Promise<readonly string[]> {
    const entries = property(await this.value({ command: 'view', path }), 'entries');
    if (!Array.isArray(entries)) return fail(`${path} lists no entries`);
    return entries.map((entry: unknown) => String(property(entry, 'path')));
  }

  /** All files and their texts, as one text. */
  async text(directory = '/memories'): Promise<string> {
    const parts: string[] = [];
    for (const path of await this.list(directory)) {
      const view = await this.value({ command: 'view', path });
      const isFile = property(view, 'kind') === 'file';
      parts.push(isFile ? JSON.stringify([path, view]) : await this.text(path));
    }
    return parts.join('\n');
  }
}

function property(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

/** Runs all cases, each over a backing of its own. */
export function reportOfMemory(
  cases: readonly MemoryCase[],
  factory: MemoryFactory,
): Promise<ConformanceReport> {
  return reportOfBenches(cases, async () => new MemoryBench(await factory()));
}
