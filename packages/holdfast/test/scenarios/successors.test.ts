/** Runs that continue as new: each successor exists once, whoever goes on. */
import { driveRun, type JsonValue, runDue } from 'holdfast';
import { describe, expect, test } from 'vitest';
import { gate } from '../executor/world.ts';
import { flowOf } from '../nodes/flow-world.ts';
import { flowScene, handClock, nextTurn } from './world.ts';

describe('a run that continues as new', () => {
  const count = flowOf(
    [
      ['n', 'task', { function: 'n' }],
      ['more', 'control.condition', { expression: 'nodes["n"].output < 3' }],
      ['next', 'continue-as-new', { input: '{{ nodes["n"].output }}' }],
      ['done', 'end', {}],
    ],
    ['start>n', 'n>more', 'more.true>next', 'more.false>done'],
  );
  const functions = {
    n: (_given: unknown, { runInput }: { readonly runInput: JsonValue }) =>
      (typeof runInput === 'number' ? runInput : 0) + 1,
  };

  test('has each successor once, however many hosts go on with it', async () => {
    for (let round = 0; round < 10; round += 1) {
      const scene = await flowScene(count, functions);
      const bound = { graph: scene.graph, nodes: scene.nodes };
      const drive = async (): Promise<string> => {
        for (;;) {
          try {
            return (await driveRun(scene.storage, bound, { runId: 'r1' })).runId;
          } catch (error) {
            if ((error as { code?: string }).code !== 'RUN_OWNED') throw error;
            await nextTurn();
          }
        }
      };
      const ended = await Promise.all([drive(), drive(), drive()]);
      expect(ended).toEqual(['r1.c3', 'r1.c3', 'r1.c3']);
      const { runs } = await scene.storage.runIndex.list();
      expect(runs.map(({ runId }) => runId).sort()).toEqual(['r1', 'r1.c2', 'r1.c3']);
    }
  });

  test('is gone on with by a host that stays, after its process died', async () => {
    const clock = handClock();
    const scene = await flowScene(count, functions, { clock });
    await scene.run();
    const halt = new AbortController();
    const ended = gate<string>();
    const host = runDue(scene.storage, () => ({ graph: scene.graph, nodes: scene.nodes }), {
      clock,
      signal: halt.signal,
      onResult: (runId) => ended.open(runId),
    });
    expect(await ended.opened).toBe('r1.c3');
    halt.abort();
    await host;
  });
});
