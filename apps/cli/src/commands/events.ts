/** `holdfast events RUN`: the record itself, one line an event. */
import { type EventEnvelope, HoldfastError } from 'holdfast';
import type { CommandResult, CommonOptions } from '../command-result.ts';
import { withExistingStore } from '../drive/open-store.ts';
import { exitCodes } from '../exit-code.ts';
import { requireRunId } from '../flow-file/run-id.ts';
import { fitWidth, printable } from '../render/printable.ts';
import { type AddCommand, type CliPorts, directoryOf, withCommonOptions } from './command.ts';
import { wholeNumber } from './list.ts';

interface EventsOptions extends CommonOptions {
  readonly after: string;
  readonly limit?: string;
}

const PAYLOAD_COLUMNS = 400;

export const addEventsCommand: AddCommand = (program, ports, finish) => {
  withCommonOptions(program.command('events'))
    .description('print the events of a run')
    .argument('<run>', 'the run id')
    .option('--after <sequence>', 'only later events', '0')
    .option('--limit <number>', 'at most so many')
    .action(async (runId: string, options: EventsOptions) => {
      finish(await printEvents(ports, runId, options), options);
    });
};

/** Without `--json` each line is written as it is read, however long the run is. */
async function printEvents(
  { terminal, prompter }: CliPorts,
  runId: string,
  options: EventsOptions,
): Promise<CommandResult> {
  requireRunId(runId);
  const after = wholeNumber(options.after, '--after');
  const limit =
    options.limit === undefined ? Number.POSITIVE_INFINITY : wholeNumber(options.limit, '--limit');
  const directory = directoryOf({ terminal, prompter }, options);
  return withExistingStore(directory, async ({ storage }) => {
    const stream = { namespace: storage.record.namespace, streamId: runId };
    if ((await storage.eventStore.end(stream)) === 0) {
      throw new HoldfastError('RUN_NOT_FOUND', `No run ${runId} is stored here.`, { runId });
    }
    const events: EventEnvelope[] = [];
    let count = 0;
    for await (const event of storage.eventStore.read(stream, { after })) {
      if (count >= limit) break;
      count += 1;
      if (options.json === true) events.push(event);
      else terminal.out(`${eventLine(event)}\n`);
    }
    return { exitCode: exitCodes.complete, document: { runId, events }, text: '' };
  });
}

function eventLine({ sequence, timestamp, type, payload }: EventEnvelope): string {
  const shown = fitWidth(printable(JSON.stringify(payload)), PAYLOAD_COLUMNS);
  return `${String(sequence).padStart(6)}  ${timestamp}  ${type.padEnd(28)}  ${shown}`;
}
