/** W6: a run of 10,000 recorded steps is taken up again, with and without its snapshot. */
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { createGraphExecutor, type RunStorage, verifyRun } from 'holdfast';
import { loadSqliteDriver } from 'holdfast/testing';
import { type BenchGraph, loop } from './graphs.ts';
import { median } from './numbers.ts';
import { fileBytes, newDirectory, openLocal, STORE_FILE, store } from './runs.ts';
import type { Measurement } from './workload.ts';

const STEPS = 10_000;
const REPEATS = 15;
const RUN_ID = 'run';

/** Runs until `steps` are recorded, then halts: the last result counts, nothing more is decided. */
async function runUntil(storage: RunStorage, graph: BenchGraph, iterations: number) {
  const halt = new AbortController();
  let called = 0;
  const nodes = graph.nodes(() => {
    called += 1;
    if (called === iterations) halt.abort();
  });
  const executor = await createGraphExecutor({ runId: RUN_ID, graph: graph.graph, storage, nodes });
  await executor.run(halt.signal).catch(() => undefined);
}

/** From opening the store to the code of the first new step. */
async function recover(directory: string, graph: BenchGraph): Promise<number> {
  const begun = performance.now();
  let ms = Number.NaN;
  const storage = openLocal(directory);
  const halt = new AbortController();
  const nodes = graph.nodes(() => {
    ms = performance.now() - begun;
    halt.abort();
  });
  const executor = await createGraphExecutor({ runId: RUN_ID, graph: graph.graph, storage, nodes });
  await executor.run(halt.signal).catch(() => undefined);
  await storage.close();
  if (Number.isNaN(ms)) throw new Error('no new step was started');
  return ms;
}

/** Every event folded again and every decision made again, from an open store. */
async function replay(directory: string, { graph }: BenchGraph): Promise<number> {
  const storage = openLocal(directory);
  const snapshotStore = { newest: async () => null, save: async () => {} };
  await storage.eventStore.sync();
  const begun = performance.now();
  await verifyRun({ ...storage, snapshotStore }, { runId: RUN_ID, graph });
  const ms = performance.now() - begun;
  await storage.close();
  return ms;
}

/** The floor of a replay: the same rows read and parsed. */
function readAndParse(directory: string): number {
  const connection = loadSqliteDriver().open(join(directory, STORE_FILE));
  const statement = connection.prepare('select seq, n, body from log order by run, seq');
  const begun = performance.now();
  let entries = 0;
  for (const row of statement.all()) {
    entries += (JSON.parse(String(row['body'])) as unknown[]).length;
  }
  const ms = performance.now() - begun;
  connection.close();
  if (entries === 0) throw new Error('there are no rows');
  return ms;
}

/** Records 10,000 steps; gives the size of the write-ahead log. */
async function record(directory: string, graph: BenchGraph): Promise<number> {
  const storage = openLocal(directory);
  await store(storage, graph, RUN_ID);
  await runUntil(storage, graph, STEPS / 2);
  const walMb = fileBytes(directory).wal / 1024 / 1024;
  await storage.close();
  return walMb;
}

/** Recording, taking up again and replaying, once. */
export async function runRecovery(parent: string): Promise<unknown> {
  const graph = loop(STEPS * 2);
  const directory = newDirectory(parent);
  await record(directory, graph);
  await replay(directory, graph);
  return recover(directory, graph);
}

/** Taking up a long run again. */
export async function measureRecovery(parent: string): Promise<Measurement> {
  const graph = loop(STEPS * 2);
  const original = newDirectory(parent);
  const walMb = await record(original, graph);
  const bytes = fileBytes(original).database;
  const recoveries: number[] = [];
  const ratios: number[] = [];
  const replays: number[] = [];
  for (let count = 0; count < REPEATS; count += 1) {
    const directory = newDirectory(parent);
    cpSync(join(original, STORE_FILE), join(directory, STORE_FILE));
    const floor = readAndParse(original);
    const full = await replay(original, graph);
    replays.push(full);
    ratios.push(full / ((floor + readAndParse(original)) / 2));
    recoveries.push(await recover(directory, graph));
  }
  return {
    steps: STEPS,
    bytesPerStep: bytes / STEPS,
    more: {
      firstStepMs: median(recoveries.slice(REPEATS / 3)),
      coldFirstStepMs: recoveries[0] ?? Number.NaN,
      replayMs: median(replays.slice(REPEATS / 3)),
      replayOverReadAndParse: median(ratios.slice(REPEATS / 3)),
      walMb,
    },
  };
}
