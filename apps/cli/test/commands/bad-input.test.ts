import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { askFlow, askModule, chainFlow, Workspace } from '../fakes/workspace.ts';

/** Every bad input gives one typed error, exit code 2, and leaves nothing behind. */
describe('bad input', () => {
  const place = new Workspace();
  let before: readonly string[];

  beforeAll(async () => {
    place.write('ask.json', askFlow);
    place.write('ask.mjs', askModule);
    place.write('broken.json', '{\n  "id": "broken",\n  "nodes": [,]\n}');
    writeFileSync(place.path('latin.json'), Buffer.from('{"id":"caf\xe9"}', 'latin1'));
    writeFileSync(place.path('cut.json'), Buffer.from('"caf\xc3', 'latin1'));
    place.write(
      'twice.json',
      '{\n  "id": "a", "nodes": [{ "id": 1 }, { "id": 1 }],\n  "i\\u0064": "b"\n}',
    );
    place.write('empty.json', '');
    place.write('list.json', '[]');
    place.write('alone.json', chainFlow('alone', 'work'));
    place.write('wrong.json', chainFlow('wrong', 'work'));
    place.write('wrong.mjs', 'export const other = () => 1;');
    place.write('throws.json', chainFlow('throws', 'work'));
    place.write('throws.mjs', 'throw new Error("on the way in");');
    place.write('unsound.json', {
      id: 'unsound',
      nodes: [
        { id: 's', type: 'trigger', config: {} },
        { id: 'a', type: 'delay', config: { delayMs: -1 } },
        { id: 'b', type: 'control.condition', config: { expression: 'input.x >' } },
        { id: 'c', type: 'no-such-type', config: {} },
      ],
      edges: [
        { id: 'e', source: 's', target: 'a' },
        { id: 'f', source: 'a', target: 'nowhere' },
      ],
    });
    await place.call(['run', 'ask.json', '--run-id', 'r1', '--input', '{"what":1}']);
    before = await everything();
  });

  afterAll(() => {
    place.remove();
  });

  async function everything(): Promise<readonly string[]> {
    const { document } = await place.json(['list']);
    const runs = (document['runs'] as { runId: string; sequence: number }[]).map(
      ({ runId, sequence }) => `${runId} ${sequence}`,
    );
    return [...runs, ...readdirSync(place.folder), ...readdirSync(`${place.store}/sources`)].sort();
  }

  it.each([
    ['an unknown flow file', ['run', 'nowhere.json'], 'FILE_UNREADABLE', 'nowhere.json'],
    ['no name of a flow', ['run', ''], 'INVALID_COMMAND', 'the flow is empty'],
    ['no name of a flow to check', ['validate', ' '], 'INVALID_COMMAND', 'the flow is empty'],
    ['no name of a flow to draw', ['graph', ''], 'INVALID_COMMAND', 'the flow is empty'],
    [
      'no name of a module',
      ['run', 'ask.json', '--module', ''],
      'INVALID_COMMAND',
      '--module is empty',
    ],
    ['no input', ['run', 'ask.json', '--input', ''], 'FILE_UNREADABLE', 'neither JSON nor'],
    ['a folder as flow', ['run', '.holdfast'], 'FILE_UNREADABLE', 'it is a folder'],
    ['bad JSON', ['run', 'broken.json'], 'FILE_NOT_JSON', 'line 3, column 13'],
    ['a file that is no UTF-8', ['run', 'latin.json'], 'FILE_NOT_JSON', 'at byte 10'],
    [
      'an input cut in a letter',
      ['run', 'ask.json', '--input', 'cut.json'],
      'FILE_NOT_JSON',
      'byte 4',
    ],
    ['a key that stands twice', ['validate', 'twice.json'], 'FILE_NOT_JSON', 'line 3, column 3'],
    ['an empty file', ['run', 'empty.json'], 'FILE_NOT_JSON', 'line 1, column 1'],
    ['a flow that is a list', ['run', 'list.json'], 'INVALID_FLOW_SHAPE', 'list.json'],
    ['a flow without its module', ['run', 'alone.json'], 'MODULE_MISSING', 'alone.ts'],
    ['an unknown function', ['run', 'wrong.json'], 'FLOW_FUNCTION_MISSING', '"work"'],
    ['a module that throws', ['run', 'throws.json'], 'MODULE_FAILED', 'on the way in'],
    ['bad input JSON', ['run', 'ask.json', '--input', '{"a":}'], 'FILE_NOT_JSON', 'column 6'],
    [
      'an input that is no file',
      ['run', 'ask.json', '--input', 'x.json'],
      'FILE_UNREADABLE',
      'x.json',
    ],
    ['a bad run id', ['run', 'ask.json', '--run-id', '../up'], 'INVALID_ID', '../up'],
    ['an unknown run', ['resume', 'nobody'], 'RUN_NOT_FOUND', 'nobody'],
    ['an unknown run to look at', ['show', 'nobody'], 'RUN_NOT_FOUND', 'nobody'],
    ['events of an unknown run', ['events', 'nobody'], 'RUN_NOT_FOUND', 'nobody'],
    ['verifying an unknown run', ['verify', 'nobody'], 'RUN_NOT_FOUND', 'nobody'],
    ['a run id that is a path', ['show', '../../etc'], 'INVALID_ID', '../../etc'],
    ['an unknown pause', ['answer', 'r1', 'r1@99', 'true'], 'PAUSE_MISMATCH', 'r1@7'],
    ['a pause of another run', ['answer', 'r1', 'r2@7', 'true'], 'PAUSE_MISMATCH', 'r2@7'],
    ['an answer that does not fit', ['answer', 'r1', 'r1@7', '"maybe"'], 'ANSWER_INVALID', 'true'],
    [
      'reconciling an approval',
      ['reconcile', 'r1', 'r1@7', '--kind', 'retry', '--reason', 'x'],
      'PROTOCOL',
      'use answer',
    ],
    [
      'reconciling nothing',
      ['reconcile', 'r1', '--kind', 'retry', '--reason', 'x'],
      'PAUSE_MISMATCH',
      'no uncertain attempt',
    ],
    [
      'reconciling without a reason',
      ['reconcile', 'r1', '--kind', 'retry'],
      'INVALID_COMMAND',
      '--reason',
    ],
    [
      'an unknown kind',
      ['reconcile', 'r1', '--kind', 'x', '--reason', 'x'],
      'INVALID_COMMAND',
      '"x"',
    ],
    [
      'completed without a result',
      ['reconcile', 'r1', '--kind', 'completed', '--reason', 'x'],
      'INVALID_COMMAND',
      '--result',
    ],
    ['a signal without a name', ['signal', 'r1', ' '], 'INVALID_OPTION', 'name'],
    ['a cancel without a reason', ['cancel', 'r1'], 'INVALID_COMMAND', '--reason'],
    ['an unknown status', ['list', '--status', 'lost'], 'INVALID_COMMAND', '"lost"'],
    ['a bad limit', ['list', '--limit', '0'], 'INVALID_OPTION', '0'],
    ['a bad cursor', ['list', '--cursor', 'x'], 'INVALID_OPTION', 'cursor'],
    ['an unknown command', ['rum'], 'INVALID_COMMAND', "'rum'"],
    ['an unknown option', ['list', '--colour'], 'INVALID_COMMAND', '--colour'],
    ['a missing argument', ['run'], 'INVALID_COMMAND', 'flow'],
    ['too many arguments', ['list', 'all'], 'INVALID_COMMAND', 'list'],
  ])('%s', async (_what, args, code, words) => {
    const { exitCode, document } = await place.json(args);
    expect(document.error).toMatchObject({ code, message: expect.stringContaining(words) });
    expect(document.error?.next).not.toBe('');
    expect(exitCode).toBe(2);
    expect(await everything()).toEqual(before);
  });

  it('tells every issue of a flow at once, each with its place', async () => {
    const { exitCode, document } = await place.json(['validate', 'unsound.json']);
    expect(exitCode).toBe(2);
    const errors = document['errors'] as { code: string; path: string }[];
    expect(errors.map(({ code, path }) => `${code} ${path}`)).toEqual(
      expect.arrayContaining([
        'INVALID_NODE_CONFIG /nodes/1/config/delayMs',
        'INVALID_EXPRESSION /nodes/2/config/expression',
        'UNKNOWN_NODE_TYPE /nodes/3/type',
        'UNKNOWN_EDGE_NODE /edges/1/target',
        'NO_FORWARD_INPUT /nodes/2',
      ]),
    );
    const run = await place.json(['run', 'unsound.json']);
    expect((run.document.error as { issues?: unknown[] }).issues).toHaveLength(errors.length);
  });

  it('refuses fields that mean nothing, in the flow, its nodes and its edges', async () => {
    const flow = {
      ...askFlow,
      name: 'Ask',
      description: 'asks',
      verson: 2,
      nodes: askFlow.nodes.map((node) => ({ ...node, position: { x: 1, y: 2 }, retry: 3 })),
      edges: askFlow.edges.map((edge) => ({ ...edge, when: 'x' })),
    };
    const file = place.write('fields.json', flow);
    const unknown = [
      '/verson',
      ...['/nodes/0/retry', '/nodes/1/retry', '/nodes/2/retry', '/nodes/3/retry'],
      ...['/edges/0/when', '/edges/1/when', '/edges/2/when'],
    ].map((path) => ({ code: 'UNKNOWN_FIELD', path }));
    for (const command of ['validate', 'run']) {
      const { exitCode, document } = await place.json([command, file, '--module', 'ask.mjs']);
      expect(exitCode).toBe(2);
      const errors = document['errors'] ?? (document.error as { issues?: unknown }).issues;
      expect(errors).toMatchObject(unknown);
    }
  });

  it('checks the flows that subflows name too, each issue with its file', async () => {
    const calls = (id: string, flow: string) => ({
      id,
      nodes: [
        { id: 's', type: 'trigger', config: {} },
        { id: 'c', type: 'subflow', config: { flow, input: {} } },
      ],
      edges: [{ id: 'e', source: 's', target: 'c' }],
    });
    const parent = place.write('sub-parent.json', calls('sub-parent', 'sub-child.json'));
    place.write('sub-child.json', { ...calls('sub-child', 'sub-leaf'), retry: 3 });
    const leaf = chainFlow('sub-leaf', 'work') as { nodes: object[] };
    place.write('sub-leaf.json', leaf);
    const wrong = [{ code: 'UNKNOWN_FIELD', path: 'sub-child.json#/retry' }];
    for (const command of ['validate', 'run']) {
      const { exitCode, document } = await place.json([command, parent]);
      expect(exitCode).toBe(2);
      const errors = document['errors'] ?? (document.error as { issues?: unknown }).issues;
      expect(errors).toMatchObject(wrong);
    }
    place.write('sub-child.json', calls('sub-child', 'sub-leaf'));
    expect((await place.json(['validate', parent])).document['errors']).toMatchObject([
      { code: 'FLOW_FUNCTION_MISSING', path: 'sub-leaf#/nodes/1/config' },
    ]);
  });

  it('counts one error as one, and none as none', async () => {
    const one = await place.call(['validate', 'wrong.json']);
    expect(one.out).toMatch(/ {2}1 error, 1 warning\n$/);
    const none = await place.call(['validate', 'ask.json']);
    expect(none.out).toMatch(/ {2}0 errors, 1 warning\n$/);
  });

  it('takes the largest input that fits an event and refuses a larger one at once', async () => {
    const nodes = [{ id: 't'.repeat(100), type: 'trigger', config: {} }];
    place.write('only.json', { id: 'only', nodes, edges: [] });
    const run = (bytes: number) => {
      place.write('large.json', JSON.stringify('x'.repeat(bytes - 2)));
      return place.json(['run', 'only.json', '--run-id', 'large', '--input', 'large.json']);
    };
    const refused = await run(256 * 1024);
    expect(refused.exitCode).toBe(2);
    expect(refused.document.error?.code).toBe('STORAGE_LIMIT_EXCEEDED');
    expect((await place.json(['show', 'large'])).document.error?.code).toBe('RUN_NOT_FOUND');
    const words = /is 262144 bytes of JSON; a flow's input may have (\d+)/;
    const limit = Number(words.exec(refused.document.error?.message ?? '')?.[1]);
    expect(limit).toBeGreaterThan(255_000);
    expect((await run(limit + 1)).exitCode).toBe(2);
    expect((await run(limit)).exitCode).toBe(0);
  });

  it('a person sees the same, on standard error only', async () => {
    const { exitCode, out, err } = await place.call(['run', 'unsound.json']);
    expect(exitCode).toBe(2);
    expect(out).toBe('');
    expect(err).toContain('/nodes/1/config/delayMs: ');
    expect(err).toMatch(/^Next: /m);
    expect(err).not.toMatch(/\n +at /);
  });

  it('a store that does not exist is not made by looking at it', async () => {
    const { document } = await place.json(['list', '--directory', 'elsewhere']);
    expect(document.error?.code).toBe('RUN_NOT_FOUND');
    expect(existsSync(place.path('elsewhere'))).toBe(false);
  });
});
