/** `holdfast answer RUN PAUSE ANSWER`: answers an open pause; it does not drive the run. */
import { createGraphExecutor, type GraphExecutor, HoldfastError, type JsonValue } from 'holdfast';
import type { CommandResult, CommonOptions } from '../command-result.ts';
import { Advice } from '../drive/advice.ts';
import { bindWithoutCode, rootOf } from '../drive/bind-run.ts';
import { type Store, withExistingStore } from '../drive/open-store.ts';
import { exitCodes } from '../exit-code.ts';
import { readJsonArgument } from '../flow-file/read-json.ts';
import { requireRunId } from '../flow-file/run-id.ts';
import {
  type AddCommand,
  type CliPorts,
  directoryOf,
  speaker,
  withCommonOptions,
} from './command.ts';

interface AnswerOptions extends CommonOptions {
  readonly by?: string;
}

export const addAnswerCommand: AddCommand = (program, ports, finish) => {
  withCommonOptions(program.command('answer'))
    .description('answer an open pause')
    .argument('<run>', 'the run id')
    .argument('<pause>', 'the pause id, as `show` prints it')
    .argument('<answer>', 'true, false, or any JSON (a file or text)')
    .option('--by <name>', 'who answers')
    .action(async (runId: string, pauseId: string, answer: string, options: AnswerOptions) => {
      const given = await answerOf(answer, ports);
      finish(await answerPause(ports, { runId, pauseId, answer: given }, options), options);
    });
};

/** The words of an approval need no quotes. */
async function answerOf(text: string, { terminal }: CliPorts): Promise<JsonValue> {
  const words: Readonly<Record<string, JsonValue>> = {
    approved: 'approved',
    rejected: 'rejected',
    yes: true,
    no: false,
  };
  return Object.hasOwn(words, text)
    ? (words[text] ?? null)
    : readJsonArgument(text, 'The answer', terminal);
}

async function answerPause(
  ports: CliPorts,
  given: { readonly runId: string; readonly pauseId: string; readonly answer: JsonValue },
  options: AnswerOptions,
): Promise<CommandResult> {
  const { runId, pauseId, answer } = given;
  const by = speaker(ports, options.by);
  requireRunId(runId);
  const directory = directoryOf(ports, options);
  return withExistingStore(directory, async (store) => {
    const executor = await executorOf(store, runOfPause(pauseId, runId));
    await executor.answer(pauseId, answer, { by });
    const next = new Advice(ports.terminal, directory).resume(rootOf(runId));
    return {
      exitCode: exitCodes.complete,
      document: { runId, pauseId, answered: true, by, next },
      text: `answered  ${pauseId}  by ${by}\nGo on:  ${next}\n`,
    };
  });
}

/** An executor that answers but never drives. */
export async function executorOf(store: Store, runId: string): Promise<GraphExecutor> {
  const { bound } = await bindWithoutCode(store, runId);
  return createGraphExecutor({ ...bound, runId, storage: store.storage });
}

/** Throws `RUN_ENDED` for a run that takes nothing in any more. */
export async function requireOpen({ storage }: Store, runId: string): Promise<void> {
  const status = (await storage.runIndex.get(runId))?.status;
  if (status === undefined || status === 'running' || status === 'paused') return;
  const how = { complete: 'is complete', fail: 'has failed', cancelled: 'was cancelled' }[status];
  throw new HoldfastError('RUN_ENDED', `Run ${runId} ${how}: it takes nothing in any more.`, {
    runId,
    status,
  });
}

/** A child's pause is answered in the child's own run; its parent then goes on. */
export function runOfPause(pauseId: string, runId: string): string {
  const owner = pauseId.slice(0, Math.max(0, pauseId.lastIndexOf('@')));
  if (owner === runId || owner.startsWith(`${runId}.`)) return owner;
  throw new HoldfastError(
    'PAUSE_MISMATCH',
    `${JSON.stringify(pauseId.slice(0, 200))} is no pause of run ${runId}; pause ids look like ` +
      `${runId}@12.`,
    { runId, pauseId },
  );
}
