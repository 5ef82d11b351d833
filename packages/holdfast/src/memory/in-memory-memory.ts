/** A memory that lives and ends with its object: for tests, and for runs that need not last. */
import { utf8Length } from '../base/text.ts';
import { answerCall, type Carried } from './answer.ts';
import type { Memory, MemoryCommand } from './memory.ts';
import { checkedMemoryOptions, type MemoryOptions, type MemoryRules } from './memory-options.ts';
import { type MemoryChange, type MemoryMoment, planCommand, textWanted } from './memory-plan.ts';
import { filesAt, type MemoryFileInfo } from './memory-tree.ts';
import { Refusal } from './refusal.ts';

/**
 * A memory without a storage. Throws `INVALID_OPTION`. Seed 000.
 *
 * @example
 * const memory = createInMemoryMemory({ scope: 'tests' });
 * await memory.execute({ command: 'create', path: '/memories/plan.md', file_text: '# Plan\n' });
 */
export function createInMemoryMemory(options: MemoryOptions): Memory {
  const rules = checkedMemoryOptions(options);
  const files = new HeldFiles();
  return Object.freeze({
    scope: rules.scope,
    execute: (command: MemoryCommand) =>
      answerCall(command, (checked) => carryOut(checked, files, rules)),
  });
}

interface HeldFile extends MemoryFileInfo {
  readonly text: string;
}

class HeldFiles {
  readonly files = new Map<string, HeldFile>();
  #writes = 0n;

  apply(change: MemoryChange): void {
    switch (change.kind) {
      case 'write':
        this.#writes += 1n;
        this.files.set(change.path, {
          text: change.text,
          bytes: utf8Length(change.text),
          age: this.#writes,
        });
        for (const path of change.evicted) this.files.delete(path);
        return;
      case 'delete':
        for (const path of change.files) this.files.delete(path);
        return;
      case 'rename':
        for (const path of filesAt({ files: this.files, unsafe: [] }, change.from)) {
          const file = this.files.get(path);
          this.files.delete(path);
          if (file !== undefined) this.files.set(change.to + path.slice(change.from.length), file);
        }
    }
  }
}

/** Runs to its end without a pause, so that commands cannot come between each other. */
function carryOut(command: MemoryCommand, held: HeldFiles, rules: MemoryRules): Carried {
  const moment: MemoryMoment = { tree: { files: held.files, unsafe: [] }, rules, text: null };
  const wanted = textWanted(command, moment);
  const text = wanted === null ? null : (held.files.get(wanted)?.text ?? null);
  const plan = planCommand(command, { ...moment, text });
  if (plan instanceof Refusal) return plan;
  if (plan.change !== null) held.apply(plan.change);
  return plan;
}
