/** The terminal as a port: what commands may do with the world around the process. */
import { userInfo } from 'node:os';
import process from 'node:process';
import picocolors from 'picocolors';
import type { Colours } from './colours.ts';
import type { MakeRoom, ProcessGuard } from './process-guard.ts';

export interface Terminal {
  /** A person can be asked: both ends are a terminal. */
  readonly isInteractive: boolean;
  /** The output is a terminal that can be redrawn in place. */
  readonly isLive: boolean;
  readonly colours: Colours;
  readonly cwd: string;
  /** Who answers, unless an option says otherwise. */
  readonly user: string;
  /** How this program was called, to be repeated in advice. */
  readonly program: string;
  size(): { readonly columns: number; readonly rows: number };
  now(): number;
  out(text: string): void;
  err(text: string): void;
  readInput(): Promise<Uint8Array>;
  onResize(listener: () => void): () => void;
  /** Ctrl-C or SIGTERM. */
  onInterrupt(listener: () => void): () => void;
  /** The command that goes on with the run driven now, should node code end the process. */
  drives(next: string | null): void;
  /** While something is shown live, what node code prints goes around it. */
  makeRoomBy(makeRoom: MakeRoom): () => void;
  /** Ends the process at once. */
  exit(code: number): never;
}

const INTERRUPTS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** The terminal of this process. */
export function systemTerminal(program: string, guard: ProcessGuard): Terminal {
  const { stdin, stdout, stderr, env } = process;
  const isTerminal = stdout.isTTY === true;
  swallowBrokenPipes();
  return {
    isInteractive: isTerminal && stdin.isTTY === true && env['TERM'] !== 'dumb',
    isLive: isTerminal && env['TERM'] !== 'dumb',
    colours: systemColours(),
    cwd: process.cwd(),
    user: userName(),
    program,
    size: () => ({ columns: stdout.columns || 80, rows: stdout.rows || 24 }),
    now: () => Date.now(),
    out: guard.out,
    err: (text) => void stderr.write(text),
    readInput: async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of stdin) chunks.push(Buffer.from(chunk as Uint8Array));
      return Buffer.concat(chunks);
    },
    onResize: (listener) => {
      stdout.on('resize', listener);
      return () => stdout.off('resize', listener);
    },
    onInterrupt: (listener) => {
      for (const name of INTERRUPTS) process.on(name, listener);
      return () => {
        for (const name of INTERRUPTS) process.off(name, listener);
      };
    },
    drives: (next) => guard.drives(next),
    makeRoomBy: (makeRoom) => guard.makeRoomBy(makeRoom),
    exit: (code) => {
      guard.finish(code);
      process.exit(code);
    },
  };
}

/** Colours, if standard output shows them. */
export function systemColours(): Colours {
  return picocolors.createColors(wantsColour(process.stdout.isTTY === true));
}

/** https://no-color.org: any non-empty value; FORCE_COLOR says the opposite. */
function wantsColour(isTerminal: boolean): boolean {
  const { env } = process;
  if ((env['NO_COLOR'] ?? '') !== '' || process.argv.includes('--no-color')) return false;
  const forced = env['FORCE_COLOR'];
  if (forced !== undefined) return forced !== '0';
  return isTerminal && env['TERM'] !== 'dumb';
}

/** A reader that went away (`… | head`) ends the output, never the run. */
function swallowBrokenPipes(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
    });
  }
}

/** A container may have no name for its user. */
function userName(): string {
  try {
    return userInfo().username || 'cli';
  } catch {
    return 'cli';
  }
}
