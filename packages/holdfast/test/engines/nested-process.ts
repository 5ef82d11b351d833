/**
 * A process that drives a run whose node is a run of its own (local store), and may kill itself
 * (SIGKILL) on the way; run by `nested.test.ts`. What it has to say is one line of JSON.
 *
 * `DIRECTORY ACT KILL`: ACT is `start` (store the run, then run it), `host` (run, and resume what a
 * dead process left) or `retry` (allow what is uncertain, then host); KILL names the node of the
 * child that dies in the middle of its work, or `none`. Each start of a node's code is a line of
 * the file `calls`. Both runs have a node that asks an engine under one token budget.
 */
import { appendFileSync, realpathSync, writeSync } from 'node:fs';
import path from 'node:path';
import {
  createGraphExecutor,
  createTokenBudget,
  dataNode,
  type ExecutionLaneDescription,
  engineNode,
  graphNode,
  MockEngine,
  startRun,
} from '../../src/index.ts';
import { createLocalRunStorage } from '../../src/storage/local.ts';
import { inOrder, scripted } from '../seeds/world.ts';
import { target } from './world.ts';

const [, , given = '', act, kill] = process.argv;
const directory = realpathSync(given);
const storage = createLocalRunStorage({ directory, namespace: 'test' });
const big = target('big');
const lane: ExecutionLaneDescription = { id: 'lane', requested: big, knownSubstitutions: [] };
const tokenBudget = createTokenBudget(1_000);

function called(what: string): string {
  appendFileSync(path.join(directory, 'calls'), `${what}\n`);
  if (kill === what) process.kill(process.pid, 'SIGKILL');
  return what;
}

const engine = MockEngine.forTarget(big, ({ prompt }) => called(prompt));
const ask = (prompt: string) =>
  engineNode({ prompt: () => prompt, tokenBudget, retrySafe: prompt === 'inner' });
const inner = scripted({
  nodes: { first: null, ask: lane, last: null },
  decide: inOrder(['first', '1'], ['ask', '2'], ['last', '3']),
});
const outer = scripted({
  nodes: { sub: null, ask: lane },
  decide: inOrder(['sub', 'sub/1'], ['ask', 'ask/1']),
});
const nodes = {
  sub: graphNode({
    graph: inner,
    nodes: {
      first: dataNode(() => called('first')),
      ask: ask('inner'),
      last: dataNode(() => called('last')),
    },
  }),
  ask: ask('outer'),
};

if (act === 'start') await startRun(storage, { runId: 'r1', graph: outer, input: null });
const executor = await createGraphExecutor({
  runId: 'r1',
  graph: outer,
  storage,
  nodes,
  engines: [{ target: big, engine }],
});
if (act === 'retry') {
  for (const { pauseId } of await executor.pauses()) {
    await executor.reconcile(pauseId, { kind: 'retry', by: 'ada', reason: 'looked' });
  }
}
let result = await executor.run();
while (act !== 'start' && result.kind === 'waiting' && result.positions.length > 0) {
  result = await executor.resume(result.positions);
}
await storage.close();
writeSync(1, JSON.stringify({ result, budget: tokenBudget.snapshot() }));
