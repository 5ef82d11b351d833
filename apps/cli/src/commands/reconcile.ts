/** `holdfast reconcile`: says what became of uncertain attempts, one or many. */
import { HoldfastError, type JsonValue, type PauseView, type Reconciliation } from 'holdfast';
import type { CommandResult, CommonOptions } from '../command-result.ts';
import { Advice } from '../drive/advice.ts';
import { nodeResult } from '../drive/ask-pause.ts';
import { type Store, withExistingStore } from '../drive/open-store.ts';
import { exitCodes } from '../exit-code.ts';
import { readJsonArgument } from '../flow-file/read-json.ts';
import { requireRunId } from '../flow-file/run-id.ts';
import { executorOf, runOfPause } from './answer.ts';
import {
  type AddCommand,
  type CliPorts,
  directoryOf,
  speaker,
  withCommonOptions,
} from './command.ts';

interface ReconcileOptions extends CommonOptions {
  readonly kind: string;
  readonly reason: string;
  readonly by?: string;
  readonly step?: string;
  readonly result?: string;
  readonly code?: string;
  readonly all?: boolean;
  readonly graph?: string;
  readonly node?: string;
}

export const addReconcileCommand: AddCommand = (program, ports, finish) => {
  withCommonOptions(program.command('reconcile'))
    .description('say what became of an uncertain attempt: one, those of a run, or by a filter')
    .argument('[run]', 'the run id; leave it out with --all, --graph or --node')
    .argument('[pause]', 'the pause id; without it every uncertain attempt of the run')
    .requiredOption('--kind <kind>', 'completed, failed or retry')
    .requiredOption('--reason <text>', 'how you know')
    .option('--by <name>', 'who says so')
    .option('--result <json>', 'with completed: the output')
    .option('--code <code>', 'with failed: the failure code')
    .option('--step <name>', 'about this sub-step only')
    .option('--all', 'every uncertain attempt of every run')
    .option('--graph <id>', 'only runs of this graph')
    .option('--node <id>', 'only attempts of this node')
    .action(async (runId: string | undefined, pauseId: string | undefined, options) => {
      finish(await reconcile(ports, { runId, pauseId }, options), options);
    });
};

interface Target {
  readonly runId?: string | undefined;
  readonly pauseId?: string | undefined;
}

interface Reconciled {
  readonly runId: string;
  readonly pauseId: string;
  readonly nodeId: string;
}

async function reconcile(
  ports: CliPorts,
  target: Target,
  options: ReconcileOptions,
): Promise<CommandResult> {
  const said = await reconciliationOf(ports, options);
  requireTarget(target, options);
  const directory = directoryOf(ports, options);
  return withExistingStore(directory, async (store) => {
    const pauses = await pausesOf(store, target, options);
    const done: Reconciled[] = [];
    for (const { runId, pauseId, nodeId } of pauses) {
      await (await executorOf(store, runId)).reconcile(pauseId, said);
      done.push({ runId, pauseId, nodeId });
    }
    return resultOf(done, said, new Advice(ports.terminal, directory));
  });
}

function resultOf(
  done: readonly Reconciled[],
  { kind, reason, by }: Reconciliation,
  advice: Advice,
): CommandResult {
  const roots = [...new Set(done.map(({ runId }) => rootOf(runId)))];
  const lines = [
    ...done.map(({ pauseId, nodeId }) => `reconciled  ${pauseId}  ${nodeId}  ${kind}`),
    `${done.length} reconciled as ${kind} by ${by}: ${reason}`,
    ...roots.slice(0, 20).map((runId) => `Go on:  ${advice.resume(runId)}`),
  ];
  return {
    exitCode: exitCodes.complete,
    document: { reconciled: done, kind, reason, by, next: roots.map((id) => advice.resume(id)) },
    text: `${lines.join('\n')}\n`,
  };
}

function rootOf(runId: string): string {
  return runId.replace(/(?:\.[0-9a-f]{16}(?:\.c\d+)?)+$/, '');
}

async function reconciliationOf(
  ports: CliPorts,
  options: ReconcileOptions,
): Promise<Reconciliation> {
  const by = speaker(ports, options.by);
  const { reason, step, kind, code, result } = options;
  const said = { by, reason, ...(step === undefined ? {} : { step }) };
  switch (kind) {
    case 'retry':
      refuseOther(options, null);
      return { kind, ...said };
    case 'failed':
      refuseOther(options, 'code');
      return { kind, code: required(code, '--code', '--kind failed'), ...said };
    case 'completed': {
      refuseOther(options, 'result');
      const given = required(result, '--result', '--kind completed');
      const output: JsonValue = await readJsonArgument(given, '--result', ports.terminal);
      return { kind, result: step === undefined ? nodeResult(output) : output, ...said };
    }
    default:
      throw invalid(`--kind must be completed, failed or retry, not ${JSON.stringify(kind)}.`);
  }
}

function refuseOther(options: ReconcileOptions, allowed: 'result' | 'code' | null): void {
  for (const name of ['result', 'code'] as const) {
    if (name !== allowed && options[name] !== undefined) {
      throw invalid(`--${name} does not go with --kind ${options.kind}.`);
    }
  }
}

function required(value: string | undefined, option: string, where: string): string {
  if (value !== undefined) return value;
  throw invalid(`${option} is needed with ${where}.`);
}

function requireTarget({ runId }: Target, { all, graph, node }: ReconcileOptions): void {
  const filtered = all === true || graph !== undefined || node !== undefined;
  if (runId !== undefined) {
    requireRunId(runId);
    if (all === true || graph !== undefined) throw invalid('Name a run, or use --all or --graph.');
    return;
  }
  if (!filtered) throw invalid('Name a run, or say --all, --graph ID or --node ID.');
}

function invalid(message: string): HoldfastError {
  return new HoldfastError('INVALID_COMMAND', message);
}

/** The open pauses that are meant. Throws `PAUSE_MISMATCH` when a run named has none. */
async function pausesOf(
  store: Store,
  { runId, pauseId }: Target,
  options: ReconcileOptions,
): Promise<readonly PauseView[]> {
  if (runId === undefined) return pausesByFilter(store, options);
  if (pauseId !== undefined) {
    const owner = runOfPause(pauseId, runId);
    const open = await (await executorOf(store, owner)).pauses();
    const pause = open.find((one) => one.pauseId === pauseId);
    // One that is not open is refused by the executor, in its words.
    return [pause ?? ({ pauseId, runId: owner, nodeId: '' } as PauseView)];
  }
  const found = await uncertainPauses(store, runId, options.node);
  if (found.length > 0) return found;
  const what = options.node === undefined ? '' : ` of node ${options.node}`;
  throw new HoldfastError('PAUSE_MISMATCH', `Run ${runId} has no uncertain attempt${what}.`, {
    runId,
  });
}

async function pausesByFilter(
  store: Store,
  { graph, node }: ReconcileOptions,
): Promise<readonly PauseView[]> {
  const filter = {
    statuses: ['paused', 'running'] as const,
    ...(graph === undefined ? {} : { graphId: graph }),
  };
  const pauses: PauseView[] = [];
  let cursor: string | undefined;
  do {
    const page = await store.storage.runIndex.list(filter, {
      limit: 500,
      ...(cursor === undefined ? {} : { cursor }),
    });
    for (const row of page.runs) pauses.push(...(await uncertainPauses(store, row.runId, node)));
    cursor = page.cursor;
  } while (cursor !== undefined);
  return pauses;
}

/** A run's own uncertain attempts: those of its children are found in their own runs. */
async function uncertainPauses(
  store: Store,
  runId: string,
  node: string | undefined,
): Promise<readonly PauseView[]> {
  const open = await (await executorOf(store, runId)).pauses();
  return open.filter(
    (pause) =>
      pause.request.kind === 'reconcile-attempt' &&
      pause.runId === runId &&
      (node === undefined || pause.nodeId === node),
  );
}
