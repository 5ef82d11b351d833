import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fakePrompter } from '../fakes/terminal.ts';
import { leaveUncertain } from '../fakes/uncertain-run.ts';
import { askFlow, askModule, chainFlow, Workspace } from '../fakes/workspace.ts';

describe('commands on stored runs', () => {
  let place: Workspace;

  beforeEach(() => {
    place = new Workspace();
    place.write('ask.json', askFlow);
    place.write('ask.mjs', askModule);
    place.write('pay.json', chainFlow('pay', 'pay'));
    place.write('pay.mjs', "export const pay = () => 'paid again';");
  });

  afterEach(() => {
    place.remove();
  });

  const nodesOf = (document: { readonly output?: unknown }) =>
    (document.output as { nodes: Record<string, unknown> }).nodes;

  it('an uncertain attempt is asked about, never repeated by itself', async () => {
    await leaveUncertain(place, 'pay.json', 'p1');
    const { exitCode, document } = await place.json(['resume', 'p1']);
    expect(exitCode).toBe(3);
    expect(document).toMatchObject({
      pauses: [{ request: { kind: 'reconcile-attempt' } }],
    });
  });

  it.each([
    ['completed', ['--result', '"it was paid"'], 'it was paid'],
    ['retry', [], 'paid again'],
  ])('reconcile %s', async (kind, more, output) => {
    await leaveUncertain(place, 'pay.json', 'p1');
    await place.call(['resume', 'p1']);
    const said = await place.json([
      'reconcile',
      'p1',
      '--kind',
      kind,
      ...more,
      '--reason',
      'I looked',
      '--by',
      'ada',
    ]);
    expect(said).toMatchObject({ exitCode: 0, document: { kind, by: 'ada', reason: 'I looked' } });
    const { document } = await place.json(['resume', 'p1']);
    expect(nodesOf(document)['pay']).toBe(output);
  });

  it('reconcile failed', async () => {
    await leaveUncertain(place, 'pay.json', 'p1');
    await place.call(['resume', 'p1']);
    await place.call([
      'reconcile',
      'p1',
      '--kind',
      'failed',
      '--code',
      'NOT_PAID',
      '--reason',
      'no entry',
    ]);
    const { exitCode, document } = await place.json(['resume', 'p1']);
    expect(exitCode).toBe(1);
    expect(document.error?.message).toContain('NOT_PAID: no entry');
  });

  it('reconciles many by a filter, and only those', async () => {
    place.write('other.json', chainFlow('other', 'pay'));
    for (const [flow, id] of [
      ['pay.json', 'p1'],
      ['pay.json', 'p2'],
      ['other.json', 'o1'],
    ] as const) {
      await leaveUncertain(place, flow, id);
      await place.call(['resume', id, '--module', 'pay.mjs']);
    }
    const nobody = ['reconcile', '--graph', 'pay', '--node', 'start', '--kind', 'retry'];
    const none = await place.json([...nobody, '--reason', 'bank was down']);
    expect(none.document['reconciled']).toEqual([]);
    const filter = ['reconcile', '--graph', 'pay', '--node', 'pay'];
    const { document } = await place.json([
      ...filter,
      '--kind',
      'retry',
      '--reason',
      'bank was down',
    ]);
    const done = document['reconciled'] as { runId: string }[];
    expect(done.map(({ runId }) => runId).sort()).toEqual(['p1', 'p2']);
    expect((await place.json(['resume', 'p1'])).exitCode).toBe(0);
    expect((await place.json(['show', 'o1'])).document['status']).toBe('paused');
    await place.call(['reconcile', '--all', '--kind', 'retry', '--reason', 'bank was down']);
    expect((await place.json(['resume', 'o1', '--module', 'pay.mjs'])).exitCode).toBe(0);
  });

  it('a person reconciles at the terminal', async () => {
    await leaveUncertain(place, 'pay.json', 'p1');
    const prompter = fakePrompter(['completed', 'the bank told me', '"paid"']);
    const said = await place.call(['resume', 'p1'], { isInteractive: true, prompter });
    expect(said.exitCode).toBe(0);
    expect(prompter.asked[0]).toContain('The process died while pay ran');
    const { out } = await place.call(['events', 'p1']);
    expect(out).toContain('"by":"tester","reason":"the bank told me"');
  });

  it('a signal reaches a run before it waits, and its repeat is ignored', async () => {
    place.write('wait.json', {
      id: 'wait',
      nodes: [
        { id: 's', type: 'trigger', config: {} },
        { id: 'ask', type: 'approval', config: { prompt: 'Go?' } },
        { id: 'go', type: 'signal', config: { name: 'go' } },
      ],
      edges: [
        { id: 'a', source: 's', target: 'ask' },
        { id: 'b', source: 'ask', sourceHandle: 'approved', target: 'go' },
      ],
    });
    await place.call(['run', 'wait.json', '--run-id', 'w']);
    const send = ['signal', 'w', 'go', '{"n":1}', '--signal-id', 'once'];
    expect((await place.call(send)).exitCode).toBe(0);
    expect((await place.call(send)).exitCode).toBe(0);
    await place.call(['answer', 'w', 'w@7', 'yes']);
    const { document } = await place.json(['resume', 'w']);
    expect(nodesOf(document)['go']).toEqual({ n: 1 });
    expect((await place.call(['events', 'w'])).out.match(/signal-received/g)).toHaveLength(1);
  });

  const subflowFlow = (sub: string) => ({
    id: 'outer',
    nodes: [
      { id: 's', type: 'trigger', config: {} },
      { id: 'sub', type: 'subflow', config: { flow: sub, input: '{{ input }}' } },
    ],
    edges: [{ id: 'a', source: 's', target: 'sub' }],
  });

  const waitFlow = {
    id: 'inner',
    nodes: [
      { id: 's', type: 'trigger', config: {} },
      { id: 'paid', type: 'signal', config: { name: 'paid' } },
    ],
    edges: [{ id: 'a', source: 's', target: 'paid' }],
  };

  it('a signal reaches the subflow that waits for it', async () => {
    place.write('inner.json', waitFlow);
    place.write('outer.json', subflowFlow('inner'));
    await place.call(['run', 'outer.json', '--run-id', 'o']);
    const said = await place.json(['signal', 'o', 'paid', '{"p":1}']);
    expect(said).toMatchObject({ exitCode: 0, document: { next: 'holdfast resume o' } });
    const { exitCode, document } = await place.json(['resume', 'o']);
    expect(exitCode).toBe(0);
    expect(JSON.stringify(document.output)).toContain('{"p":1}');
  });

  it('a signal that nothing waits for yet is kept while a subflow is paused', async () => {
    place.write('outer.json', subflowFlow('ask'));
    place.write('outer.mjs', askModule);
    await place.call(['run', 'outer.json', '--run-id', 'o', '--input', '{"what":1}']);
    expect((await place.call(['signal', 'o', 'later'])).exitCode).toBe(0);
    expect((await place.call(['events', 'o'])).out).toContain('signal-received');
  });

  it('a signal sent to a child names the run that goes on with it', async () => {
    place.write('inner.json', waitFlow);
    place.write('outer.json', subflowFlow('inner'));
    const { document } = await place.json(['run', 'outer.json', '--run-id', 'o']);
    const [pause] = document['pauses'] as { runId: string }[];
    const sent = await place.json(['signal', pause?.runId ?? '', 'paid']);
    expect(sent.document['next']).toBe('holdfast resume o');
  });

  it.each([
    ['signal', ['signal', 'p1', 'go']],
    ['cancel', ['cancel', 'p1', '--reason', 'late']],
  ])('%s refuses a run that has ended, and says how', async (_name, args) => {
    await place.call(['run', 'pay.json', '--run-id', 'p1']);
    const { exitCode, document } = await place.json(args);
    expect(exitCode).toBe(2);
    expect(document.error).toMatchObject({ code: 'RUN_ENDED' });
    expect(document.error?.message).toContain('Run p1 is complete');
  });

  it('a cancelled run undoes what it did and ends', async () => {
    const flow = {
      id: 'undo',
      nodes: [
        { id: 's', type: 'trigger', config: {} },
        { id: 'book', type: 'task', config: { function: 'book', undo: { function: 'unbook' } } },
        { id: 'ask', type: 'approval', config: { prompt: 'Go?' } },
      ],
      edges: [
        { id: 'a', source: 's', target: 'book' },
        { id: 'b', source: 'book', target: 'ask' },
      ],
    };
    place.write('undo.json', flow);
    place.write(
      'undo.mjs',
      "export const book = () => 'b1'; export const unbook = ({ output }) => output;",
    );
    await place.call(['run', 'undo.json', '--run-id', 'u']);
    expect((await place.call(['cancel', 'u', '--reason', 'not wanted'])).exitCode).toBe(0);
    const { exitCode, document } = await place.json(['resume', 'u']);
    expect(exitCode).toBe(1);
    expect(document.error?.code).toBe('CANCELLED');
    const shown = await place.json(['show', 'u']);
    expect(shown.document).toMatchObject({ status: 'cancelled' });
    const positions = (shown.document['occurrences'] as { position: string }[]).map(
      (o) => o.position,
    );
    expect(positions).toContain('undo/flow/book#1');
  });

  it('lists by filters and in pages', async () => {
    for (const id of ['a1', 'a2', 'b1']) {
      await place.call(['run', 'ask.json', '--run-id', id, '--input', '{"what":1}']);
    }
    await place.call(['run', 'pay.json', '--run-id', 'p1']);
    const ids = async (...args: string[]) => {
      const { document } = await place.json(['list', ...args]);
      return (document['runs'] as { runId: string }[]).map(({ runId }) => runId);
    };
    expect(await ids('--status', 'paused', '--prefix', 'a')).toEqual(['a2', 'a1']);
    expect(await ids('--graph', 'pay')).toEqual(['p1']);
    const { document } = await place.json(['list', '--limit', '3']);
    const cursor = String(document['cursor']);
    expect(await ids('--limit', '3', '--cursor', cursor)).toEqual(['a1']);
    expect((await place.call(['list', '--limit', '3'])).out).toContain(`more: --cursor ${cursor}`);
  });

  it('shows a run as a tree with its open pause', async () => {
    await place.call(['run', 'ask.json', '--run-id', 'r1', '--input', '{"what":"it"}']);
    const { out } = await place.call(['show', 'r1']);
    const lines = out.split('\n');
    expect(lines[0]).toMatch(/^ask {2}r1 {2}paused {2}/);
    expect(lines[1]).toMatch(/^✔ start/);
    expect(lines[2]).toMatch(/^‖ ask +waits for a person/);
    expect(lines.slice(3, 5)).toEqual(['· ├ approved: send', '· └ rejected: keep']);
    expect(out).toContain('Send it?');
  });

  it('prints events from a place, and so many', async () => {
    await place.call(['run', 'pay.json', '--run-id', 'p1']);
    const { document } = await place.json(['events', 'p1', '--after', '2', '--limit', '2']);
    const events = document['events'] as { sequence: number }[];
    expect(events.map(({ sequence }) => sequence)).toEqual([3, 4]);
  });

  it('draws a flow as Mermaid and as JSON', async () => {
    const { out } = await place.call(['graph', 'ask.json']);
    expect(out).toBe(
      [
        'flowchart TD',
        '  n0(["start"])',
        '  n1[/"ask"/]',
        '  n2["send"]',
        '  n3(("keep"))',
        '  n0 --> n1',
        '  n1 -->|"approved"| n2',
        '  n1 -->|"rejected"| n3',
        '',
      ].join('\n'),
    );
    const { document } = await place.json(['graph', 'ask.json']);
    expect(document).toMatchObject({
      id: 'ask',
      edges: [{}, { source: 'ask', output: 'approved', target: 'send', isBack: false }, {}],
    });
  });

  it('verifies a run without the code of its nodes', async () => {
    await place.call(['run', 'pay.json', '--run-id', 'p1']);
    const { exitCode, document } = await place.json(['verify', 'p1']);
    expect(exitCode).toBe(0);
    // trigger, pay, and the end.
    expect(document).toMatchObject({ verified: true, decisions: 3, verifiedFrom: 1 });
  });
});
