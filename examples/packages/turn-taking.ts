/**
 * Runs the turn-taking graph over three rounds: the critic's primary engine is dead, so its first
 * turn moves to the fallback, and the later ones go straight there.
 *
 *   npm run example:turn-taking
 *   npm run example:turn-taking -- --directory turns                       # keeps the record there
 *   npm run example:turn-taking -- --directory turns --reconcile retry     # after a killed writer
 *
 * Kill it at any point and give the same command again: it goes on. A killed critic is asked again,
 * since its binding permits a crash retry. A killed writer may or may not have written: the run
 * waits until `--reconcile` says so (`retry`, or `completed --result TEXT`); the exit code is 3.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import {
  compileGraph,
  createGraphExecutor,
  dataNode,
  defaultStoragePolicy,
  EngineError,
  engineNode,
  type GraphExecutor,
  isHoldfastError,
  type JsonObject,
  MockEngine,
  persistRunDefinition,
  type RunResult,
  type RunStorage,
  resolveGraphPlan,
} from 'holdfast';
import { createLocalRunStorage } from 'holdfast/storage/local';
import { definition, fallback, primary, type TurnInput, turnTaking } from './turn-taking-graph.ts';

const RUN_ID = 'turn-taking';
const NAMESPACE = 'examples';
const WAITS = 3;

/** Called where a test may want to look on. */
export type Onlooker = (what: 'writer' | 'primary' | 'fallback') => void;

const graph = compileGraph(turnTaking, definition);

/** Stores the run unless it is stored already. */
async function storeRun(storage: RunStorage): Promise<void> {
  const identity = {
    source: 'file:turn-taking.ts',
    version: '1.0.0',
    digest: graph.definition.digest,
  };
  const resolvedPlan = resolveGraphPlan(graph.describe(), {
    package: identity,
    admission: { package: identity, permissions: [] },
    executionLanes: [{ id: 'critic', effective: primary, fallbacks: [fallback] }],
  });
  try {
    const { definition: graphDefinition } = graph;
    const run = { runId: RUN_ID, graphDefinition, resolvedPlan, resolvedInputs: {} };
    await persistRunDefinition(storage, run);
  } catch (error) {
    if (!isHoldfastError(error, 'SEQUENCE_CONFLICT')) throw error;
  }
}

/** An executor of the stored run: the writer's function, the critic's prompt, two engines. */
export async function openTurns(
  storage: RunStorage,
  onlooker: Onlooker = () => {},
): Promise<GraphExecutor> {
  await storeRun(storage);
  const dead = MockEngine.forTarget(primary, () => {
    onlooker('primary');
    throw new EngineError({ kind: 'auth', message: 'The key of the first house was refused.' });
  });
  const mild = MockEngine.forTarget(fallback, ({ prompt }) => {
    onlooker('fallback');
    return `On "${prompt}": better each time.`;
  });
  return createGraphExecutor({
    runId: RUN_ID,
    graph,
    storage,
    nodes: {
      writer: dataNode(({ round, last }: TurnInput) => {
        onlooker('writer');
        return last === null ? `Draft ${round}` : `Draft ${round}, after ${last.length} characters`;
      }),
      critic: engineNode<TurnInput>({
        prompt: ({ positionSummary, last }) => `[${positionSummary}] Judge: ${last}`,
        retrySafe: true,
      }),
    },
    engines: [
      { target: primary, engine: dead },
      { target: fallback, engine: mild },
    ],
  });
}

/** Goes on until the run ends or has to wait, also with what a killed process left in flight. */
export async function takeTurns(executor: GraphExecutor): Promise<RunResult> {
  let result = await executor.run();
  while (result.kind === 'waiting' && result.positions.length > 0) {
    result = await executor.resume(result.positions);
  }
  return result;
}

/** What the record says, so that it is the same however often the run was killed. */
export async function reportOf(storage: RunStorage, result: RunResult): Promise<string> {
  const count = { dispatches: 0, [primary.model]: 0, [fallback.model]: 0 };
  const stream = { namespace: NAMESPACE, streamId: RUN_ID };
  for await (const { type, payload } of storage.eventStore.read(stream)) {
    if (type === 'graph:node-dispatched') count.dispatches += 1;
    if (type !== 'graph:engine-attempt-recorded') continue;
    // Nobody knows what an interrupted call came to: it names no engine.
    const requested = (payload as JsonObject)['requested'] as { model: string } | null;
    if (requested !== null) count[requested.model] = (count[requested.model] ?? 0) + 1;
  }
  return [
    `dispatches: ${count.dispatches}`,
    `primary calls: ${count[primary.model]}`,
    `fallback calls: ${count[fallback.model]}`,
    `result: ${JSON.stringify(result)}`,
  ].join('\n');
}

/** The storage of the example. */
export function openStorage(directory: string): RunStorage {
  return createLocalRunStorage({ directory, namespace: NAMESPACE, policy: defaultStoragePolicy });
}

/** Says what became of a writer that was killed. */
export async function reconcileWriter(
  executor: GraphExecutor,
  kind: string,
  result?: string,
): Promise<void> {
  const [pause] = await executor.pauses();
  if (pause === undefined) throw new Error('Nothing waits to be reconciled.');
  const audit = { by: 'example', reason: 'Said on the command line.' };
  if (kind === 'retry') await executor.reconcile(pause.pauseId, { kind, ...audit });
  else if (kind === 'completed' && result !== undefined) {
    await executor.reconcile(pause.pauseId, { kind, result, ...audit });
  } else throw new Error('Use --reconcile retry, or --reconcile completed --result TEXT.');
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      directory: { type: 'string' },
      reconcile: { type: 'string' },
      result: { type: 'string' },
    },
  });
  const temporary = values.directory === undefined;
  const directory = values.directory ?? (await mkdtemp(join(tmpdir(), 'holdfast-turns-')));
  const storage = openStorage(directory);
  try {
    const executor = await openTurns(storage);
    if (values.reconcile !== undefined) {
      await reconcileWriter(executor, values.reconcile, values.result);
    }
    const result = await takeTurns(executor);
    if (result.kind === 'pause') {
      console.log(`The run waits: ${result.reason}\nGo on with --reconcile retry.`);
      process.exitCode = WAITS;
    } else console.log(await reportOf(storage, result));
  } finally {
    await storage.close();
    if (temporary) await rm(directory, { recursive: true, force: true });
  }
}

const started = process.argv[1];
if (started !== undefined && import.meta.url === pathToFileURL(started).href) await main();
