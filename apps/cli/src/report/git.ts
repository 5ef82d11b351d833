/**
 * git as a child process: bounded output, no pager, no prompts, no locks.
 *
 * It runs in a process group of its own, so that a Ctrl-C meant for the run does not kill the git
 * of an attempt that is allowed to finish.
 */
import { spawn } from 'node:child_process';
import process from 'node:process';
import { HoldfastError } from 'holdfast';

export interface GitCall {
  /** A folder inside the repository. */
  readonly repository: string;
  readonly args: readonly string[];
  readonly input?: string;
  readonly signal?: AbortSignal | undefined;
  /** Exit codes that are answers, not failures; 0 always is. */
  readonly allow?: readonly number[];
}

export interface GitAnswer {
  readonly exitCode: number;
  readonly output: Buffer;
}

const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;
const MAX_ERROR_LENGTH = 400;

/** Runs git to its end. Throws `GIT_FAILED`. */
export async function git(call: GitCall): Promise<GitAnswer> {
  const chunks: Buffer[] = [];
  let size = 0;
  const exitCode = await stream(call, (chunk) => {
    size += chunk.length;
    chunks.push(chunk);
    return size <= MAX_OUTPUT_BYTES;
  });
  return { exitCode, output: Buffer.concat(chunks) };
}

/** The trimmed text of a short answer; null when git says no by an allowed exit code. */
export async function gitText(call: GitCall): Promise<string | null> {
  const { exitCode, output } = await git(call);
  return exitCode === 0 ? output.toString('utf8').trim() : null;
}

/** Reads items that end with `separator` as they come; `take` returns false to stop git. */
export async function gitItems(
  call: GitCall,
  separator: string,
  take: (item: string) => boolean,
): Promise<void> {
  let rest = Buffer.alloc(0);
  const end = Buffer.from(separator);
  await stream(call, (chunk) => {
    let text = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    for (let at = text.indexOf(end); at >= 0; at = text.indexOf(end)) {
      if (!take(text.toString('utf8', 0, at))) return false;
      text = text.subarray(at + end.length);
    }
    rest = Buffer.from(text);
    return rest.length <= MAX_OUTPUT_BYTES;
  });
  if (rest.length > 0) take(rest.toString('utf8'));
}

function stream(call: GitCall, take: (chunk: Buffer) => boolean): Promise<number> {
  const { repository, args, input, signal, allow = [] } = call;
  const child = spawn('git', ['-C', repository, '-c', 'core.quotepath=off', ...args], {
    env: gitEnvironment(),
    stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    detached: true,
    ...(signal === undefined ? {} : { signal }),
  });
  let complaint = '';
  let stopped = false;
  child.stderr?.on('data', (chunk: Buffer) => {
    if (complaint.length < MAX_ERROR_LENGTH) complaint += chunk.toString('utf8');
  });
  child.stdout?.on('data', (chunk: Buffer) => {
    if (stopped || take(chunk)) return;
    stopped = true;
    child.kill('SIGTERM');
  });
  // git may end before it has read everything.
  child.stdin?.on('error', () => {});
  if (input !== undefined) child.stdin?.end(input);
  return new Promise((resolve, reject) => {
    child.on('error', (error) => reject(signal?.aborted ? error : gitMissing(error)));
    child.on('close', (code) => {
      const exitCode = stopped ? 0 : (code ?? -1);
      if (exitCode === 0 || allow.includes(exitCode)) resolve(exitCode);
      else reject(gitFailed(args, exitCode, complaint));
    });
  });
}

/** A hook or a caller may point git elsewhere: only `repository` counts. */
function gitEnvironment(): NodeJS.ProcessEnv {
  const { GIT_DIR, GIT_WORK_TREE, GIT_INDEX_FILE, GIT_PREFIX, ...env } = process.env;
  return {
    ...env,
    LC_ALL: 'C',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_TERMINAL_PROMPT: '0',
    GIT_PAGER: 'cat',
  };
}

function gitMissing(error: Error): HoldfastError {
  return new HoldfastError('GIT_FAILED', `git cannot be started: ${error.message}.`, {}, error);
}

function gitFailed(args: readonly string[], exitCode: number, complaint: string): HoldfastError {
  const said = complaint.trim().slice(0, MAX_ERROR_LENGTH);
  return new HoldfastError(
    'GIT_FAILED',
    `git ${args[0]} ended with ${exitCode}${said === '' ? '' : `: ${said}`}`,
    { exitCode },
  );
}
