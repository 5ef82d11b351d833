/**
 * A process that drives one checked run of a local store and may kill itself (SIGKILL) on the way;
 * run by `kills.test.ts`. What it has to say is one line of JSON.
 *
 * `DIRECTORY ACT KILL ID`: ACT is `start` (store the run, then run it), `run` or `resume` (the
 * pause ID); KILL is the call in which it dies, `static`, `live` or `ordinary`, or `none`. Each
 * call of its engine is a line of the file `calls`.
 */
import { appendFileSync, realpathSync, writeSync } from 'node:fs';
import path from 'node:path';
import {
  compileGraph,
  createGraphExecutor,
  type DagDefinition,
  dagGraphType,
  engineNode,
  engineSelection,
  MockEngine,
  persistRunDefinition,
  resolveGraphPlan,
} from '../../src/index.ts';
import { createLocalRunStorage } from '../../src/storage/local.ts';

const [, , given = '', act, kill, preflightEventId = ''] = process.argv;
const directory = realpathSync(given);
const storage = createLocalRunStorage({ directory, namespace: 'test' });

function called(what: string): void {
  appendFileSync(path.join(directory, 'calls'), `${what}\n`);
  if (kill === what) process.kill(process.pid, 'SIGKILL');
}

const target = {
  adapter: 'cli',
  provider: 'p',
  modelFamily: 'm',
  model: 'a',
  tools: [],
} as const;

const engine = MockEngine.forTarget(
  target,
  ({ purpose }) => {
    called(purpose === 'preflight' ? 'live' : 'ordinary');
    return 'ready';
  },
  {
    admit: () => {
      called('static');
      return engineSelection({ ...target, capabilities: target.tools });
    },
  },
);

const lane = { id: 'one', requested: target, knownSubstitutions: [] };
const definition: DagDefinition = {
  id: 'checked',
  definitionVersion: 1,
  data: { globalConcurrency: 1, keyedConcurrency: {}, stopOnError: true, retryCapPerNode: 0 },
  nodes: [{ id: 'one', data: { kind: 'required', key: null, lane } }],
  edges: [],
};
const graph = compileGraph(dagGraphType, definition);
const identity = { source: 'test', version: '1', digest: graph.definition.digest };

if (act === 'start') {
  await persistRunDefinition(storage, {
    runId: 'r1',
    graphDefinition: graph.definition,
    resolvedPlan: resolveGraphPlan(graph.describe(), {
      package: identity,
      admission: { package: identity, permissions: [] },
      executionLanes: [{ id: 'one', effective: target }],
      preflight: {
        timeoutMs: 10_000,
        lanes: [{ laneId: 'one', live: 'required', unsupportedStatic: 'block' }],
      },
    }),
    resolvedInputs: null,
  });
}
const executor = await createGraphExecutor({
  runId: 'r1',
  graph,
  storage,
  nodes: { one: engineNode({ prompt: () => 'Do it.', retrySafe: true }) },
  engines: [{ target, engine }],
  preflightScratchDirectory: directory,
});
let said: unknown;
try {
  said = await (act === 'resume' ? executor.resume({ preflightEventId }) : executor.run());
} catch (error) {
  said = { code: error instanceof Error && 'code' in error ? error.code : String(error) };
}
await storage.close();
writeSync(1, JSON.stringify(said));
