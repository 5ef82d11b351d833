/**
 * Runs the report while its process is killed (SIGKILL) at random points, until it completes; then
 * says how often the code of each step ran, and checks that the act that must not happen twice
 * happened once.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { EventEnvelope } from 'holdfast';
import { compileGraph, flowDefinition, flowGraphType, verifyRun } from 'holdfast';
import { withStore } from '../drive/open-store.ts';
import { counted } from '../render/counted.ts';
import { readLedger } from '../report/ledger.ts';
import { reportFlow } from '../report/report-flow.ts';
import { type LifeEnd, liveOnce } from './one-life.ts';
import { seededChance } from './seeded-chance.ts';
import { accountSteps, type StepAccount } from './step-account.ts';

export interface CrashDemoOptions {
  readonly seed: number;
  readonly repository: string;
  /** The command's script. */
  readonly script: string;
  /** After so many kills it is left alone. */
  readonly maxKills: number;
  readonly print: (line: string) => void;
}

/** The kills come within this many lines of output, and this long behind one. */
const MAX_LINES = 12;
const MAX_DELAY_MS = 60;
/** `publish` takes about this long: the one step that is not retry-safe is aimed at once. */
const PUBLISH_MS = 240;

/** True when the report completed and was published exactly once. */
export async function crashDemo(options: CrashDemoOptions): Promise<boolean> {
  const directory = mkdtempSync(path.join(tmpdir(), 'holdfast-demo-'));
  try {
    const kills = await liveUntilComplete(directory, options);
    return kills === null ? false : await account(directory, { ...options, kills });
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** How often the process was killed, or null when it failed by itself. */
async function liveUntilComplete(
  directory: string,
  { seed, repository, script, maxKills, print }: CrashDemoOptions,
): Promise<number | null> {
  const chance = seededChance(seed);
  const calls = callsFile(directory);
  const report = ['report', '--yes', '--repo', repository];
  const args = [...report, '--directory', directory, '--trace-calls', calls];
  let aimed = false;
  for (let kills = 0; ; kills += 1) {
    const afterLines = 1 + Math.floor(chance() * MAX_LINES);
    const delayMs = Math.floor(chance() * MAX_DELAY_MS);
    const aimDelayMs = Math.floor(chance() * PUBLISH_MS);
    const spared = kills >= maxKills;
    const end = await liveOnce({
      script,
      args,
      kill: spared ? null : { afterLines, delayMs },
      aim: spared || aimed ? null : { nodeId: 'publish', delayMs: aimDelayMs },
    });
    print(lifeLine(kills + 1, end));
    if (!end.killed) {
      if (end.exitCode !== 0) print(end.complaint.trim());
      return end.exitCode === 0 ? kills : null;
    }
    // It may have been killed behind the end of the run: the next process would begin another.
    if (await isComplete(directory)) return kills + 1;
    aimed ||= end.lines.some((line) => /node +(?:started|resumed) +publish/.test(line));
  }
}

function isComplete(directory: string): Promise<boolean> {
  return withStore(directory, async ({ storage }) => {
    const { runs } = await storage.runIndex.list({ statuses: ['complete'] });
    return runs.length > 0;
  });
}

function lifeLine(number: number, { killed, exitCode, lines }: LifeEnd): string {
  const said = lines.filter((line) => /^\d\d:\d\d:\d\d\.\d{3} /.test(line));
  const last = said.at(-1)?.slice(14) ?? 'nothing was said yet';
  const how = killed ? 'SIGKILL' : `exit ${exitCode}`;
  return `process ${String(number).padStart(2)}  ${how}  after: ${last}`;
}

async function account(
  directory: string,
  options: CrashDemoOptions & { readonly kills: number },
): Promise<boolean> {
  const { print, kills, seed } = options;
  const calls = readFileSync(callsFile(directory), 'utf8').split('\n').filter(Boolean);
  const { events, runId, decisions } = await readRecord(directory);
  print('');
  for (const line of table(accountSteps(events, calls))) print(line);
  const published = readLedger(directory).filter((line) => line.runId === runId).length;
  print('');
  const times = published === 1 ? 'once' : `${published} times`;
  const verified = `${counted(decisions, 'decision')} verified`;
  print(`${counted(kills, 'kill')}, seed ${seed}; ${verified}; published ${times}.`);
  return published === 1;
}

async function readRecord(directory: string) {
  return withStore(directory, async ({ storage }) => {
    const { runs } = await storage.runIndex.list();
    const runId = runs[0]?.runId ?? '';
    const stream = { namespace: storage.record.namespace, streamId: runId };
    const events: EventEnvelope[] = [];
    for await (const event of storage.eventStore.read(stream)) events.push(event);
    const graph = compileGraph(flowGraphType, flowDefinition(reportFlow({ directory }).flow));
    const { decisions } = await verifyRun(storage, { runId, graph });
    return { events, runId, decisions };
  });
}

function table(steps: readonly StepAccount[]): readonly string[] {
  const rows = steps.map(({ nodeId, calls, why }) => [
    nodeId,
    calls === null ? '–' : String(calls),
    why,
  ]);
  const line = ([name = '', calls = '', why = '']: readonly string[]) =>
    `${name.padEnd(10)}  ${calls.padStart(8)}  ${why}`;
  return [line(['step', 'code ran', 'why']), ...rows.map(line)];
}

function callsFile(directory: string): string {
  return path.join(directory, 'calls.txt');
}
