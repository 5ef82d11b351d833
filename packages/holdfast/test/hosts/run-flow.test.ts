/** Flows written in code, run in a directory. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  approval,
  choose,
  condition,
  continueAsNew,
  defineFlow,
  type JsonValue,
  loop,
  runFlow,
  type TaskInput,
  task,
} from 'holdfast';
import { validateGraph } from 'holdfast/flow';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

let directory = '';
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'holdfast-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

describe('defineFlow', () => {
  test('gives the JSON of a valid flow, with a trigger before its first nodes', () => {
    const { flow } = defineFlow({
      id: 'f',
      nodes: {
        check: condition('input > 1'),
        again: loop({ maxIterations: 2 }),
        work: task(() => 1),
        ask: approval({ prompt: 'ok?' }),
      },
      edges: [
        ['check.true', 'again'],
        ['again.body', 'work'],
        ['work', 'again.next'],
        ['again.done', 'ask'],
      ],
    });
    expect(JSON.parse(JSON.stringify(flow))).toEqual(flow);
    expect(validateGraph(flow).errors).toEqual([]);
    expect(flow.edges[0]).toMatchObject({ source: 'trigger', target: 'check' });
  });

  test('a choice leads by its cases and by what stands otherwise', () => {
    const nodes = { size: choose({ big: 'input > 9' }, 'small'), a: task(() => 1) };
    const { flow } = defineFlow({
      id: 'f',
      nodes,
      edges: [
        ['size.big', 'a'],
        ['size.small', 'a'],
      ],
    });
    // @ts-expect-error: no case is called medium
    defineFlow({ id: 'f', nodes, edges: [['size.medium', 'a']] });
    expect(validateGraph(flow).errors).toEqual([]);
  });

  test('unknown node ids and outputs are type errors', () => {
    const nodes = { a: task(() => 1), c: condition('true') };
    // @ts-expect-error: there is no node b
    defineFlow({ id: 'f', nodes, edges: [['a', 'b']] });
    // @ts-expect-error: a condition has no output `out`
    defineFlow({ id: 'f', nodes, edges: [['c', 'a']] });
    // @ts-expect-error: a task has no output `maybe`
    defineFlow({ id: 'f', nodes, edges: [['a.maybe', 'c']] });
    // @ts-expect-error: only a loop has a way back in
    defineFlow({ id: 'f', nodes, edges: [['c.true', 'a.next']] });
    expect(Object.keys(nodes)).toEqual(['a', 'c']);
  });
});

describe('runFlow', () => {
  test('runs the nodes in order and returns the typed output', async () => {
    const flow = defineFlow({
      id: 'greet',
      nodes: {
        hello: task(({ input }: TaskInput<{ name: string }>) => ({ text: `Hello ${input.name}` })),
        shout: task(({ nodes }: TaskInput) => JSON.stringify(nodes['hello']).toUpperCase()),
      },
    });
    const { nodes } = await runFlow(flow, { name: 'Ada' }, { directory });
    const text: string | undefined = nodes.hello?.text;
    expect(text).toBe('Hello Ada');
    expect(nodes.shout).toBe('{"TEXT":"HELLO ADA"}');
  });

  test('a pause without anyone to ask says what is open, and the next call goes on', async () => {
    let before = 0;
    const flow = defineFlow({
      id: 'ask',
      nodes: { work: task(() => void before++), ask: approval({ prompt: 'Ship?' }) },
    });
    const paused = runFlow(flow, null, { directory });
    await expect(paused).rejects.toMatchObject({ code: 'FLOW_PAUSED' });
    const asked: string[] = [];
    const { nodes } = await runFlow(flow, null, {
      directory,
      onPause: async (pause, executor) => {
        asked.push(String(pause.request['prompt']));
        await executor.answer(pause.pauseId, true, { by: 'ada' });
        return true;
      },
    });
    expect(nodes.ask?.approved).toBe(true);
    expect(asked).toEqual(['Ship?']);
    expect(before).toBe(1);
  });

  test('called again after it completed it starts a new run', async () => {
    let runs = 0;
    const flow = defineFlow({ id: 'count', nodes: { n: task(() => ++runs) } });
    await runFlow(flow, null, { directory });
    const { nodes } = await runFlow(flow, null, { directory });
    expect(nodes.n).toBe(2);
  });

  test('a flow that continues as new goes on until a run ends', async () => {
    const seen: number[] = [];
    const flow = defineFlow({
      id: 'count-down',
      nodes: {
        see: task(({ input }: TaskInput<number>) => void seen.push(input)),
        more: condition('input > 1'),
        again: continueAsNew('{{ input - 1 }}'),
        done: task(() => 'done'),
      },
      edges: [
        ['see', 'more'],
        ['more.true', 'again'],
        ['more.false', 'done'],
      ],
    });
    const { nodes } = await runFlow(flow, 3, { directory });
    expect(nodes.done).toBe('done');
    expect(seen).toEqual([3, 2, 1]);
  });

  test('a failed flow rejects with the code of the flow and names the node', async () => {
    const flow = defineFlow({
      id: 'bad',
      nodes: {
        n: task((): JsonValue => {
          throw new Error('no luck');
        }),
      },
    });
    const failed = runFlow(flow, null, { directory });
    await expect(failed).rejects.toMatchObject({ code: 'FLOW_NODE_FAILED' });
    await expect(failed).rejects.toThrow('no luck');
  });
});
