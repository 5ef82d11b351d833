/** Seed 000 through public doors: what is recorded, what runs again, what waits for a person. */
import { dataNode, NodeFailure, waitNode } from 'holdfast';
import { describe, expect, test } from 'vitest';
import { gate, worldOf } from './world.ts';

/** Starts a node and never settles it: what a killed process leaves behind. */
async function leaveInFlight(retrySafe: boolean) {
  const started = gate();
  let runs = 0;
  const nodes = {
    a: dataNode(
      () => {
        runs += 1;
        if (runs > 1) return { run: runs };
        started.open();
        return new Promise(() => {});
      },
      { retrySafe },
    ),
  };
  const world = await worldOf(nodes);
  const dead = await world.open();
  void dead.run().catch(() => {});
  await started.opened;
  return { world, runs: () => runs };
}

describe('after a process stopped', () => {
  test('a fresh executor names the positions that are in flight and decides nothing', async () => {
    const { world } = await leaveInFlight(false);
    const before = await world.types();
    expect(await (await world.open()).run()).toEqual({ kind: 'waiting', positions: ['dag/a/1'] });
    expect(await world.types()).toEqual(before);
  });

  test('a retry-safe attempt is resumed and run again', async () => {
    const { world, runs } = await leaveInFlight(true);
    const result = await (await world.open()).resume('dag/a/1');
    expect(result).toEqual({ kind: 'complete', output: { nodes: { a: { run: 2 } } } });
    expect(runs()).toBe(2);
    expect(await world.types()).toEqual([
      'run-started',
      'node-dispatched',
      'node-attempt-started',
      'node-resumed',
      'node-completed',
      'run-finished',
    ]);
  });

  test('an uncertain attempt pauses with reconcile-attempt, its code not called', async () => {
    const { world, runs } = await leaveInFlight(false);
    const result = await (await world.open()).resume('dag/a/1');
    expect(result).toMatchObject({
      kind: 'pause',
      pauses: [{ position: 'dag/a/1', request: { kind: 'reconcile-attempt' } }],
    });
    const start = (await world.events()).find(({ type }) => type.endsWith('attempt-started'));
    const request = result.kind === 'pause' ? result.pauses[0]?.request : undefined;
    expect(start?.payload).toMatchObject({ identity: { attemptId: request?.['attemptId'] } });
    expect(runs()).toBe(1);
  });

  test.each([
    [{ kind: 'completed', result: { by: 'hand' } }, { nodes: { a: { by: 'hand' } } }, 1],
    [{ kind: 'retry' }, { nodes: { a: { run: 2 } } }, 2],
  ] as const)('an uncertain attempt is reconciled as %j', async (said, output, expectedRuns) => {
    const { world, runs } = await leaveInFlight(false);
    const executor = await world.open();
    const paused = await executor.resume('dag/a/1');
    const pauseId = paused.kind === 'pause' ? (paused.pauses[0]?.pauseId ?? '') : '';
    await executor.reconcile(pauseId, { ...said, by: 'ada', reason: 'looked' });
    expect(await executor.run()).toEqual({ kind: 'complete', output });
    expect(runs()).toBe(expectedRuns);
    expect(await world.types()).toContain('attempt-reconciled');
  });

  test('an uncertain attempt reconciled as failed fails the node', async () => {
    const { world } = await leaveInFlight(false);
    const executor = await world.open();
    const paused = await executor.resume('dag/a/1');
    const pauseId = paused.kind === 'pause' ? (paused.pauses[0]?.pauseId ?? '') : '';
    await executor.reconcile(pauseId, { kind: 'failed', code: 'LOST', by: 'ada', reason: 'gone' });
    expect(await executor.run()).toMatchObject({ kind: 'fail', code: 'DAG_NODE_FAILED' });
  });

  test('resuming the paused position means retry, by resume', async () => {
    const { world, runs } = await leaveInFlight(false);
    const executor = await world.open();
    await executor.resume('dag/a/1');
    expect(await executor.resume('dag/a/1')).toMatchObject({ kind: 'complete' });
    expect(runs()).toBe(2);
    const audit = (await world.events()).find(({ type }) => type.endsWith('attempt-reconciled'));
    expect(audit?.payload).toMatchObject({ kind: 'retry', by: 'resume' });
  });

  test('two in flight are resumed one by one', async () => {
    const started = gate();
    let begun = 0;
    const node = () =>
      dataNode(
        () => {
          begun += 1;
          if (begun === 2) started.open();
          return begun > 2 ? 'again' : new Promise(() => {});
        },
        { retrySafe: true },
      );
    const world = await worldOf({ a: node(), b: node() });
    void (await world.open()).run().catch(() => {});
    await started.opened;
    const executor = await world.open();
    expect(await executor.run()).toEqual({ kind: 'waiting', positions: ['dag/a/1', 'dag/b/1'] });
    expect(await executor.resume('dag/a/1')).toEqual({ kind: 'waiting', positions: ['dag/b/1'] });
    expect(await executor.resume('dag/b/1')).toMatchObject({ kind: 'complete' });
  });
});

describe('while a run is driven', () => {
  test('B04: an independent node is not held back by a slow sibling', async () => {
    const slow = gate();
    const order: string[] = [];
    const mark = (name: string) => dataNode(() => void order.push(name));
    const nodes = {
      a: mark('a'),
      b: mark('b'),
      c: dataNode(() => slow.opened.then(() => void order.push('c'))),
      d: dataNode(() => {
        order.push('d');
        slow.open();
      }),
    };
    const world = await worldOf(nodes, { edges: ['a>b', 'a>c', 'b>d'] });
    expect(await (await world.open()).run()).toMatchObject({ kind: 'complete' });
    expect(order).toEqual(['a', 'b', 'd', 'c']);
  });

  test('a node that throws its own code is recorded with it', async () => {
    const world = await worldOf({
      a: dataNode(() => {
        throw new NodeFailure('CARD_DECLINED', 'The bank said no.', { retryable: false });
      }),
    });
    expect(await (await world.open()).run()).toMatchObject({ kind: 'fail' });
    const failed = (await world.events()).find(({ type }) => type.endsWith('node-failed'));
    expect(failed?.payload).toMatchObject({ code: 'CARD_DECLINED', retryable: false });
  });

  test('a denied action fails with DENIED and the function is not called', async () => {
    let called = false;
    const world = await worldOf({
      a: dataNode(
        () => {
          called = true;
        },
        { decideAction: () => ({ kind: 'deny', reason: 'not today' }) },
      ),
    });
    await (await world.open()).run();
    const failed = (await world.events()).find(({ type }) => type.endsWith('node-failed'));
    expect(failed?.payload).toMatchObject({ code: 'DENIED', message: 'not today' });
    expect(called).toBe(false);
  });

  test('an action that waits pauses, and an allowing answer runs it', async () => {
    const wait = { kind: 'wait', reason: 'ask', request: { what: 'deploy' } } as const;
    const world = await worldOf({ a: dataNode(() => 'done', { decideAction: () => wait }) });
    const executor = await world.open();
    const paused = await executor.run();
    expect(paused).toMatchObject({ kind: 'pause', pauses: [{ request: { kind: 'policy' } }] });
    const pauseId = paused.kind === 'pause' ? (paused.pauses[0]?.pauseId ?? '') : '';
    await executor.answer(pauseId, { decision: 'allow' }, { by: 'ada' });
    expect(await executor.run()).toEqual({ kind: 'complete', output: { nodes: { a: 'done' } } });
  });

  test('a halt rejects with ABORTED, and the run goes on later', async () => {
    const begun = gate();
    let runs = 0;
    const node = dataNode(
      (_input, { signal }) => {
        runs += 1;
        if (runs > 1) return 'second';
        begun.open();
        return new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(new Error('stopped')));
        });
      },
      { retrySafe: true },
    );
    const world = await worldOf({ a: node });
    const halt = new AbortController();
    const running = (await world.open()).run(halt.signal);
    await begun.opened;
    halt.abort();
    await expect(running).rejects.toMatchObject({ code: 'ABORTED' });
    const result = await (await world.open()).run();
    expect(result).toEqual({ kind: 'complete', output: { nodes: { a: 'second' } } });
  });

  test('shutdown lets what runs finish and starts nothing more', async () => {
    const begun = gate();
    const finish = gate();
    const nodes = {
      a: dataNode(async () => {
        begun.open();
        await finish.opened;
      }),
      b: dataNode(() => 'b'),
    };
    const world = await worldOf(nodes, { edges: ['a>b'] });
    const executor = await world.open();
    const running = executor.run();
    await begun.opened;
    const down = executor.shutdown();
    finish.open();
    await down;
    expect(await running).toEqual({ kind: 'waiting', positions: [] });
    expect((await world.types()).at(-1)).toBe('node-completed');
    expect(await (await world.open()).run()).toMatchObject({ kind: 'complete' });
  });
});

describe('answers, signals, cancel', () => {
  test('B22: an answer to an unknown or used pause is refused with both ids named', async () => {
    const world = await worldOf({ a: waitNode({ kind: 'approval', prompt: 'ok?' }) });
    const executor = await world.open();
    const paused = await executor.run();
    const pauseId = paused.kind === 'pause' ? (paused.pauses[0]?.pauseId ?? '') : '';
    const refused = executor.answer('r1@99', true, { by: 'ada' });
    await expect(refused).rejects.toMatchObject({ code: 'PAUSE_MISMATCH' });
    await expect(refused).rejects.toThrow(pauseId);
    await executor.answer(pauseId, { yes: true }, { by: 'ada' });
    await expect(executor.answer(pauseId, true, { by: 'ada' })).rejects.toMatchObject({
      code: 'PAUSE_MISMATCH',
    });
    expect(await executor.run()).toMatchObject({ output: { nodes: { a: { yes: true } } } });
  });

  test('an answer given while the run is driven goes on at once', async () => {
    const finish = gate();
    const nodes = {
      ask: waitNode({ kind: 'approval', prompt: 'ok?' }),
      slow: dataNode(() => finish.opened),
      after: dataNode(() => finish.open()),
    };
    const world = await worldOf(nodes, { edges: ['ask>after'] });
    const executor = await world.open();
    const running = executor.run();
    const pauses = await pausesOf(executor);
    await executor.answer(pauses[0]?.pauseId ?? '', 'yes', { by: 'ada' });
    expect(await running).toMatchObject({ kind: 'complete' });
  });

  test('B73 B74: a signal that comes before its wait is kept, and consumed once', async () => {
    const world = await worldOf(
      { a: waitNode({ kind: 'signal', name: 's' }), b: waitNode({ kind: 'signal', name: 's' }) },
      { edges: ['a>b'] },
    );
    const executor = await world.open();
    await executor.signal('s', 1, { signalId: 'one' });
    await executor.signal('s', 1, { signalId: 'one' });
    expect(await executor.run()).toMatchObject({ kind: 'pause', pauses: [{ nodeId: 'b' }] });
    await executor.signal('s', 2, { signalId: 'two' });
    expect(await executor.run()).toEqual({ kind: 'complete', output: { nodes: { a: 1, b: 2 } } });
  });

  test('B121: a cancel ends a run whose node ignores its signal', async () => {
    const begun = gate();
    const node = dataNode(
      () => {
        begun.open();
        return new Promise(() => {});
      },
      { graceMs: 10 },
    );
    const world = await worldOf({ a: node });
    const executor = await world.open();
    const running = executor.run();
    await begun.opened;
    await executor.cancel({ by: 'ada', reason: 'enough' });
    expect(await running).toMatchObject({ kind: 'fail', code: 'CANCELLED' });
    const failed = (await world.events()).find(({ type }) => type.endsWith('node-failed'));
    expect(failed?.payload).toMatchObject({ code: 'ABORTED', abandoned: true });
  });

  test('a cancel recorded while nothing drives the run is finished by the next run', async () => {
    const world = await worldOf({ a: waitNode({ kind: 'approval', prompt: 'ok?' }) });
    await (await world.open()).run();
    await (await world.open()).cancel({ by: 'ada', reason: 'enough' });
    expect(await (await world.open()).run()).toMatchObject({ kind: 'fail', code: 'CANCELLED' });
  });
});

async function pausesOf(
  executor: Awaited<ReturnType<Awaited<ReturnType<typeof worldOf>>['open']>>,
) {
  for (;;) {
    const pauses = await executor.pauses().catch(() => []);
    if (pauses.length > 0) return pauses;
    await new Promise((resolve) => setImmediate(resolve));
  }
}
