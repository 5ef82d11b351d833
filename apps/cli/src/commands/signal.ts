/** `holdfast signal RUN NAME PAYLOAD`: sends a message to a run, also before it waits for it. */
import { randomUUID } from 'node:crypto';
import type { GraphExecutor } from 'holdfast';
import type { CommandResult, CommonOptions } from '../command-result.ts';
import { Advice } from '../drive/advice.ts';
import { rootOf } from '../drive/bind-run.ts';
import { type Store, withExistingStore } from '../drive/open-store.ts';
import { exitCodes } from '../exit-code.ts';
import { readJsonArgument } from '../flow-file/read-json.ts';
import { requireRunId } from '../flow-file/run-id.ts';
import { executorOf, requireOpen } from './answer.ts';
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
    const executor = await executorOf(store, runId);
    await requireOpen(store, runId);
    const receiver = (await waitingChild(store, executor, name)) ?? executor;
    await receiver.signal(name, payload, { signalId });
    const next = new Advice(ports.terminal, directory).resume(rootOf(runId));
    return {
      exitCode: exitCodes.complete,
      document: { runId, name, signalId, sent: true, next },
      text: `sent  ${name}  ${signalId}\nGo on:  ${next}\n`,
    };
  });
}

/**
 * The run below this one in which something waits for the signal, if the run itself does not. Each
 * stored run is asked for itself: the code that makes a child of a subflow is not loaded here.
 */
async function waitingChild(
  store: Store,
  parent: GraphExecutor,
  name: string,
): Promise<GraphExecutor | null> {
  if (await waitsFor(parent, name)) return null;
  const filter = { runIdPrefix: `${parent.runId}.`, statuses: ['running', 'paused'] as const };
  let cursor: string | undefined;
  do {
    const page = await store.storage.runIndex.list(filter, {
      limit: 1_000,
      ...(cursor === undefined ? {} : { cursor }),
    });
    for (const { runId } of page.runs) {
      const child = await executorOf(store, runId);
      if (await waitsFor(child, name)) return child;
    }
    ({ cursor } = page);
  } while (cursor !== undefined);
  return null;
}

/** The run itself, none below it. */
async function waitsFor(executor: GraphExecutor, name: string): Promise<boolean> {
  return (await executor.pauses()).some(
    ({ runId, request }) =>
      runId === executor.runId && request.kind === 'signal' && request['name'] === name,
  );
}
