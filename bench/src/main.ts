/**
 * `npm run bench -- [--json] [--only ID]… [--rounds N] [--directory DIR] [--strace]`: measures the
 * workloads, each beside the raw limit of SQLite. What is measured stands in docs/benchmarks.md.
 */
import { mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { parseArgs } from 'node:util';
import { describeMachine } from './machine.ts';
import { measureRounds } from './rounds.ts';
import { hasStrace, traceSyncs } from './strace.ts';
import { renderTable } from './table.ts';
import type { WorkloadResult } from './workload.ts';
import { workloads } from './workloads.ts';

const { values: options } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true, default: [] },
    rounds: { type: 'string', default: '3' },
    directory: { type: 'string', default: tmpdir() },
    strace: { type: 'boolean', default: false },
  },
});
mkdirSync(options.directory, { recursive: true });
if (options.strace) confirmSyncs(options.directory);
else measureAll();

function measureAll(): void {
  const rounds = Number(options.rounds);
  if (!Number.isSafeInteger(rounds) || rounds < 1) fail('--rounds must be a whole number from 1');
  const unknown = options.only.find((id) => !workloads.some((workload) => workload.id === id));
  if (unknown !== undefined) {
    fail(`there is no ${unknown}; known: ${workloads.map(({ id }) => id).join(', ')}`);
  }
  const chosen = workloads.filter(
    ({ id }) => options.only.length === 0 || options.only.includes(id),
  );
  const machine = describeMachine();
  const results = chosen.map((workload): WorkloadResult => {
    process.stderr.write(`${workload.id}: ${workload.name} …\n`);
    return measureRounds(workload, { rounds, directory: options.directory });
  });
  if (options.json) process.stdout.write(`${JSON.stringify({ machine, results }, null, 2)}\n`);
  else process.stdout.write(`${JSON.stringify(machine)}\n\n${renderTable(results)}\n`);
}

/** Lets the kernel say how many syncs there were. */
function confirmSyncs(directory: string): void {
  if (!hasStrace()) fail('strace is not installed here');
  const traced = (['W2', 'W5'] as const).map((id) => traceSyncs(id, directory));
  if (options.json) process.stdout.write(`${JSON.stringify({ traced }, null, 2)}\n`);
  else for (const each of traced) process.stdout.write(`${JSON.stringify(each)}\n`);
}

function fail(what: string): never {
  process.stderr.write(`${what}\n`);
  process.exit(2);
}
