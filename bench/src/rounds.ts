/** Runs each workload in fresh processes and takes the median of every figure. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { median } from './numbers.ts';
import { targetsOf, type Workload, type WorkloadResult } from './workload.ts';

const child = fileURLToPath(new URL('./child.js', import.meta.url));

export interface RoundOptions {
  readonly rounds: number;
  /** Where the stores of the workloads are made and removed again. */
  readonly directory: string;
}

/** The median of `rounds` processes. */
export function measureRounds(workload: Workload, options: RoundOptions): WorkloadResult {
  const results = Array.from({ length: options.rounds }, () => measureRound(workload, options));
  const [first] = results;
  if (first === undefined) throw new Error('at least one round is needed');
  const figure = (name: string): number | string | null =>
    middle(results.map((result) => result[name as keyof WorkloadResult] as number | string | null));
  const names = Object.keys(first).filter((name) => name !== 'more' && name !== 'targets');
  const figures = Object.fromEntries(names.map((name) => [name, figure(name)]));
  const more = Object.fromEntries(
    Object.keys(first.more).map((name) => [
      name,
      median(results.map((one) => one.more[name] ?? 0)),
    ]),
  );
  const merged = { ...first, ...figures, more };
  return { ...merged, targets: targetsOf(workload, { ...figures, ...more }) };
}

function middle(values: readonly (number | string | null)[]): number | string | null {
  const numbers = values.filter((value) => typeof value === 'number');
  return numbers.length === 0 ? (values[0] ?? null) : median(numbers);
}

function measureRound(workload: Workload, options: RoundOptions): WorkloadResult {
  const result = runChild('measure', workload, options) as WorkloadResult;
  const { peakRssMb } = runChild('once', workload, options) as { readonly peakRssMb: number };
  return { ...result, peakRssMb };
}

function runChild(mode: string, workload: Workload, options: RoundOptions): unknown {
  const directory = mkdtempSync(join(options.directory, 'holdfast-bench-'));
  try {
    const ran = spawnSync(process.execPath, [child, mode, workload.id, directory], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
      maxBuffer: 64 * 1024 * 1024,
    });
    if (ran.status !== 0) throw new Error(`${workload.id} failed; its error stands above`);
    return JSON.parse(ran.stdout);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
