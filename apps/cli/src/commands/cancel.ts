/** `holdfast cancel RUN`: asks for the end of a run; whoever drives it stops it and undoes. */
import type { CommandResult, CommonOptions } from '../command-result.ts';
import { Advice } from '../drive/advice.ts';
import { rootOf } from '../drive/bind-run.ts';
import { withExistingStore } from '../drive/open-store.ts';
import { exitCodes } from '../exit-code.ts';
import { requireRunId } from '../flow-file/run-id.ts';
import { executorOf, requireOpen } from './answer.ts';
import {
  type AddCommand,
  type CliPorts,
  directoryOf,
  speaker,
  withCommonOptions,
} from './command.ts';

interface CancelOptions extends CommonOptions {
  readonly reason: string;
  readonly by?: string;
}

export const addCancelCommand: AddCommand = (program, ports, finish) => {
  withCommonOptions(program.command('cancel'))
    .description('ask for the end of a run')
    .argument('<run>', 'the run id')
    .requiredOption('--reason <text>', 'why')
    .option('--by <name>', 'who asks')
    .action(async (runId: string, options: CancelOptions) => {
      finish(await cancelRun(ports, runId, options), options);
    });
};

/** A process that drives the run takes it in at once; else the next `resume` finishes it. */
async function cancelRun(
  ports: CliPorts,
  runId: string,
  options: CancelOptions,
): Promise<CommandResult> {
  requireRunId(runId);
  const by = speaker(ports, options.by);
  const { reason } = options;
  const directory = directoryOf(ports, options);
  return withExistingStore(directory, async (store) => {
    const executor = await executorOf(store, runId);
    await requireOpen(store, runId);
    await executor.cancel({ by, reason });
    const next = new Advice(ports.terminal, directory).resume(rootOf(runId));
    return {
      exitCode: exitCodes.complete,
      document: { runId, cancelRequested: true, by, reason, next },
      text: `cancel requested  ${runId}  by ${by}: ${reason}\nFinish it:  ${next}\n`,
    };
  });
}
