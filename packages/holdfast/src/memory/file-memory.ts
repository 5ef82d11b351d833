/**
 * A memory in a directory: each file of it is a file there, under the same names.
 *
 * Invariants: no path leaves the directory, and no link in it is followed; a reader sees a file
 * whole, as it was before a write or after it; commands of one object are carried out one by one,
 * and changes of all processes too: each is decided and made while it has the directory's lock.
 */
import type { BigIntStats } from 'node:fs';
import { mkdir, realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import { oneLine } from '../base/text.ts';
import { AnchoredDirectory, NotPlainError, systemCode } from './anchored-directory.ts';
import { answerCall, type Carried } from './answer.ts';
import { holdingLock, LockHeld } from './directory-lock.ts';
import { DiskChanged, makeChange } from './disk-change.ts';
import { type ReadText, readText } from './disk-text.ts';
import { type DiskTree, walkDisk } from './disk-walk.ts';
import type { Memory, MemoryCommand } from './memory.ts';
import {
  checkedMemoryOptions,
  invalid,
  type MemoryOptions,
  type MemoryRules,
} from './memory-options.ts';
import { MEMORY_ROOT, nameOf, namesOf } from './memory-path.ts';
import {
  type MemoryMoment,
  type MemoryPlan,
  planCommand,
  textWanted,
  unsafeStorage,
} from './memory-plan.ts';
import { Refusal } from './refusal.ts';

export interface FileMemoryOptions extends MemoryOptions {
  /** Made when the first command comes. `/memories/a.md` is the file `a.md` in it. */
  readonly directory: string;
  /**
   * How long a command waits for another process that is making a change, in milliseconds: 10,000
   * by default. Then it is refused (`LOCKED`).
   */
  readonly lockWaitMs?: number | undefined;
}

const DEFAULT_LOCK_WAIT_MS = 10_000;
const MAX_LOCK_WAIT_MS = 3_600_000;

/**
 * A memory whose files stand below a directory. Processes of one machine may share it: commands
 * that change something exclude each other by a lock that ends with its process, so no
 * acknowledged one is lost to another. What holds no longer where other programs write there too,
 * or on a file system of several machines, stands in docs/memory.md. Throws `INVALID_OPTION`; does
 * not touch the disk before the first command. Seed 000.
 *
 * @example
 * const memory = createFileMemory({ scope: 'team', directory: './memory' });
 * const result = await memory.execute({ command: 'view', path: '/memories' });
 */
export function createFileMemory(options: FileMemoryOptions): Memory {
  const rules = checkedMemoryOptions(options);
  const { directory } = options;
  if (typeof directory !== 'string' || directory.trim() === '' || directory.includes('\0')) {
    throw invalid('directory', 'it must be the path of a directory');
  }
  const lockWaitMs = checkedLockWait(options.lockWaitMs ?? DEFAULT_LOCK_WAIT_MS);
  const files = new FileMemory(resolve(directory), { rules, lockWaitMs });
  return Object.freeze({
    scope: rules.scope,
    execute: (command: MemoryCommand) => answerCall(command, (checked) => files.carryOut(checked)),
  });
}

function checkedLockWait(waitMs: number): number {
  if (Number.isSafeInteger(waitMs) && waitMs >= 1 && waitMs <= MAX_LOCK_WAIT_MS) return waitMs;
  const what = `it must be a whole number from 1 to ${MAX_LOCK_WAIT_MS}, not ${String(waitMs)}`;
  throw invalid('lockWaitMs', what);
}

/** How often a command is decided anew when other programs come between. */
const ATTEMPTS = 5;

/** The system's words for a directory that may be read only. */
const READ_ONLY: ReadonlySet<string> = new Set(['EROFS', 'EACCES', 'EPERM']);

/** A command decided by a look at the disk. */
interface Decided {
  readonly plan: MemoryPlan | Refusal;
  readonly tree: DiskTree;
  /** The file that was read for it. */
  readonly stamp: BigIntStats | null;
}

class FileMemory {
  readonly #directory: string;
  readonly #rules: MemoryRules;
  readonly #lockWaitMs: number;
  /** The directory behind any links of the host's own; what stands there later is not followed. */
  #realDirectory: string | null = null;
  #writes = 0;
  /** Settles when all commands before are done; never rejects. */
  #before: Promise<unknown> = Promise.resolve();

  constructor(
    directory: string,
    { rules, lockWaitMs }: { readonly rules: MemoryRules; readonly lockWaitMs: number },
  ) {
    this.#directory = directory;
    this.#rules = rules;
    this.#lockWaitMs = lockWaitMs;
  }

  carryOut(command: MemoryCommand): Promise<Carried> {
    const carried = this.#before.then(() => this.#attempts(command));
    this.#before = carried;
    return carried;
  }

  /** Never rejects. */
  async #attempts(command: MemoryCommand): Promise<Carried> {
    let last: unknown = null;
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      try {
        return await this.#attempt(command);
      } catch (error) {
        last = error;
        // A link that came during the attempt is seen, and refused by its path, in the next.
        if (!(error instanceof DiskChanged || error instanceof NotPlainError)) break;
      }
    }
    return refusalOf(last, 'path' in command ? command.path : command.old_path);
  }

  async #attempt(command: MemoryCommand): Promise<Carried> {
    const root = await this.#open();
    try {
      if (command.command === 'view') return (await this.#decide(command, root)).plan;
      return await this.#change(command, root);
    } finally {
      await root.close();
    }
  }

  async #change(command: MemoryCommand, root: AnchoredDirectory): Promise<Carried> {
    try {
      return await holdingLock(root, this.#lockWaitMs, async () => {
        const { plan, tree, stamp } = await this.#decide(command, root);
        if (plan instanceof Refusal || plan.change === null) return plan;
        this.#writes += 1;
        await makeChange(plan.change, { root, tree, stamp, number: this.#writes });
        return plan;
      });
    } catch (error) {
      if (systemCode(error) === 'ENOENT') throw new DiskChanged();
      if (!READ_ONLY.has(systemCode(error))) throw error;
      // Nothing can be changed here; what is refused anyway is refused for its own reason.
      const { plan } = await this.#decide(command, root);
      if (plan instanceof Refusal) return plan;
      throw error;
    }
  }

  async #decide(command: MemoryCommand, root: AnchoredDirectory): Promise<Decided> {
    const tree = await walkDisk(root);
    const moment: MemoryMoment = { tree, rules: this.#rules, text: null };
    const wanted = textWanted(command, moment);
    const read = wanted === null ? null : await this.#read(root, wanted);
    const plan = planCommand(command, { ...moment, text: read?.text ?? null });
    return { plan, tree, stamp: read?.stamp ?? null };
  }

  async #open(): Promise<AnchoredDirectory> {
    try {
      this.#realDirectory ??= await realpath(this.#directory);
      return await AnchoredDirectory.open(this.#realDirectory);
    } catch (error) {
      if (systemCode(error) !== 'ENOENT') throw error;
    }
    await mkdir(this.#directory, { recursive: true });
    this.#realDirectory ??= await realpath(this.#directory);
    return AnchoredDirectory.open(this.#realDirectory);
  }

  async #read(root: AnchoredDirectory, path: string): Promise<ReadText> {
    const opened: AnchoredDirectory[] = [];
    try {
      let parent = root;
      for (const name of namesOf(path).slice(0, -1)) {
        parent = await parent.child(name);
        opened.push(parent);
      }
      const read = await readText(parent, nameOf(path), this.#rules.limits.maxFileBytes);
      if (read === null) throw new DiskChanged();
      return read;
    } catch (error) {
      throw systemCode(error) === 'ENOENT' ? new DiskChanged() : error;
    } finally {
      await Promise.all(opened.map((directory) => directory.close()));
    }
  }
}

/** Names the system's code, never a path of the host: the message may go to a model. */
function refusalOf(error: unknown, path: string): Refusal {
  if (error instanceof DiskChanged) {
    const message = `${path} is changed by others all the time, or something hidden is in the way.`;
    return new Refusal('CONFLICT', `${message} Look again.`, { path });
  }
  if (error instanceof LockHeld) {
    const { pid } = error;
    const holder = pid === null ? 'Another process' : `Process ${pid}`;
    const message = `${holder} is changing the memory and has not finished in time. Try again.`;
    return new Refusal('LOCKED', message, pid === null ? { path } : { path, details: { pid } });
  }
  if (error instanceof NotPlainError) return unsafeStorage(MEMORY_ROOT);
  const code = systemCode(error);
  if (code !== '') {
    const message = `The storage failed with ${code}.`;
    return new Refusal('STORAGE_ERROR', message, { path, details: { systemCode: code } });
  }
  const what = error instanceof Error ? oneLine(error.message, 200, 'no reason') : 'no reason';
  return new Refusal('STORAGE_ERROR', `The storage failed: ${what}.`, { path });
}
