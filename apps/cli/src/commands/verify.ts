/** `holdfast verify RUN`: proves that the stored log gives the same decisions again. */
import { verifyRun } from 'holdfast';
import type { CommandResult, CommonOptions } from '../command-result.ts';
import { bindWithoutCode } from '../drive/bind-run.ts';
import { withExistingStore } from '../drive/open-store.ts';
import { exitCodes } from '../exit-code.ts';
import { requireRunId } from '../flow-file/run-id.ts';
import { counted } from '../render/counted.ts';
import { type AddCommand, type CliPorts, directoryOf, withCommonOptions } from './command.ts';

export const addVerifyCommand: AddCommand = (program, ports, finish) => {
  withCommonOptions(program.command('verify'))
    .description('fold a stored run again and compare every decision')
    .argument('<run>', 'the run id')
    .action(async (runId: string, options: CommonOptions) => {
      finish(await verifyStoredRun(ports, runId, options), options);
    });
};

async function verifyStoredRun(
  ports: CliPorts,
  runId: string,
  options: CommonOptions,
): Promise<CommandResult> {
  requireRunId(runId);
  return withExistingStore(directoryOf(ports, options), async (store) => {
    const { bound } = await bindWithoutCode(store, runId);
    const verified = await verifyRun(store.storage, { runId, graph: bound.graph });
    const { sequence, decisions, verifiedFrom, snapshot } = verified;
    const compared = snapshot === null ? '' : `, the snapshot at ${snapshot} is the same state`;
    const { colours } = ports.terminal;
    return {
      exitCode: exitCodes.complete,
      document: { ...verified, verified: true },
      text:
        `${colours.green('verified')}  ${runId}  from ${verifiedFrom} to ${sequence}: ` +
        `${counted(decisions, 'decision')}, all made again the same${compared}\n`,
    };
  });
}
