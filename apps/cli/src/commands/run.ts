/** `holdfast run FLOW`: stores a run and drives it. */
import {
  type BoundRun,
  defaultStoragePolicy,
  digestJson,
  type FlowFile,
  HoldfastError,
  type JsonValue,
  maxFlowInputBytes,
  startRun,
} from 'holdfast';
import type { CommandResult, CommonOptions } from '../command-result.ts';
import { absolute, bindFlow } from '../drive/bind-run.ts';
import { driveSession } from '../drive/drive-session.ts';
import { type Store, withStore } from '../drive/open-store.ts';
import { personAnswerer } from '../drive/person-answerer.ts';
import { haltedAsResult, runReport } from '../drive/run-report.ts';
import { requireSoundFlow } from '../flow-file/check-flow.ts';
import { functionsOf, type LoadedFlow, loadFlow } from '../flow-file/load-flow.ts';
import { namedFile } from '../flow-file/named-file.ts';
import { readJsonArgument } from '../flow-file/read-json.ts';
import { freshRunId, requireRunId } from '../flow-file/run-id.ts';
import { writeRunSource } from '../flow-file/run-source.ts';
import { storedFlow } from '../flow-file/stored-flow.ts';
import {
  type AddCommand,
  type CliPorts,
  directoryOf,
  mayAsk,
  presenterFor,
  speaker,
  withCommonOptions,
} from './command.ts';

interface RunOptions extends CommonOptions {
  readonly input?: string;
  readonly runId?: string;
  readonly module?: string;
  readonly by?: string;
}

export const addRunCommand: AddCommand = (program, ports, finish) => {
  withCommonOptions(program.command('run'))
    .description('run a flow: a JSON file with its module of functions, or a module')
    .argument('<flow>', 'the flow file')
    .option('--input <file|json>', 'the input: a file, JSON, or - for standard input', '{}')
    .option('--run-id <id>', 'the name of the run; one that exists goes on')
    .option('--module <file>', 'the functions, if they are not beside the flow')
    .option('--by <name>', 'who answers questions')
    .action(async (flow: string, options: RunOptions) => {
      finish(await runFlowFile(ports, flow, options), options);
    });
};

/** Everything is read and checked before anything is stored. */
async function runFlowFile(
  ports: CliPorts,
  flowPath: string,
  options: RunOptions,
): Promise<CommandResult> {
  const { terminal } = ports;
  if (options.runId !== undefined) requireRunId(options.runId);
  const input = await readJsonArgument(options.input ?? '{}', '--input', terminal);
  const module = absolute(terminal.cwd, options.module, '--module');
  const loaded = await loadFlow(namedFile(terminal.cwd, flowPath, 'the flow'), { module });
  requireSoundFlow(loaded, flowPath);
  requireFittingInput(input, loaded.flow);
  const bound = bindFlow(loaded.flow, functionsOf(loaded), loaded.flows);
  const directory = directoryOf(ports, options);
  return withStore(directory, async (store) => {
    const runId = options.runId ?? freshRunId(loaded.flow.id, terminal.now());
    await storeOnce(store, { runId, bound, input, loaded });
    const driven = await driveSession({
      store,
      runId,
      bound,
      terminal,
      presenter: presenterFor(ports, options, loaded.flow),
      answerer: mayAsk(ports, options) ? personAnswerer(ports, speaker(ports, options.by)) : null,
    }).catch((error: unknown) => haltedAsResult(error, runId));
    return runReport(driven, terminal, directory);
  });
}

/**
 * The input of a flow is its trigger's result, which is recorded as one event. Throws
 * `STORAGE_LIMIT_EXCEEDED`.
 */
function requireFittingInput(input: JsonValue, flow: FlowFile): void {
  const trigger = flow.nodes.find(({ type }) => type === 'trigger')?.id ?? '';
  const limit = maxFlowInputBytes(defaultStoragePolicy, trigger);
  const size = Buffer.byteLength(JSON.stringify(input));
  if (size <= limit) return;
  throw new HoldfastError(
    'STORAGE_LIMIT_EXCEEDED',
    `--input is ${size} bytes of JSON; a flow's input may have ${limit}. Give it the name of ` +
      'a file instead, and read that in a task.',
    { size, limit },
  );
}

interface NewRun {
  readonly runId: string;
  readonly bound: BoundRun;
  readonly input: JsonValue;
  readonly loaded: LoadedFlow;
}

/** Stores the run; one of the same id, flow and input is gone on with. Throws `RUN_EXISTS`. */
async function storeOnce(store: Store, { runId, bound, input, loaded }: NewRun): Promise<void> {
  const { storage, directory } = store;
  const source = { flow: loaded.file, module: loaded.module?.file ?? null };
  if ((await storage.runIndex.get(runId)) === null) {
    writeRunSource(directory, runId, source);
    await startRun(storage, { runId, graph: bound.graph, input });
    return;
  }
  const { stored } = await storedFlow(storage, runId);
  const other =
    stored.graphDefinition.digest !== bound.graph.definition.digest
      ? 'another flow, or another version of it'
      : digestJson(stored.resolvedInputs) !== digestJson(input)
        ? 'another input'
        : null;
  if (other === null) return writeRunSource(directory, runId, source);
  throw new HoldfastError('RUN_EXISTS', `Run ${runId} is stored with ${other}.`, { runId });
}
