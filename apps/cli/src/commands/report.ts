/** `holdfast report`: the main job, a release report of a git repository. */
import { appendFileSync, copyFileSync, mkdirSync, renameSync } from 'node:fs';
import path from 'node:path';
import { Option } from 'commander';
import { type DrivenRun, digestJson, type JsonValue, startRun } from 'holdfast';
import type { CommandResult, CommonOptions } from '../command-result.ts';
import { bindFlow } from '../drive/bind-run.ts';
import { driveSession, type PauseAnswerer } from '../drive/drive-session.ts';
import { type Store, withStore } from '../drive/open-store.ts';
import { personAnswerer } from '../drive/person-answerer.ts';
import { haltedAsResult, runReport } from '../drive/run-report.ts';
import { unreadable } from '../flow-file/read-json.ts';
import { runIdPart } from '../flow-file/run-id.ts';
import { writeRunSource } from '../flow-file/run-source.ts';
import { ledgerWords, yesAnswerer } from '../report/report-answerer.ts';
import { pageFile, reportFlow } from '../report/report-flow.ts';
import { findRepository, type Repository } from '../report/repository.ts';
import {
  type AddCommand,
  type CliPorts,
  directoryOf,
  mayAsk,
  presenterFor,
  speaker,
  withCommonOptions,
} from './command.ts';

interface ReportOptions extends CommonOptions {
  readonly repo: string;
  readonly yes?: boolean;
  readonly output?: string;
  readonly by?: string;
  readonly traceCalls?: string;
}

export const addReportCommand: AddCommand = (program, ports, finish) => {
  withCommonOptions(program.command('report'))
    .description('write a release report of a git repository; a killed one goes on')
    .option('--repo <folder>', 'the repository', '.')
    .option('--yes', 'approve without asking; reconcile by looking')
    .option('--output <file>', 'copy the page there')
    .option('--by <name>', 'who answers questions')
    .addOption(
      new Option('--trace-calls <file>', 'append a line whenever node code runs').hideHelp(),
    )
    .action(async (options: ReportOptions) => {
      finish(await reportRepository(ports, options), options);
    });
};

/** Goes on with the newest unfinished report of this repository, commit and flow, if any. */
async function reportRepository(ports: CliPorts, options: ReportOptions): Promise<CommandResult> {
  const { terminal } = ports;
  const of = await findRepository(path.resolve(terminal.cwd, options.repo));
  const directory = directoryOf(ports, options);
  const { flow, functions } = reportFlow({ directory, ...callTrace(options.traceCalls) });
  const bound = bindFlow(flow, functions);
  return withStore(directory, async (store) => {
    const prefix = prefixOf(of, bound.graph.definition.digest);
    const runId = (await unfinished(store, prefix)) ?? (await nextId(store, prefix));
    if ((await store.storage.runIndex.get(runId)) === null) {
      writeRunSource(directory, runId, { builtIn: 'report' });
      await startRun(store.storage, {
        runId,
        graph: bound.graph,
        input: of as unknown as JsonValue,
      });
    }
    const driven = await driveSession({
      store,
      runId,
      bound,
      terminal,
      presenter: presenterFor(ports, options, flow),
      answerer: answererOf(ports, options, directory),
    }).catch((error: unknown) => haltedAsResult(error, runId));
    return withPage(runReport(driven, terminal, directory), driven, { ports, options, directory });
  });
}

function callTrace(file: string | undefined) {
  if (file === undefined) return {};
  return { onCall: (nodeId: string) => appendFileSync(file, `${nodeId}\n`) };
}

/** One name for a repository, a commit and a flow; runs of it are numbered. */
function prefixOf({ repository, name, head }: Repository, flowDigest: string): string {
  const key = digestJson([repository, head, flowDigest]).slice('sha256:'.length).slice(0, 10);
  return `report-${runIdPart(name)}-${key}-`;
}

async function unfinished({ storage }: Store, runIdPrefix: string): Promise<string | null> {
  const statuses = ['running', 'paused'] as const;
  const { runs } = await storage.runIndex.list({ runIdPrefix, statuses }, { limit: 1 });
  return runs[0]?.runId ?? null;
}

async function nextId({ storage }: Store, runIdPrefix: string): Promise<string> {
  const { runs } = await storage.runIndex.list({ runIdPrefix }, { limit: 1_000 });
  const numbers = runs.map(({ runId }) => Number.parseInt(runId.slice(runIdPrefix.length), 10));
  return `${runIdPrefix}${Math.max(0, ...numbers) + 1}`;
}

function answererOf(
  ports: CliPorts,
  options: ReportOptions,
  directory: string,
): PauseAnswerer | null {
  if (options.yes === true) return yesAnswerer(directory);
  if (!mayAsk(ports, options)) return null;
  const person = personAnswerer(ports, speaker(ports, options.by));
  return {
    asksPerson: true,
    async answer(pause, executor, signal) {
      if (pause.request.kind === 'reconcile-attempt') {
        ports.terminal.out(`For your decision: ${ledgerWords(directory, pause)}.\n`);
      }
      return person.answer(pause, executor, signal);
    },
  };
}

interface PageRequest {
  readonly ports: CliPorts;
  readonly options: ReportOptions;
  readonly directory: string;
}

/** Adds the place of the written page to what is said of a complete run. */
function withPage(
  said: CommandResult,
  { runId, result }: DrivenRun,
  { ports, options, directory }: PageRequest,
): CommandResult {
  if (result.kind !== 'complete' || !isPublished(result.output)) return said;
  const written = pageFile(directory, runId);
  const { output } = options;
  const page =
    output === undefined ? written : copyPage(written, path.resolve(ports.terminal.cwd, output));
  const near = path.relative(ports.terminal.cwd, page);
  return {
    ...said,
    document: { ...(said.document as object), report: page },
    text: `${said.text}report  ${near.startsWith('..') ? page : near}\n`,
  };
}

function isPublished(output: JsonValue): boolean {
  const { nodes } = output as { readonly nodes?: { readonly publish?: JsonValue } };
  return nodes?.publish !== undefined;
}

function copyPage(from: string, to: string): string {
  try {
    mkdirSync(path.dirname(to), { recursive: true });
    copyFileSync(from, `${to}.tmp`);
    renameSync(`${to}.tmp`, to);
    return to;
  } catch (error) {
    throw unreadable(to, '--output', error);
  }
}
