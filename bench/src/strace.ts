/**
 * What the kernel says of syncs: a workload run again under `strace`, to confirm that the storage
 * counts what really happens.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const once = fileURLToPath(new URL('./run-once.js', import.meta.url));

export interface TracedSyncs {
  readonly id: string;
  readonly steps: number;
  /** What the storage counted. */
  readonly counted: number;
  /** `fsync` and `fdatasync` calls of the process while the store was open. */
  readonly traced: number;
}

/** True where `strace` is installed. */
export function hasStrace(): boolean {
  return spawnSync('strace', ['-V'], { stdio: 'ignore' }).status === 0;
}

/** Runs W2 or W5 once under `strace`. */
export function traceSyncs(id: 'W2' | 'W5', parent: string): TracedSyncs {
  const directory = mkdtempSync(join(parent, 'holdfast-bench-'));
  try {
    const summary = join(directory, 'strace.txt');
    const trace = ['-f', '-c', '-o', summary, '-e', 'trace=fsync,fdatasync'];
    const ran = spawnSync('strace', [...trace, process.execPath, once, id, directory], {
      encoding: 'utf8',
    });
    if (ran.status !== 0) throw new Error(`strace failed: ${ran.stderr}`);
    const { steps, syncs } = JSON.parse(ran.stdout) as { steps: number; syncs: number };
    return { id, steps, counted: syncs, traced: callsOf(readFileSync(summary, 'utf8')) };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** The calls column of `strace -c`, added up over the two system calls. */
function callsOf(summary: string): number {
  const rows = summary.split('\n').filter((line) => /\bf(?:data)?sync$/.test(line.trim()));
  return rows.reduce((sum, line) => sum + Number(line.trim().split(/\s+/)[3] ?? 0), 0);
}
