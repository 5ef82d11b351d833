/**
 * The main job as a flow: survey, a fan-out of five, a join, a condition, a loop around a flaky
 * check, an approval, a written page, and one act that is not safe to repeat.
 *
 * Invariants: every fact is read from one commit, so an attempt that runs again finds the same;
 * only `publish` is not retry-safe.
 */
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  approval,
  condition,
  type DefinedFlow,
  defineFlow,
  type FlowFunctions,
  loop,
  type NodeContext,
  task,
} from 'holdfast';
import { counted } from '../render/counted.ts';
import { brokenLinks } from './broken-links.ts';
import type { Areas, Commits, Facts, Links, Markers, Sizes, Survey } from './facts.ts';
import { fileSizes } from './file-tree.ts';
import { type Advice, collectFindings, type Findings, rankFindings } from './findings.ts';
import { changedAreas, commitsSince, survey } from './history.ts';
import { appendLine } from './ledger.ts';
import { reportPage } from './report-page.ts';
import type { Repository } from './repository.ts';
import { workMarkers } from './work-markers.ts';

const REPORT_FLOW_ID = 'release-report';

/** Where the functions of a report write, and who is told that they were called. */
export interface ReportSetting {
  /** The folder of the store; pages and the ledger stand in `reports` below it. */
  readonly directory: string;
  readonly onCall?: (nodeId: string) => void;
}

interface Given {
  readonly input: Repository;
  readonly nodes: { readonly survey: Survey };
}

interface Gathered {
  readonly input: Repository;
  readonly nodes: Facts;
}

interface Written {
  readonly findings: Findings;
  readonly advice: Advice | null;
  readonly check: ReleaseCheck;
}

/** The outcome of one attempt of the release check. */
export type ReleaseCheck = {
  readonly passed: boolean;
  readonly attempt: number;
  readonly summary: string;
};

/** The check is simulated: it fails twice, then passes, whoever asks and whenever. */
const PASSES_AT = 3;
const CHECK_MS = 150;
/** How long the simulated upload takes, before and behind the line in the ledger. */
const UPLOAD_MS = 120;

const safe = { retrySafe: true } as const;

/** The flow with its functions; its JSON does not depend on the setting. */
export function reportFlow(setting: ReportSetting): DefinedFlow {
  return defineFlow({
    id: REPORT_FLOW_ID,
    nodes: { ...gatheringNodes(setting), ...checkingNodes(setting), ...publishingNodes(setting) },
    edges: [
      ['survey', 'commits'],
      ['survey', 'areas'],
      ['survey', 'markers'],
      ['survey', 'links'],
      ['survey', 'sizes'],
      ['survey', 'collect'],
      ['commits', 'collect'],
      ['areas', 'collect'],
      ['markers', 'collect'],
      ['links', 'collect'],
      ['sizes', 'collect'],
      ['collect', 'attention'],
      ['attention.true', 'advise'],
      ['attention.false', 'recheck'],
      ['advise', 'recheck'],
      ['recheck.body', 'check'],
      ['check', 'recheck.next'],
      ['recheck.done', 'approve'],
      ['approve.approved', 'write'],
      ['write', 'publish'],
      ['approve.rejected', 'decline'],
    ],
  });
}

/** Tells of every call of a function. */
function told<Input, Output>(
  { onCall }: ReportSetting,
  nodeId: string,
  run: (input: Input, context: NodeContext) => Output,
): (input: Input, context: NodeContext) => Output {
  return (input, context) => {
    onCall?.(nodeId);
    return run(input, context);
  };
}

/** The survey, five gatherers side by side, and their join. */
function gatheringNodes(setting: ReportSetting) {
  const gather = <Output extends Survey | Commits | Areas | Markers | Links | Sizes>(
    nodeId: string,
    run: (of: Repository, survey: Survey, signal: AbortSignal) => Promise<Output>,
  ) =>
    task(
      told(setting, nodeId, ({ input, nodes }: Given, { signal }) => {
        return run(input, nodes.survey, signal);
      }),
      safe,
    );
  return {
    survey: gather('survey', (of, _survey, signal) => survey(of, signal)),
    commits: gather('commits', commitsSince),
    areas: gather('areas', changedAreas),
    markers: gather('markers', (of, _survey, signal) => workMarkers(of, signal)),
    links: gather('links', (of, _survey, signal) => brokenLinks(of, signal)),
    sizes: gather('sizes', (of, _survey, signal) => fileSizes(of, signal)),
    collect: task(
      told(setting, 'collect', ({ nodes }: Gathered) => collectFindings(nodes)),
      safe,
    ),
  } as const;
}

/** The condition, the advice, and the loop around the flaky check. */
function checkingNodes(setting: ReportSetting) {
  const rank = ({ findings }: { readonly findings: Findings['findings'] }) =>
    rankFindings(findings);
  return {
    attention: condition('nodes["collect"].output.attention > 0'),
    advise: task(told(setting, 'advise', rank), {
      ...safe,
      input: { findings: '{{ nodes["collect"].output.findings }}' },
    }),
    recheck: loop({
      maxIterations: 5,
      while: 'loop.iteration == 1 || !nodes["check"].output.passed',
    }),
    check: task(told(setting, 'check', releaseCheck), {
      ...safe,
      input: { attempt: '{{ loop.iteration }}' },
    }),
  } as const;
}

/** The person, and what follows from the answer. */
function publishingNodes(setting: ReportSetting) {
  const write = (written: Written, context: NodeContext) => writePage(setting, written, context);
  const send = ({ page }: { readonly page: string }, context: NodeContext) =>
    publish(setting, page, context);
  return {
    approve: approval({
      prompt:
        'Publish the release report of {{ input.name }} at {{ input.shortHead }}?\n' +
        '{{ nodes["collect"].output.summary }}',
    }),
    write: task(told(setting, 'write', write), {
      ...safe,
      input: {
        findings: '{{ nodes["collect"].output }}',
        advice: '{{ nodes["advise"].output }}',
        check: '{{ nodes["check"].output }}',
      },
    }),
    publish: task(told(setting, 'publish', send), {
      input: { page: '{{ nodes["write"].output.page }}' },
    }),
    decline: task(
      told(setting, 'decline', () => ({ summary: 'rejected: nothing was written' })),
      safe,
    ),
  } as const;
}

/** The functions of a stored report. */
export function reportFunctions(setting: ReportSetting): FlowFunctions {
  return reportFlow(setting).functions;
}

async function releaseCheck(
  { attempt }: { readonly attempt: number },
  { signal, log }: NodeContext,
): Promise<ReleaseCheck> {
  log(`attempt ${attempt} of the simulated release check`);
  await sleep(CHECK_MS, undefined, { signal });
  const passed = attempt >= PASSES_AT;
  return { passed, attempt, summary: passed ? `passed at attempt ${attempt}` : 'not yet' };
}

/** Writes the page beside its place, then moves it there: a reader never sees half of it. */
function writePage(
  { directory }: ReportSetting,
  { findings, advice, check }: Written,
  { runId, runInput }: NodeContext,
): { readonly page: string; readonly summary: string } {
  const of = runInput as unknown as Repository;
  const page = pageFile(directory, runId);
  mkdirSync(path.dirname(page), { recursive: true });
  const text = reportPage({ of, facts: findings.facts, advice, checks: check.attempt });
  writeFileSync(`${page}.tmp`, text);
  renameSync(`${page}.tmp`, page);
  return { page: path.basename(page), summary: counted(text.split('\n').length, 'line') };
}

/** Where the page of a run stands. */
export function pageFile(directory: string, runId: string): string {
  return path.join(directory, 'reports', `${runId}.md`);
}

/** Not retry-safe: a line too many would be a report published twice. */
async function publish(
  { directory }: ReportSetting,
  report: string,
  context: NodeContext,
): Promise<PublishOutput> {
  const { runId, position, idempotencyKey: key } = context;
  const { head: commit } = context.runInput as unknown as Repository;
  await sleep(UPLOAD_MS, undefined, { signal: context.signal });
  appendLine(directory, { runId, position, key, commit, report });
  await sleep(UPLOAD_MS);
  return publishOutput(key);
}

type PublishOutput = { readonly key: string; readonly summary: string };

/** What `publish` gives once its line stands in the ledger. */
export function publishOutput(key: string): PublishOutput {
  return { key, summary: 'one line in the ledger' };
}
