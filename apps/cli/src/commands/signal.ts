/** `holdfast signal RUN NAME PAYLOAD`: sends a message to a run, also before it waits for it. */
import { randomUUID } from 'node:crypto';
import type { CommandResult, CommonOptions } from '../command-result.ts';
import { Advice } from '../drive/advice.ts';
import { withExistingStore } from '../drive/open-store.ts';
import { exitCodes } from '../exit-code.ts';
import { readJsonArgument } from '../flow-file/read-json.ts';
import { requireRunId } from '../flow-file/run-id.ts';
import { executorOf } from './answer.ts';
import { type AddCommand, type CliPorts, directoryOf, withCommonOptions } from './command.ts';

interface SignalOptions extends CommonOptions {
  readonly signalId?: string;
}

export const addSignalCommand: AddCommand = (program, ports, finish) => {
  withCommonOptions(program.command('signal'))
    .description('send a signal to a run')
    .argument('<run>', 'the run id')
    .argument('<name>', 'the name of the signal')
    .argument('[payload]', 'JSON: a file or text', 'null')
    .option('--signal-id <id>', 'a repeat of an id is ignored; by default a fresh one')
    .action(async (runId: string, name: string, payload: string, options: SignalOptions) => {
      finish(await sendSignal(ports, { runId, name, payload }, options), options);
    });
};

async function sendSignal(
  ports: CliPorts,
  given: { readonly runId: string; readonly name: string; readonly payload: string },
  options: SignalOptions,
): Promise<CommandResult> {
  const { runId, name } = given;
  requireRunId(runId);
  const payload = await readJsonArgument(given.payload, 'The payload', ports.terminal);
  const signalId = options.signalId ?? randomUUID();
  const directory = directoryOf(ports, options);
  return withExistingStore(directory, async (store) => {
    await (await executorOf(store, runId)).signal(name, payload, { signalId });
    const next = new Advice(ports.terminal, directory).resume(runId);
    return {
      exitCode: exitCodes.complete,
      document: { runId, name, signalId, sent: true, next },
      text: `sent  ${name}  ${signalId}\nGo on:  ${next}\n`,
    };
  });
}
