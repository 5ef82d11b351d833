/** `holdfast list`: the runs of a store, newest first. */
import { HoldfastError, type RunIndexRow, type RunStatus } from 'holdfast';
import type { CommandResult, CommonOptions } from '../command-result.ts';
import { withExistingStore } from '../drive/open-store.ts';
import { exitCodes } from '../exit-code.ts';
import { displayWidth, padWidth, printable } from '../render/printable.ts';
import { type AddCommand, type CliPorts, directoryOf, withCommonOptions } from './command.ts';

interface ListOptions extends CommonOptions {
  readonly status?: readonly string[];
  readonly graph?: string;
  readonly prefix?: string;
  readonly limit: string;
  readonly cursor?: string;
}

const statuses: readonly RunStatus[] = ['running', 'paused', 'complete', 'fail', 'cancelled'];

export const addListCommand: AddCommand = (program, ports, finish) => {
  withCommonOptions(program.command('list'))
    .description('list runs, newest first')
    .option('--status <status...>', `only these: ${statuses.join(', ')}`)
    .option('--graph <id>', 'only runs of this graph')
    .option('--prefix <text>', 'only run ids that begin so')
    .option('--limit <number>', 'how many on a page, 1–1000', '100')
    .option('--cursor <cursor>', 'the page behind the one that gave it')
    .action(async (options: ListOptions) => {
      finish(await listRuns(ports, options), options);
    });
};

async function listRuns(ports: CliPorts, options: ListOptions): Promise<CommandResult> {
  const { graph, prefix, cursor } = options;
  const filter = {
    ...(options.status === undefined ? {} : { statuses: options.status.map(statusOf) }),
    ...(graph === undefined ? {} : { graphId: graph }),
    ...(prefix === undefined ? {} : { runIdPrefix: prefix }),
  };
  const page = {
    limit: wholeNumber(options.limit, '--limit'),
    ...(cursor === undefined ? {} : { cursor }),
  };
  const directory = directoryOf(ports, options);
  return withExistingStore(directory, async ({ storage }) => {
    const found = await storage.runIndex.list(filter, page);
    const more = found.cursor === undefined ? '' : `more: --cursor ${found.cursor}\n`;
    return {
      exitCode: exitCodes.complete,
      document: { directory, ...found },
      text: `${table(found.runs)}${more}`,
    };
  });
}

/** A whole number of an option. Throws `INVALID_COMMAND`. */
export function wholeNumber(text: string, option: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new HoldfastError(
    'INVALID_COMMAND',
    `${option} must be a whole number, not ${JSON.stringify(text.slice(0, 40))}.`,
  );
}

function statusOf(text: string): RunStatus {
  const status = statuses.find((known) => known === text);
  if (status !== undefined) return status;
  throw new HoldfastError(
    'INVALID_COMMAND',
    `--status must be one of ${statuses.join(', ')}, not ${JSON.stringify(text.slice(0, 40))}.`,
  );
}

function table(runs: readonly RunIndexRow[]): string {
  if (runs.length === 0) return 'no runs\n';
  const rows = runs.map(({ runId, graphId, status, updatedAt, wakeAt, sequence }) => [
    printable(runId),
    status,
    printable(graphId),
    `${updatedAt.slice(0, 19)}Z`,
    String(sequence),
    wakeAt === null ? '' : `wakes ${wakeAt.slice(0, 19)}Z`,
  ]);
  const head = ['RUN', 'STATUS', 'GRAPH', 'UPDATED', 'EVENTS', ''];
  const widths = head.map((name, column) =>
    Math.max(displayWidth(name), ...rows.map((row) => displayWidth(row[column] ?? ''))),
  );
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) => padWidth(cell, widths[column] ?? 0))
      .join('  ')
      .trimEnd();
  return `${[head, ...rows].map(line).join('\n')}\n`;
}
