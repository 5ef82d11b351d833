/** A temporary folder with flow files and a store, and the command line over it. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { runCli } from '../../src/cli.ts';
import type { Prompter } from '../../src/drive/prompter.ts';
import {
  type FakeTerminal,
  type FakeTerminalOptions,
  fakePrompter,
  fakeTerminal,
} from './terminal.ts';

export interface Said {
  readonly exitCode: number;
  readonly out: string;
  readonly err: string;
}

export interface CallOptions extends FakeTerminalOptions {
  readonly prompter?: Prompter;
  /** Given the terminal as soon as the command runs. */
  readonly during?: (terminal: FakeTerminal) => void;
}

export class Workspace {
  readonly folder: string = mkdtempSync(path.join(tmpdir(), 'holdfast-cli-'));

  get store(): string {
    return path.join(this.folder, '.holdfast');
  }

  path(name: string): string {
    return path.join(this.folder, name);
  }

  write(name: string, content: string | object): string {
    const file = this.path(name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
    return file;
  }

  /** Runs one command in this folder. */
  async call(args: readonly string[], options: CallOptions = {}): Promise<Said> {
    const terminal = fakeTerminal({ cwd: this.folder, ...options });
    const done = runCli(args, { terminal, prompter: options.prompter ?? fakePrompter([]) });
    options.during?.(terminal);
    return { exitCode: await done, ...terminal.written };
  }

  /** Runs one command with `--json`; the document must be all that it wrote. */
  async json(args: readonly string[]): Promise<{ exitCode: number; document: Document }> {
    const { exitCode, out, err } = await this.call([...args, '--json']);
    if (err !== '') throw new Error(`--json wrote to standard error: ${err}`);
    return { exitCode, document: JSON.parse(out) as Document };
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

// What a test looks for in a document is its own affair.
export type Document = Readonly<Record<string, unknown>> & {
  readonly output?: unknown;
  readonly error?: { readonly code: string; readonly message: string; readonly next: string };
};

/** A flow file: a chain of tasks behind its trigger, each named after its function. */
export function chainFlow(id: string, ...functions: readonly string[]): object {
  const ids = ['start', ...functions];
  return {
    id,
    nodes: ids.map((name, index) =>
      index === 0
        ? { id: name, type: 'trigger', config: {} }
        : { id: name, type: 'task', config: { function: name } },
    ),
    edges: functions.map((name, index) => ({
      id: `e${index}`,
      source: ids[index],
      target: name,
    })),
  };
}

/** start → ask → send, or → keep when it is rejected. */
export const askFlow = {
  id: 'ask',
  nodes: [
    { id: 'start', type: 'trigger', config: {} },
    { id: 'ask', type: 'approval', config: { prompt: 'Send {{ input.what }}?' } },
    { id: 'send', type: 'task', config: { function: 'send' } },
    { id: 'keep', type: 'end', config: {} },
  ],
  edges: [
    { id: 'a', source: 'start', target: 'ask' },
    { id: 'b', source: 'ask', sourceHandle: 'approved', target: 'send' },
    { id: 'c', source: 'ask', sourceHandle: 'rejected', target: 'keep' },
  ],
};

export const askModule = "export const send = () => ({ summary: 'sent' });\n";
