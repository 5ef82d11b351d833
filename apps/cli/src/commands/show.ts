/** `holdfast show RUN`: one run as a tree, its open pauses, the commands that answer them. */
import type { FlowFile, PauseView } from 'holdfast';
import { type RunView, viewRun } from 'holdfast/views';
import type { CommandResult, CommonOptions } from '../command-result.ts';
import { Advice } from '../drive/advice.ts';
import { type Store, withExistingStore } from '../drive/open-store.ts';
import { pauseLines } from '../drive/run-report.ts';
import { exitCodes } from '../exit-code.ts';
import { requireRunId } from '../flow-file/run-id.ts';
import { storedFlowIfAny } from '../flow-file/stored-flow.ts';
import { durationText } from '../render/duration.ts';
import { fitWidth, printable } from '../render/printable.ts';
import { RunProgress } from '../render/run-progress.ts';
import { treeLines } from '../render/tree.ts';
import type { Terminal } from '../terminal.ts';
import { type AddCommand, type CliPorts, directoryOf, withCommonOptions } from './command.ts';

const OUTPUT_COLUMNS = 2_000;

export const addShowCommand: AddCommand = (program, ports, finish) => {
  withCommonOptions(program.command('show'))
    .description('show a run: its nodes, what it waits for, its result')
    .argument('<run>', 'the run id')
    .action(async (runId: string, options: CommonOptions) => {
      finish(await showRun(ports, runId, options), options);
    });
};

async function showRun(
  ports: CliPorts,
  runId: string,
  options: CommonOptions,
): Promise<CommandResult> {
  requireRunId(runId);
  const directory = directoryOf(ports, options);
  return withExistingStore(directory, async (store) => {
    // It throws for a run that is not there; a run of another form is shown without a layout.
    const flow = await storedFlowIfAny(store.storage, runId);
    const view = await readView(store, runId);
    const pauses = pausesOf(view);
    const advice = new Advice(ports.terminal, directory);
    const open = pauses.map((pause) => ({ ...pause, answerWith: advice.answer(pause, runId) }));
    return {
      exitCode: exitCodes.complete,
      document: { ...view, pauses: open },
      text: textOf(view, { flow, pauses, advice, terminal: ports.terminal }),
    };
  });
}

function readView({ storage }: Store, runId: string): Promise<RunView> {
  const stream = { namespace: storage.record.namespace, streamId: runId };
  return viewRun(runId, storage.eventStore.read(stream));
}

/** The open pauses; those of a child run in place of its parent's. */
function pausesOf(view: RunView): readonly PauseView[] {
  return view.occurrences.flatMap(({ pause, nodeId, position, status }) => {
    if (pause === null || status !== 'paused') return [];
    const { pauseId, reason, request } = pause;
    const inner = request['pauses'];
    if (request.kind === 'child' && Array.isArray(inner) && inner.length > 0) {
      return inner as unknown as readonly PauseView[];
    }
    return [{ pauseId, runId: view.runId, nodeId, position, reason, request }];
  });
}

interface ShowParts {
  readonly flow: FlowFile | null;
  readonly pauses: readonly PauseView[];
  readonly advice: Advice;
  readonly terminal: Terminal;
}

function textOf(view: RunView, { flow, pauses, advice, terminal }: ShowParts): string {
  const { colours } = terminal;
  const isOver = view.endedAt !== null;
  const until = isOver ? Date.parse(view.endedAt ?? '') : terminal.now();
  const passed = view.startedAt === null ? '' : durationText(until - Date.parse(view.startedAt));
  const head = `${printable(view.graphId ?? '')}  ${view.runId}  ${view.status}  ${passed}`;
  const tree = treeLines(RunProgress.of(flow, view), {
    colours,
    columns: terminal.size().columns - 1,
    now: terminal.now(),
    isOver,
  });
  const lines = [colours.bold(head), ...tree, ...endLines(view)];
  if (pauses.length > 0) lines.push('', 'Open:', ...pauseLines(pauses, view.runId, advice));
  if (!isOver) lines.push(`Go on:  ${advice.resume(view.runId)}`);
  return `${lines.join('\n')}\n`;
}

function endLines({ status, output, code, message }: RunView): readonly string[] {
  if (status === 'complete') {
    return ['', `output  ${fitWidth(printable(JSON.stringify(output)), OUTPUT_COLUMNS)}`];
  }
  return code === null ? [] : ['', printable(`${code}: ${message ?? ''}`)];
}
