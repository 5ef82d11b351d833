/** `holdfast resume RUN`: goes on with a stored run, wherever its process died. */
import type { CommandResult, CommonOptions } from '../command-result.ts';
import { absolute, bindStoredRun, keepMovedCode } from '../drive/bind-run.ts';
import { driveSession } from '../drive/drive-session.ts';
import { withExistingStore } from '../drive/open-store.ts';
import { personAnswerer } from '../drive/person-answerer.ts';
import { haltedAsResult, runReport } from '../drive/run-report.ts';
import { requireRunId } from '../flow-file/run-id.ts';
import {
  type AddCommand,
  type CliPorts,
  directoryOf,
  mayAsk,
  presenterFor,
  speaker,
  withCommonOptions,
} from './command.ts';

interface ResumeOptions extends CommonOptions {
  readonly module?: string;
  readonly flow?: string;
  readonly by?: string;
}

export const addResumeCommand: AddCommand = (program, ports, finish) => {
  withCommonOptions(program.command('resume'))
    .description('go on with a stored run')
    .argument('<run>', 'the run id')
    .option('--module <file>', 'the functions, if they were moved')
    .option('--flow <file>', 'the flow file, if it was moved; its module is looked for beside it')
    .option('--by <name>', 'who answers questions')
    .action(async (runId: string, options: ResumeOptions) => {
      finish(await resumeRun(ports, runId, options), options);
    });
};

async function resumeRun(
  ports: CliPorts,
  runId: string,
  options: ResumeOptions,
): Promise<CommandResult> {
  const { terminal } = ports;
  requireRunId(runId);
  const directory = directoryOf(ports, options);
  return withExistingStore(directory, async (store) => {
    const moved = {
      module: absolute(terminal.cwd, options.module, '--module'),
      flow: absolute(terminal.cwd, options.flow, '--flow'),
    };
    const { flow, bound } = await bindStoredRun(store, runId, moved);
    keepMovedCode(store, runId, moved);
    const driven = await driveSession({
      store,
      runId,
      bound,
      terminal,
      presenter: presenterFor(ports, options, flow),
      answerer: mayAsk(ports, options) ? personAnswerer(ports, speaker(ports, options.by)) : null,
    }).catch((error: unknown) => haltedAsResult(error, runId));
    return runReport(driven, terminal, directory);
  });
}
