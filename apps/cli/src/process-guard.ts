/**
 * What node code does to the process behind the command's back. Node code runs in this process: an
 * error that nothing catches, an exit, or a promise that never settles would end it without a word.
 *
 * Invariants: the process never ends before its command without saying so, by one error and an exit
 * code that is not 0; what node code prints never stands in the one document of `--json`.
 */
import { Console } from 'node:console';
import process from 'node:process';
import { Writable } from 'node:stream';
import { HoldfastError } from 'holdfast';
import type { Colours } from './colours.ts';
import { exitCodes } from './exit-code.ts';
import { errorDocument, errorText } from './render/error-text.ts';

/** Lets a text be written beside what is shown live. */
export type MakeRoom = (write: () => void) => void;

export interface GuardOptions {
  readonly json: boolean;
  readonly verbose: boolean;
  readonly colours: Colours;
}

export class ProcessGuard {
  /** Writes to standard output, also while that of node code is led elsewhere. */
  readonly out: (text: string) => void;
  readonly #options: GuardOptions;
  #endedWith: number | null = null;
  #next: string | null = null;
  #makeRoom: MakeRoom | null = null;

  constructor(options: GuardOptions) {
    const { stdout, stderr } = process;
    const write = stdout.write.bind(stdout);
    this.#options = options;
    this.out = (text) => void write(text);
    if (options.json) stdout.write = stderr.write.bind(stderr) as typeof stdout.write;
    this.#leadConsole();
    process.on('uncaughtException', (error) => this.#escaped(thrownText(error), error));
    process.on('unhandledRejection', (reason) => this.#escaped(thrownText(reason), reason));
    process.on('beforeExit', () => {
      if (this.#endedWith === null) this.#escaped('A promise of node code never settles', null);
    });
    process.on('exit', (code) => {
      if (this.#endedWith === null) this.#say(`Node code ended the process with ${code}`, null);
      process.exitCode = this.#endedWith ?? exitCodes.fault;
    });
  }

  /** The command that goes on with the run that is driven now; null when none is. */
  drives(next: string | null): void {
    this.#next = next;
  }

  /** While something is shown live, node code's own output goes around it. */
  makeRoomBy(makeRoom: MakeRoom): () => void {
    this.#makeRoom = makeRoom;
    return () => {
      this.#makeRoom = null;
    };
  }

  /** The command is done: from here on the exit code is this one, whatever node code still does. */
  finish(exitCode: number): void {
    this.#endedWith = exitCode;
    process.exitCode = exitCode;
  }

  #escaped(what: string, cause: unknown): never {
    this.#say(what, cause);
    process.exit(this.#endedWith ?? exitCodes.fault);
  }

  #say(what: string, cause: unknown): void {
    const { json, colours, verbose } = this.#options;
    const isLate = this.#endedWith !== null;
    const when = isLate ? 'after the command was done' : 'before the command was done';
    const error = new HoldfastError('NODE_ESCAPED', `${what}, ${when}.`, {}, cause ?? undefined);
    this.#endedWith ??= exitCodes.fault;
    const next = this.#next === null ? {} : { next: this.#next };
    if (json && !isLate) {
      const document = { error: errorDocument(error), exitCode: exitCodes.fault, ...next };
      this.out(`${JSON.stringify(document, null, 2)}\n`);
      return;
    }
    const goOn = this.#next === null ? '' : `Go on:  ${this.#next}\n`;
    process.stderr.write(`${errorText(error, colours, verbose)}${goOn}`);
  }

  /** Every method of the console writes to standard error. */
  #leadConsole(): void {
    const aside = new Writable({
      decodeStrings: false,
      write: (text: string, _encoding, done) => {
        const write = () => void process.stderr.write(text);
        // What goes to a file or a pipe needs no room on the terminal.
        if (this.#makeRoom === null || process.stderr.isTTY !== true) write();
        else this.#makeRoom(write);
        done();
      },
    });
    Object.assign(console, new Console(aside, aside));
  }
}

function thrownText(thrown: unknown): string {
  const what = thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : String(thrown);
  return `Node code threw where nothing catches it: ${what.slice(0, 1_000)}`;
}
