/** Section B: pause, resume, approval. */
import { dataNode, type GraphExecutor, waitNode } from 'holdfast';
import { describe, expect, test } from 'vitest';
import { dagOf, gate } from '../executor/world.ts';
import { flowOf } from '../nodes/flow-world.ts';
import { typesOf } from '../support/stored-events.ts';
import { flowScene, handClock, nextTurn, pauseIdOf, pausesOf, sceneOf } from './world.ts';

const ask = (prompt: string) => waitNode({ kind: 'approval', prompt });

/** Statuses only ever move this way. */
const RANK = { queued: 0, running: 1, paused: 2, completed: 3, failed: 3, abandoned: 3 };

test('B17: answers while others run only ever move a status forward', async () => {
  const finish = gate();
  let joined = 0;
  const nodes = {
    one: ask('1'),
    two: ask('2'),
    three: ask('3'),
    slow: dataNode(() => finish.opened),
    join: dataNode(() => void joined++),
  };
  const edges = ['one>join', 'two>join', 'three>join', 'slow>join'];
  const clock = handClock();
  const scene = await sceneOf(dagOf(Object.keys(nodes), { edges }), nodes, { clock });
  const executor = await scene.open();
  const running = executor.run();
  const ranks = new Map<string, number>();
  const look = async () => {
    for (const { position, status } of (await executor.view()).occurrences) {
      expect(RANK[status]).toBeGreaterThanOrEqual(ranks.get(position) ?? 0);
      ranks.set(position, RANK[status]);
    }
  };
  for (const { pauseId } of await pausesOf(executor, 3)) {
    await look();
    await executor.answer(pauseId, 'yes', { by: 'ada' });
    await clock.rest();
    await look();
    expect(joined).toBe(0);
  }
  finish.open();
  expect(await running).toMatchObject({ kind: 'complete' });
  await look();
  expect(joined).toBe(1);
});

test('B19: a result that was in flight when a sibling ended is kept', async () => {
  const finishA = gate();
  const finishB = gate();
  const nodes = {
    a: dataNode(() => finishA.opened.then(() => 'a')),
    b: ask('b?'),
    work: dataNode(() => finishB.opened.then(() => 'work')),
  };
  const clock = handClock();
  const scene = await sceneOf(dagOf(Object.keys(nodes), { edges: ['b>work'] }), nodes, { clock });
  const executor = await scene.open();
  const running = executor.run();
  const [pause] = await pausesOf(executor);
  await executor.answer(pause?.pauseId ?? '', 'yes', { by: 'ada' });
  while (!(await scene.positions()).includes('dag/work/1')) await nextTurn();
  finishA.open();
  await clock.rest();
  finishB.open();
  expect(await running).toEqual({
    kind: 'complete',
    output: { nodes: { a: 'a', b: 'yes', work: 'work' } },
  });
  await scene.verify();
});

test('B20: what siblings ask stays byte-equal while one of them goes on', async () => {
  const prompts = ['0', '1', '2', '3', '4'].map((item) => `{"item": ${item}, "ö": "\\u0000"}`);
  const nodes = Object.fromEntries(prompts.map((prompt, index) => [`n${index}`, ask(prompt)]));
  const scene = await sceneOf(dagOf(Object.keys(nodes), { concurrency: 3 }), nodes);
  const paused = await scene.run();
  const pauses = paused.kind === 'pause' ? paused.pauses : [];
  expect(pauses.map(({ request }) => request['prompt'])).toEqual(prompts.slice(0, 3));
  await (await scene.open()).answer(pauseIdOf(paused), 'go', { by: 'ada' });
  const later = await scene.run();
  const open = later.kind === 'pause' ? later.pauses : [];
  expect(JSON.stringify(open.slice(0, 2))).toBe(JSON.stringify(pauses.slice(1)));
  expect(open.map(({ request }) => request['prompt'])).toEqual(prompts.slice(1, 4));
});

describe('B23: an answer to question N', () => {
  test('is not taken for N + 1, however late it comes', async () => {
    const nodes = { first: ask('first?'), second: ask('second?') };
    const scene = await sceneOf(dagOf(['first', 'second'], { edges: ['first>second'] }), nodes);
    const executor = await scene.open();
    const first = pauseIdOf(await executor.run());
    await executor.answer(first, 'yes', { by: 'ada' });
    const opened = await executor.run();
    for (const late of [executor, await scene.open()]) {
      await expect(late.answer(first, 'yes', { by: 'bob' })).rejects.toMatchObject({
        code: 'PAUSE_MISMATCH',
      });
    }
    expect(await scene.run()).toEqual(opened);
  });

  test('is taken once of two processes that give it at once', async () => {
    for (let round = 0; round < 20; round += 1) {
      const nodes = { first: ask('first?') };
      const scene = await sceneOf(dagOf(['first']), nodes);
      const pauseId = pauseIdOf(await scene.run());
      const executors = [await scene.open(), await scene.open(), await scene.open()];
      const given = await Promise.allSettled(
        executors.map((executor, index) => executor.answer(pauseId, index, { by: `p${index}` })),
      );
      expect(given.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      const winner = given.findIndex(({ status }) => status === 'fulfilled');
      expect(await scene.run()).toMatchObject({ output: { nodes: { first: winner } } });
    }
  });

  test('does not carry a permission over to a later attempt', async () => {
    let asked = 0;
    let runs = 0;
    const node = dataNode(
      () => {
        runs += 1;
        if (runs === 1) throw new Error('not yet');
        return 'done';
      },
      {
        decideAction: () => {
          asked += 1;
          return { kind: 'wait', reason: 'ask', request: { attempt: asked } };
        },
      },
    );
    const scene = await sceneOf(dagOf(['a'], { retries: 1 }), { a: node });
    const executor = await scene.open();
    const first = pauseIdOf(await executor.run());
    await executor.answer(first, { decision: 'allow' }, { by: 'ada' });
    const again = await executor.run();
    expect(again).toMatchObject({ kind: 'pause', pauses: [{ request: { attempt: 2 } }] });
    expect(runs).toBe(1);
    await executor.answer(pauseIdOf(again), { decision: 'deny' }, { by: 'ada' });
    expect(await executor.run()).toMatchObject({ kind: 'fail' });
    expect(runs).toBe(1);
  });
});

test('B25: a subflow that paused in its third step goes on there, in a fresh process', async () => {
  const counts = { one: 0, two: 0, side: 0, after: 0 };
  const count = (name: keyof typeof counts) => () => void counts[name]++;
  const inner = flowOf(
    [
      ['one', 'task', { function: 'one' }],
      ['two', 'task', { function: 'two' }],
      ['ask', 'approval', { prompt: 'ok?' }],
      ['side', 'task', { function: 'side' }],
    ],
    ['start>one', 'one>two', 'two>ask', 'two>side'],
  );
  const outer = flowOf(
    [
      ['sub', 'subflow', { flow: 'inner', input: null }],
      ['after', 'task', { function: 'after' }],
    ],
    ['start>sub', 'sub>after'],
  );
  const functions = {
    one: count('one'),
    two: count('two'),
    side: count('side'),
    after: count('after'),
  };
  const scene = await flowScene(outer, functions, { flows: { inner } });
  const paused = await scene.run();
  await (await scene.open()).answer(pauseIdOf(paused), true, { by: 'ada' });
  expect(await scene.run()).toMatchObject({ kind: 'complete' });
  expect(counts).toEqual({ one: 1, two: 1, side: 1, after: 1 });
  await scene.verify();
});

describe('B28: an approval that is overdue when it is created', () => {
  test('ends at once: it never stands open', async () => {
    const clock = handClock();
    const finish = gate();
    const seen: string[] = [];
    const nodes = {
      slow: dataNode(() => finish.opened),
      ask: waitNode({
        kind: 'approval',
        prompt: 'ok?',
        deadlineMs: 5_000,
        onDeadline: { result: 'nobody came' },
      }),
    };
    const scene = await sceneOf(dagOf(['slow', 'ask']), nodes, { clock });
    const executor = await scene.open({ maxConcurrentAttempts: 1 });
    scene.storage.eventStore.subscribe({ namespace: 'test', streamId: 'r1' }, 0, (events) => {
      seen.push(typesOf(events).join(' '));
    });
    const running = executor.run();
    await clock.rest();
    clock.pass(10_000);
    finish.open();
    expect(await running).toMatchObject({ output: { nodes: { ask: 'nobody came' } } });
    expect(seen.at(-1)).toBe('node-paused timer-fired node-completed run-finished');
    await scene.verify();
  });
});

test('B29: a run parked on an approval refuses an edited graph before its code', async () => {
  let ran = 0;
  const functions = { deploy: () => void ran++ };
  const flow = (input: string) =>
    flowOf(
      [
        ['ask', 'approval', { prompt: 'deploy?' }],
        ['deploy', 'task', { function: 'deploy', input }],
      ],
      ['start>ask', 'ask.approved>deploy'],
    );
  const scene = await flowScene(flow('staging'), functions);
  const pauseId = pauseIdOf(await scene.run());
  const edited = await flowScene(flow('production'), functions, { runId: 'other' });
  const bound = { graph: edited.graph, nodes: edited.nodes };
  await expect(scene.open(bound)).rejects.toMatchObject({ code: 'STORED_GRAPH_MISMATCH' });
  await (await scene.open()).answer(pauseId, true, { by: 'ada' });
  await expect(scene.open(bound)).rejects.toMatchObject({ code: 'STORED_GRAPH_MISMATCH' });
  expect(ran).toBe(0);
  expect(await scene.run()).toMatchObject({ kind: 'complete' });
});

test('B31: a restart without an answer leaves the approval open', async () => {
  let after = 0;
  const nodes = { ask: ask('ok?'), after: dataNode(() => void after++) };
  const scene = await sceneOf(dagOf(['ask', 'after'], { edges: ['ask>after'] }), nodes);
  const paused = await scene.run();
  const looks = async (executor: GraphExecutor) => (await executor.view()).occurrences[0]?.status;
  for (let restart = 0; restart < 3; restart += 1) {
    expect(await scene.run()).toEqual(paused);
    expect(await looks(await scene.open())).toBe('paused');
  }
  // To resume an approval is to ask again, not to answer.
  expect(await scene.resume('dag/ask/1')).toMatchObject({
    kind: 'pause',
    pauses: [{ position: 'dag/ask/1', request: { prompt: 'ok?' } }],
  });
  expect(after).toBe(0);
  await scene.verify();
});
