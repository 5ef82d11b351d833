import { existsSync, renameSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fakePrompter } from '../fakes/terminal.ts';
import { askFlow, askModule, chainFlow, Workspace } from '../fakes/workspace.ts';

describe('run and resume', () => {
  let place: Workspace;

  beforeEach(() => {
    place = new Workspace();
    place.write('ask.json', askFlow);
    place.write('ask.mjs', askModule);
  });

  afterEach(() => {
    place.remove();
  });

  const runAsk = ['run', 'ask.json', '--run-id', 'r1', '--input', '{"what":"it"}'];

  it('runs a flow to its end: exit code 0, the output in the document', async () => {
    place.write('add.json', chainFlow('add', 'add'));
    place.write('add.mjs', 'export const add = ({ input }) => input.a + input.b;');
    const input = place.write('input.json', { a: 2, b: 3 });
    const { exitCode, document } = await place.json(['run', 'add.json', '--input', input]);
    expect(exitCode).toBe(0);
    expect(document).toMatchObject({
      status: 'complete',
      exitCode: 0,
      directory: place.store,
      output: { nodes: { add: 5 } },
    });
  });

  it('takes its input from standard input', async () => {
    place.write('echo.json', chainFlow('echo', 'echo'));
    place.write('echo.mjs', 'export const echo = ({ input }) => input;');
    const said = await place.call(['run', 'echo.json', '--input', '-', '--json'], {
      input: '[1]',
    });
    expect(JSON.parse(said.out)).toMatchObject({ output: { nodes: { echo: [1] } } });
  });

  it('a flow that fails is exit code 1 with its code', async () => {
    place.write('bad.json', chainFlow('bad', 'work'));
    place.write('bad.mjs', 'export const work = () => { throw new Error("no luck"); };');
    const { exitCode, document } = await place.json(['run', 'bad.json']);
    expect(exitCode).toBe(1);
    expect(document.error?.code).toBe('FLOW_NODE_FAILED');
    expect(document.error?.message).toContain('no luck');
  });

  it('without a terminal a pause is exit code 3, with the command that answers it', async () => {
    const { exitCode, document } = await place.json(runAsk);
    expect(exitCode).toBe(3);
    const pauseId = (document['pauses'] as { pauseId: string }[])[0]?.pauseId;
    expect(document).toMatchObject({
      status: 'paused',
      pauses: [{ answerWith: `holdfast answer r1 ${pauseId} true` }],
      next: 'holdfast resume r1',
    });
  });

  it('that very command answers it, and resume goes on', async () => {
    const { out } = await place.call(runAsk);
    const command = /holdfast (answer .*)/.exec(out)?.[1]?.split(' ') ?? [];
    expect(await place.call(command)).toMatchObject({ exitCode: 0 });
    const { exitCode, document } = await place.json(['resume', 'r1']);
    expect(exitCode).toBe(0);
    expect(document).toMatchObject({ output: { nodes: { send: { summary: 'sent' } } } });
  });

  it.each([
    ['yes', 0, 'send'],
    ['no', 0, 'keep'],
    ['later', 3, null],
  ])('on a terminal it asks; %s', async (answer, exitCode, reached) => {
    const prompter = fakePrompter([answer]);
    const said = await place.call(runAsk, { isInteractive: true, prompter });
    expect(prompter.asked).toEqual(['Send it?']);
    expect(said.exitCode).toBe(exitCode);
    const { document } = await place.json(['show', 'r1']);
    const ran = (document['occurrences'] as { nodeId: string }[]).map(({ nodeId }) => nodeId);
    expect(ran.slice(2)).toEqual(reached === null ? [] : [reached]);
  });

  /** Leaves a question open until it is taken back. */
  function patient(meanwhile: () => Promise<unknown>) {
    return {
      ...fakePrompter([]),
      choose: async (_question: string, _choices: readonly unknown[], signal: AbortSignal) => {
        await meanwhile();
        if (!signal.aborted) {
          await new Promise((resolve) => signal.addEventListener('abort', resolve));
        }
        return null;
      },
    };
  }

  it('takes a question back that is answered elsewhere, and goes on', async () => {
    const prompter = patient(() => place.call(['answer', 'r1', 'r1@7', 'true']));
    const said = await place.call(runAsk, { isInteractive: true, prompter });
    expect(said.exitCode).toBe(0);
    expect(said.out).toContain('node  completed   send');
  });

  it('an answer that comes second is no failure', async () => {
    const prompter = {
      ...fakePrompter([]),
      choose: async <Value extends string>() => {
        await place.call(['answer', 'r1', 'r1@7', 'no']);
        return 'yes' as Value;
      },
    };
    const said = await place.call(runAsk, { isInteractive: true, prompter });
    expect(said.exitCode).toBe(0);
    expect(said.out).toContain('node  completed   keep');
  });

  it('takes a question back when its deadline passes, and goes on', async () => {
    place.write(
      'ask.json',
      JSON.stringify(askFlow).replace('"prompt"', '"deadlineMs":40,"prompt"'),
    );
    const prompter = patient(() => Promise.resolve());
    const said = await place.call(runAsk, { isInteractive: true, prompter });
    expect(said.exitCode).toBe(0);
    expect(said.out).toContain('node  completed   keep');
  });

  it('with --json it never asks', async () => {
    const prompter = fakePrompter(['yes']);
    await place.call([...runAsk, '--json'], { isInteractive: true, prompter });
    expect(prompter.asked).toEqual([]);
  });

  it('the same run id, flow and input go on; another input is refused', async () => {
    await place.call(runAsk);
    expect((await place.call(runAsk)).exitCode).toBe(3);
    const other = await place.json(['run', 'ask.json', '--run-id', 'r1', '--input', '{}']);
    expect(other).toMatchObject({ exitCode: 2, document: { error: { code: 'RUN_EXISTS' } } });
  });

  it('a run is driven by its id alone, from any folder', async () => {
    await place.call([...runAsk, '--directory', 'store']);
    await place.call(['answer', 'r1', 'r1@7', 'true', '--directory', 'store']);
    const said = await place.call(['resume', 'r1', '--directory', place.path('store')], {
      cwd: '/',
    });
    expect(said.exitCode).toBe(0);
  });

  it('a flow that was moved brings the module beside it; the place is remembered', async () => {
    await place.call(runAsk);
    place.write('new/place.json', askFlow);
    renameSync(place.path('ask.mjs'), place.path('new/place.mjs'));
    expect((await place.call(['resume', 'r1', '--flow', 'new/place.json'])).exitCode).toBe(3);
    await place.call(['answer', 'r1', 'r1@7', 'yes']);
    expect((await place.call(['resume', 'r1'])).exitCode).toBe(0);
  });

  it('a module named at resume is remembered, and a missing one asks for --module', async () => {
    await place.call(runAsk);
    renameSync(place.path('ask.mjs'), place.path('moved.mjs'));
    expect((await place.call(['resume', 'r1'])).err).toContain('Name the module with --module.');
    expect((await place.call(['resume', 'r1', '--module', 'moved.mjs'])).exitCode).toBe(3);
    expect((await place.call(['resume', 'r1'])).exitCode).toBe(3);
  });

  it('a module that was moved is asked for by name, and can be named', async () => {
    await place.call(runAsk);
    renameSync(place.path('ask.mjs'), place.path('moved.mjs'));
    const lost = await place.json(['resume', 'r1']);
    expect(lost).toMatchObject({ exitCode: 2, document: { error: { code: 'FILE_UNREADABLE' } } });
    const found = await place.call(['resume', 'r1', '--module', 'moved.mjs']);
    expect(found.exitCode).toBe(3);
  });

  it('plain lines say what happened, and none of them is a document', async () => {
    const { out, err } = await place.call(runAsk);
    expect(err).toBe('');
    expect(out).toMatch(/^\d\d:\d\d:\d\d\.\d{3} {2}run {3}started {5}r1 {2}ask$/m);
    expect(out).toMatch(/node {2}paused {6}ask {2}flow\/ask#1 {2}waits for a person$/m);
  });

  it('continues a run that continues as new', async () => {
    place.write('count.json', {
      id: 'count',
      nodes: [
        { id: 's', type: 'trigger', config: {} },
        { id: 'enough', type: 'control.condition', config: { expression: 'input.n >= 3' } },
        { id: 'next', type: 'continue-as-new', config: { input: { n: '{{ input.n + 1 }}' } } },
        { id: 'end', type: 'end', config: {} },
      ],
      edges: [
        { id: 'a', source: 's', target: 'enough' },
        { id: 'b', source: 'enough', sourceHandle: 'false', target: 'next' },
        { id: 'c', source: 'enough', sourceHandle: 'true', target: 'end' },
      ],
    });
    const args = ['run', 'count.json', '--run-id', 'c', '--input', '{"n":1}'];
    const { document } = await place.json(args);
    expect(document).toMatchObject({ runId: 'c.c3', status: 'complete' });
  });

  it('answers and resumes a run whose subflow waits', async () => {
    place.write('outer.json', {
      id: 'outer',
      nodes: [
        { id: 's', type: 'trigger', config: {} },
        { id: 'inner', type: 'subflow', config: { flow: 'ask', input: { what: 'that' } } },
      ],
      edges: [{ id: 'e', source: 's', target: 'inner' }],
    });
    const args = ['run', 'outer.json', '--run-id', 'o', '--module', 'ask.mjs'];
    const { out } = await place.call(args);
    expect(out).toContain('Send that?');
    const child = /run (o\.[0-9a-f]{16})/.exec(out)?.[1] ?? '';
    const alone = await place.json(['resume', child]);
    expect(alone.document.error).toMatchObject({
      code: 'RUN_NOT_DRIVABLE',
      message: expect.stringContaining('its parent, o.'),
    });
    const command = /holdfast (answer .*)/.exec(out)?.[1]?.split(' ') ?? [];
    await place.call(command);
    const { exitCode, document } = await place.json(['resume', 'o']);
    expect(exitCode).toBe(0);
    expect(document).toMatchObject({
      output: { nodes: { inner: { nodes: { send: { summary: 'sent' } } } } },
    });
  });

  it('leaves nothing behind when a flow is refused', async () => {
    place.write('broken.json', chainFlow('broken', 'missing'));
    place.write('broken.mjs', 'export const other = () => 1;');
    await place.call(['run', 'broken.json']);
    expect(existsSync(place.store)).toBe(false);
  });
});
