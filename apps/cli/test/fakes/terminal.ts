/** A terminal that remembers what was written to it, and a prompter that answers from a list. */
import picocolors from 'picocolors';
import type { Choice, Prompter } from '../../src/drive/prompter.ts';
import type { Terminal } from '../../src/terminal.ts';

export interface FakeTerminal extends Terminal {
  readonly written: { out: string; err: string };
  /** Presses Ctrl-C. */
  interrupt(): void;
}

export interface FakeTerminalOptions {
  readonly cwd?: string;
  readonly isInteractive?: boolean;
  readonly isLive?: boolean;
  readonly columns?: number;
  readonly rows?: number;
  readonly input?: string;
}

export function fakeTerminal(options: FakeTerminalOptions = {}): FakeTerminal {
  const { isInteractive = false, isLive = false, columns = 80, rows = 24, input = '' } = options;
  const written = { out: '', err: '' };
  const interrupts = new Set<() => void>();
  return {
    written,
    isInteractive,
    isLive,
    colours: picocolors.createColors(false),
    cwd: options.cwd ?? process.cwd(),
    user: 'tester',
    program: 'holdfast',
    size: () => ({ columns, rows }),
    now: () => Date.now(),
    out: (text) => {
      written.out += text;
    },
    err: (text) => {
      written.err += text;
    },
    readInput: async () => new TextEncoder().encode(input),
    onResize: () => () => {},
    onInterrupt: (listener) => {
      interrupts.add(listener);
      return () => interrupts.delete(listener);
    },
    interrupt: () => {
      for (const listener of [...interrupts]) listener();
    },
    drives: () => {},
    makeRoomBy: () => () => {},
    exit: (code) => {
      throw new Error(`exit ${code}`);
    },
  };
}

/** Gives its answers in order; a question without one is left unanswered. */
export function fakePrompter(answers: readonly string[]): Prompter & { readonly asked: string[] } {
  const left = [...answers];
  const asked: string[] = [];
  return {
    asked,
    choose: async <Value extends string>(question: string, choices: readonly Choice<Value>[]) => {
      asked.push(question);
      const answer = left.shift();
      return choices.find(({ value }) => value === answer)?.value ?? null;
    },
    write: async (question: string, fault: (answer: string) => string | null) => {
      asked.push(question);
      const answer = left.shift() ?? null;
      return answer === null || fault(answer) !== null ? null : answer;
    },
  };
}
