/**
 * git as a child process: no shell, no prompts, no hooks, no locks, bounded output and time.
 *
 * It has a process group of its own, so that a Ctrl-C meant for the host does not end the git of
 * an attempt that may still be inspected.
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { devNull } from 'node:os';
import process from 'node:process';
import type { Readable, Writable } from 'node:stream';
import { HoldfastError } from '../base/errors.ts';
import { oneLine } from '../base/text.ts';

/** One call of git. */
export interface GitCommand {
  readonly directory: string;
  readonly args: readonly string[];
  readonly input?: string | Buffer;
  readonly signal: AbortSignal;
  /** Each call is ended after this long. */
  readonly timeoutMs: number;
  readonly maxOutputBytes?: number;
  /** Whether git ends with 1 to say that there is nothing. */
  readonly mayFindNothing?: boolean;
  /** Whether the settings of the machine and of the user are left out. */
  readonly isAlone?: boolean;
}

type GitProcess = ChildProcessByStdio<Writable, Readable, Readable>;

const MAX_OUTPUT_BYTES = 256 * 1024 * 1024;
const MAX_COMPLAINT_BYTES = 4_096;
const MAX_SHOWN_LENGTH = 400;

/** Nothing that a repository's configuration names is run or believed in place of the files. */
const SETTINGS = [
  `core.hooksPath=${devNull}`,
  'core.fsmonitor=false',
  'core.untrackedCache=false',
  'core.commitGraph=false',
  // An object that is not here is not fetched.
  'protocol.allow=never',
].flatMap((setting) => ['-c', setting]);

/** What a host may say of git itself; all other variables of git could point it elsewhere. */
const KEPT_VARIABLES: ReadonlySet<string> = new Set([
  'GIT_CONFIG_GLOBAL',
  'GIT_CONFIG_NOSYSTEM',
  'GIT_CONFIG_SYSTEM',
  'GIT_EXEC_PATH',
]);

/** What git answers. Throws `WORKSPACE_INSPECTION` with what it said, `ABORTED` by the signal. */
export function runGit(command: GitCommand): Promise<Buffer> {
  const { directory, args, input, signal, timeoutMs } = command;
  if (signal.aborted) return Promise.reject(inspectionAborted(signal));
  const child = spawn('git', ['--no-pager', ...SETTINGS, ...args], {
    cwd: directory,
    env: gitEnvironment(command.isAlone === true),
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true,
    windowsHide: true,
    signal,
    timeout: timeoutMs,
  });
  const answer = answerOf(child, command);
  // git may end before it has read everything.
  child.stdin.on('error', () => {});
  child.stdin.end(input ?? '');
  return answer;
}

/** Thrown when an inspection is told to stop. */
export function inspectionAborted(signal: AbortSignal): HoldfastError {
  const text = 'The inspection of the workspace was told to stop.';
  return new HoldfastError('ABORTED', text, {}, signal.reason);
}

/** Throws `WORKSPACE_INSPECTION`: why the workspace could not be looked at. */
export function inspectionFailed(directory: string, why: string, cause?: unknown): HoldfastError {
  const text = `The workspace ${directory} could not be inspected: ${why}`;
  return new HoldfastError('WORKSPACE_INSPECTION', text, { directory }, cause);
}

function answerOf(child: GitProcess, command: GitCommand): Promise<Buffer> {
  const { directory, signal, maxOutputBytes = MAX_OUTPUT_BYTES } = command;
  const good: readonly (number | null)[] = command.mayFindNothing === true ? [0, 1] : [0];
  const chunks: Buffer[] = [];
  let size = 0;
  let complaint = '';
  child.stdout.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size <= maxOutputBytes) chunks.push(chunk);
    else child.kill('SIGKILL');
  });
  child.stderr.on('data', (chunk: Buffer) => {
    if (complaint.length < MAX_COMPLAINT_BYTES) complaint += chunk.toString('utf8');
  });
  return new Promise((resolve, reject) => {
    child.on('error', (error) => {
      // An aborted git is waited for: it must not outlive the inspection.
      if (signal.aborted) return;
      reject(inspectionFailed(directory, `git cannot be started (${error.message}).`, error));
    });
    child.on('close', (code, ended) => {
      if (good.includes(code) && size <= maxOutputBytes) resolve(Buffer.concat(chunks));
      else if (signal.aborted) reject(inspectionAborted(signal));
      else if (size > maxOutputBytes) reject(tooMuch(command, maxOutputBytes));
      else reject(gitFailed(command, code === null ? `by ${ended}` : `with ${code}`, complaint));
    });
  });
}

function gitEnvironment(isAlone: boolean): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => {
    return !name.startsWith('GIT_') || KEPT_VARIABLES.has(name);
  });
  return {
    ...Object.fromEntries(own),
    LC_ALL: 'C',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_TERMINAL_PROMPT: '0',
    GIT_NO_LAZY_FETCH: '1',
    // What stands in for an object is not what was changed.
    GIT_NO_REPLACE_OBJECTS: '1',
    ...(isAlone ? { GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: devNull } : {}),
  };
}

function tooMuch({ directory, args }: GitCommand, bytes: number): HoldfastError {
  const advice = 'Name in .gitignore what is no part of the work.';
  return inspectionFailed(directory, `git ${args[0]} said more than ${bytes} bytes. ${advice}`);
}

function gitFailed(command: GitCommand, how: string, complaint: string): HoldfastError {
  const said = oneLine(complaint, MAX_SHOWN_LENGTH, 'git said nothing.');
  return inspectionFailed(command.directory, `git ${command.args[0]} ended ${how}: ${said}`);
}
