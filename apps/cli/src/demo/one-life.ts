/** One process of the report, killed at a point that chance has chosen, or left alone. */
import { spawn } from 'node:child_process';
import process from 'node:process';

export interface Life {
  readonly script: string;
  readonly args: readonly string[];
  /** Kill it so long after it has said so many things; null = let it live. */
  readonly kill: { readonly afterLines: number; readonly delayMs: number } | null;
  /** Kill it so long after this node has started, whatever else was planned. */
  readonly aim: { readonly nodeId: string; readonly delayMs: number } | null;
}

export interface LifeEnd {
  readonly killed: boolean;
  readonly exitCode: number | null;
  readonly lines: readonly string[];
  readonly complaint: string;
}

export function liveOnce({ script, args, kill, aim }: Life): Promise<LifeEnd> {
  const child = spawn(process.execPath, [script, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const lines: string[] = [];
  let rest = '';
  let complaint = '';
  let timer: NodeJS.Timeout | null = null;
  const killIn = (ms: number): void => {
    if (timer !== null) clearTimeout(timer);
    timer = setTimeout(() => child.kill('SIGKILL'), ms);
  };
  const hear = (line: string): void => {
    lines.push(line);
    if (aim !== null && hasStarted(line, aim.nodeId)) killIn(aim.delayMs);
    else if (kill !== null && lines.length === kill.afterLines) killIn(kill.delayMs);
  };
  child.stdout.on('data', (chunk: Buffer) => {
    const parts = `${rest}${chunk.toString('utf8')}`.split('\n');
    rest = parts.pop() ?? '';
    for (const line of parts) hear(line);
  });
  child.stderr.on('data', (chunk: Buffer) => {
    complaint += chunk.toString('utf8');
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (exitCode, signal) => {
      if (timer !== null) clearTimeout(timer);
      resolve({ killed: signal === 'SIGKILL', exitCode, lines, complaint });
    });
  });
}

/** A plain line says `node  started  <id>  <position>`. */
function hasStarted(line: string, nodeId: string): boolean {
  const [, what, how, name] = line.split(/\s+/);
  return what === 'node' && (how === 'started' || how === 'resumed') && name === nodeId;
}
