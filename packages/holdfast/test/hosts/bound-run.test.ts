/** What drives a run takes all that an executor of the run needs. */
import { type BoundRun, driveRun, type EngineLine, engineNode, MockEngine, runDue } from 'holdfast';
import { expect, test } from 'vitest';
import { laneGraph, laneWorld, RUN, target } from '../engines/world.ts';

const shape = { targets: [target('one')], responders: [() => 'yes'] };

/** A stored run with a lane, and the code of it. */
async function boundWorld() {
  const { storage } = await laneWorld(shape);
  const heard: EngineLine[] = [];
  const bound: BoundRun = {
    graph: laneGraph(shape),
    nodes: { a: engineNode({ prompt: () => 'Well?' }) },
    engines: [{ target: target('one'), engine: MockEngine.forTarget(target('one'), () => 'yes') }],
    maxDispatches: 5,
    onEngineEvent: (line) => heard.push(line),
  };
  return { storage, bound, heard };
}

test('driveRun drives a run with engines', async () => {
  const { storage, bound, heard } = await boundWorld();
  const { result } = await driveRun(storage, bound, { runId: RUN });
  expect(result).toEqual({ kind: 'complete', output: { nodes: { a: 'yes' } } });
  expect(heard.length).toBeGreaterThan(0);
});

test('runDue drives a run with engines', async () => {
  const { storage, bound } = await boundWorld();
  const stop = new AbortController();
  const results: unknown[] = [];
  await runDue(storage, () => bound, {
    signal: stop.signal,
    onResult: (_runId, result) => {
      results.push(result);
      stop.abort();
    },
    onError: (_runId, error) => {
      results.push(error);
      stop.abort();
    },
  });
  expect(results).toEqual([{ kind: 'complete', output: { nodes: { a: 'yes' } } }]);
});
