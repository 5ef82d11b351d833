/** What a host may bind, what it may not, and that both forms of a binding mean the same. */
import {
  type ActionDecision,
  createTokenBudget,
  type DataNodeOptions,
  dataNode,
  type EngineNodeOptions,
  engineNode,
  engineSelection,
  type GraphEngineBinding,
  type GraphNodeBinding,
  graphNode,
  type JsonObject,
  type JsonValue,
  MockEngine,
  type MockResponder,
  type NodeBinding,
  type NodeDataContext,
  type ResultContract,
} from 'holdfast';
import { describe, expect, it, test } from 'vitest';
import { worldOf } from '../executor/world.ts';
import { inOrder, scripted } from '../seeds/world.ts';
import { laneWorld, target } from './world.ts';

const big = target('big');
const roomy = {
  inputBytes: 10_000,
  outputBytes: 10_000,
  timeoutMs: 60_000,
  teardownGraceMs: 1_000,
  memoryBytes: 1_000_000,
  filesChanged: 0,
  linesChanged: 0,
  callTokens: null,
} as const;
const plain: GraphNodeBinding = {
  prompt: null,
  scratchDirectory: '/tmp',
  workspace: { mode: 'none', directory: null, allowedPaths: [] },
  trustedCaller: { user: 'ada' },
  permissions: ['read'],
  policy: roomy,
  resultContract: null,
  runData: null,
  parseResult: null,
  tokenBudget: null,
  decideAction: () => ({ kind: 'allow' }),
};
/** What the rules of the long form are in the short one. */
const roomyRules = {
  inputBytes: 10_000,
  outputBytes: 10_000,
  timeoutMs: 60_000,
  graceMs: 1_000,
  filesChanged: 0,
  linesChanged: 0,
};
const good: ResultContract = {
  schema: { type: 'object' },
  validate: (value) => {
    if ((value as JsonObject)['n'] === undefined) throw new Error('n is missing');
    return value;
  },
};
const deny = (): ActionDecision => ({ kind: 'deny', reason: 'not on a Friday' });
const wait = (): ActionDecision => ({ kind: 'wait', reason: 'who pays?', request: { sum: 5 } });

/** Events without what differs between two runs of the same. */
function comparable(events: readonly { readonly type: string; readonly payload: JsonValue }[]) {
  const text = JSON.stringify(events.slice(1).map(({ type, payload }) => ({ type, payload })));
  return JSON.parse(text.replaceAll(/"at":"[^"]*"/g, '"at":""')) as unknown;
}

describe('a data function in the long form does what the short form does', () => {
  type Options = DataNodeOptions<JsonValue>;
  it.each<[string, Partial<GraphNodeBinding>, Options, (input: JsonValue) => unknown]>([
    ['with nothing more', {}, {}, () => ({ n: 1 })],
    ['that returns nothing', {}, {}, () => undefined],
    [
      'that throws',
      {},
      {},
      () => {
        throw new Error('no');
      },
    ],
    ['that is retry-safe', { retrySafe: true }, { retrySafe: true }, () => 1],
    [
      'with a contract that holds',
      { resultContract: good },
      { resultContract: good },
      () => ({ n: 1 }),
    ],
    [
      'with a contract that does not',
      { resultContract: good },
      { resultContract: good },
      () => ({}),
    ],
    ['that is denied', { decideAction: deny }, { decideAction: deny }, () => 1],
    ['that has to wait', { decideAction: wait }, { decideAction: wait }, () => 1],
    [
      'whose input is too large',
      { policy: { ...roomy, inputBytes: 3 } },
      { inputBytes: 3 },
      () => 1,
    ],
    [
      'whose result is too large',
      { policy: { ...roomy, outputBytes: 3 } },
      { outputBytes: 3 },
      () => 'long',
    ],
    [
      'that is late',
      { policy: { ...roomy, timeoutMs: 1, teardownGraceMs: 0 } },
      { timeoutMs: 1, graceMs: 0 },
      () => new Promise(() => {}),
    ],
  ])('%s', async (_what, long, short, run) => {
    const recorded = async (binding: NodeBinding | GraphNodeBinding) => {
      const world = await worldOf({ a: dataNode(() => 1) });
      await (await world.open({ nodes: { a: binding } })).run();
      return comparable(await world.events());
    };
    const fromLong = await recorded({ ...plain, runData: ({ input }) => run(input), ...long });
    const fromShort = await recorded(dataNode(run, { ...roomyRules, ...short }));
    expect(fromLong).toEqual(fromShort);
  });
});

describe('a prompt in the long form does what the short form does', () => {
  type Options = Partial<EngineNodeOptions>;
  const budget = () => createTokenBudget(12);
  const parse: GraphNodeBinding['parseResult'] = (final) =>
    final.kind === 'assistant' ? { said: final.text } : null;
  it.each<[string, () => Partial<GraphNodeBinding>, () => Options, MockResponder]>([
    ['with nothing more', () => ({}), () => ({}), () => 'fine'],
    ['whose answer is structured', () => ({}), () => ({}), () => ({ structured: { n: 1 } })],
    [
      'whose engine fails',
      () => ({}),
      () => ({}),
      () => {
        throw new Error('no');
      },
    ],
    ['with a parser', () => ({ parseResult: parse }), () => ({ parseResult: parse }), () => 'fine'],
    [
      'with a contract',
      () => ({ resultContract: good }),
      () => ({ resultContract: good }),
      () => ({ structured: { n: 1 } }),
    ],
    [
      'with a contract that does not hold',
      () => ({ resultContract: good }),
      () => ({ resultContract: good }),
      () => ({ structured: {} }),
    ],
    [
      'with tokens for a call',
      () => ({ policy: { ...roomy, callTokens: { mode: 'observed', tokens: 50 } } }),
      () => ({ callTokens: { mode: 'observed', tokens: 50 } }),
      () => 'fine',
    ],
    [
      'with too few tokens',
      () => ({
        tokenBudget: budget(),
        policy: { ...roomy, callTokens: { mode: 'observed', tokens: 50 } },
      }),
      () => ({ tokenBudget: budget(), callTokens: { mode: 'observed', tokens: 50 } }),
      () => 'fine',
    ],
    ['that is denied', () => ({ decideAction: deny }), () => ({ decideAction: deny }), () => 'x'],
    [
      'whose answer is too large',
      () => ({ policy: { ...roomy, outputBytes: 3 } }),
      () => ({ outputBytes: 3 }),
      () => 'long',
    ],
    [
      'whose prompt is too large',
      () => ({ policy: { ...roomy, inputBytes: 3 } }),
      () => ({ inputBytes: 3 }),
      () => 'fine',
    ],
  ])('%s', async (_what, long, short, responder) => {
    const recorded = async (binding: NodeBinding | GraphNodeBinding) => {
      const world = await laneWorld({ targets: [big], responders: [responder] });
      await (await world.open({ nodes: { a: binding } })).run();
      const [call] = world.engines[0]?.calls ?? [];
      return [comparable(await world.events()), call && { ...call, timeoutMs: 0 }];
    };
    const prompt = () => 'hi';
    const own = { scratchDirectory: '/tmp', permissions: ['read'], memoryBytes: 1_000_000 };
    const fromLong = await recorded({ ...plain, prompt, ...long() });
    const fromShort = await recorded(engineNode({ prompt, ...own, ...roomyRules, ...short() }));
    expect(fromLong).toEqual(fromShort);
  });
});

test('the long form gives its function what the host vouches for', async () => {
  const seen: NodeDataContext[] = [];
  const world = await worldOf({ a: dataNode(() => 1) });
  const runData = (context: NodeDataContext) => void seen.push(context);
  await (await world.open({ nodes: { a: { ...plain, runData } } })).run();
  expect(seen).toEqual([
    {
      input: { positionSummary: 'node a, attempt 1' },
      memory: null,
      signal: expect.any(AbortSignal),
      scratchDirectory: '/tmp',
      workspaceDirectory: null,
      trustedCaller: { user: 'ada' },
      permissions: ['read'],
    },
  ]);
});

/** The code and the message with which `make` throws. */
function thrown(make: () => unknown) {
  try {
    make();
  } catch (error) {
    return error as { readonly code?: string; readonly message: string };
  }
  return { code: 'NOTHING_THROWN', message: '' };
}

/** Each of these is a mistake that only plain JavaScript lets through. */
const wrongRules: readonly (readonly [object, RegExp])[] = [
  [{ retrySafe: 'yes' }, /retrySafe/],
  [{ timeoutMs: 0 }, /timeoutMs/],
  [{ timeoutMs: '1s' }, /timeoutMs/],
  [{ timeoutMs: Number.POSITIVE_INFINITY }, /timeoutMs/],
  [{ graceMs: -1 }, /graceMs/],
  [{ decideAction: 'allow' }, /decideAction/],
  [{ largeResult: 'inline' }, /largeResult/],
  [{ inputBytes: -1 }, /inputBytes/],
  [{ outputBytes: 1.5 }, /outputBytes/],
  [{ filesChanged: 'all' }, /filesChanged/],
  [{ linesChanged: Number.NaN }, /linesChanged/],
  [{ workspace: 'none' }, /workspace/],
  [{ workspace: { mode: 'read', directory: 'here', allowedPaths: [] } }, /workspace\.directory/],
  [{ resultContract: null }, /resultContract/],
  [{ resultContract: 'object' }, /resultContract/],
  [{ resultContract: { schema: {} } }, /resultContract\.validate/],
  [{ resultContract: { validate: () => 1 } }, /resultContract\.schema/],
  [{ resultContract: { schema: () => 1, validate: () => 1 } }, /resultContract\.schema/],
];

describe('a wrong option is refused when the node is bound', () => {
  it.each(wrongRules)('of dataNode: %o', (options, place) => {
    const { code, message } = thrown(() => dataNode(() => 1, options as never));
    expect(code).toBe('INVALID_OPTION');
    expect(message).toMatch(place);
  });

  it.each([
    ...wrongRules,
    [{ prompt: 'hello' }, /prompt/],
    [{ prompt: undefined }, /prompt/],
    [{ system: 7 }, /system/],
    [{ permissions: 'read' }, /permissions/],
    [{ permissions: [1] }, /permissions/],
    [{ scratchDirectory: 7 }, /scratchDirectory/],
    [{ parseResult: 'json' }, /parseResult/],
    [{ memoryBytes: 0 }, /memoryBytes/],
    [{ callTokens: null }, /callTokens/],
    [{ callTokens: 100 }, /callTokens/],
    [{ callTokens: { mode: 'soft', tokens: 1 } }, /callTokens\.mode/],
    [{ callTokens: { mode: 'hard', tokens: 0 } }, /callTokens\.tokens/],
    [{ tokenBudget: 1_000 }, /tokenBudget/],
    [{ tokenBudget: null }, /tokenBudget/],
  ] as const)('of engineNode: %o', (options, place) => {
    const { code, message } = thrown(() => engineNode({ prompt: () => '', ...options } as never));
    expect(code).toBe('INVALID_OPTION');
    expect(message).toMatch(place);
  });

  it.each<[string, () => unknown]>([
    ['engineNode without options', () => engineNode(undefined as never)],
    ['engineNode of a function', () => engineNode((() => 'hi') as never)],
    ['dataNode without a function', () => dataNode(undefined as never)],
    ['dataNode with null for its options', () => dataNode(() => 1, null as never)],
    ['dataNode with a text for its options', () => dataNode(() => 1, 'retrySafe' as never)],
    ['graphNode without options', () => graphNode(undefined as never)],
    ['graphNode of a definition', () => graphNode({ graph: {} as never, nodes: {} })],
    [
      'graphNode with an input that is no function',
      () => graphNode({ graph: single, nodes: inner, input: {} as never }),
    ],
    [
      'graphNode with a result that is no function',
      () => graphNode({ graph: single, nodes: inner, result: 'output' as never }),
    ],
    [
      'graphNode with engines that are no list',
      () => graphNode({ graph: single, nodes: inner, engines: {} as never }),
    ],
  ])('%s', (_what, make) => {
    expect(thrown(make).code).toBe('INVALID_OPTION');
  });

  it('a graph node that leaves a node of its graph unbound', () => {
    for (const nodes of [{}, undefined, null, { b: dataNode(() => 1) }]) {
      const { code, message } = thrown(() => graphNode({ graph: single, nodes: nodes as never }));
      expect(code).toBe('MISSING_NODE_BINDING');
      expect(message).toMatch(/Node a /);
    }
  });
});

const single = scripted({ nodes: { a: null }, decide: inOrder(['a', 'a/1']) });
const inner = { a: dataNode(() => 1) };

describe('a binding in the long form is refused when the run is opened, naming its node', () => {
  const runData = () => 1;
  it.each<[string, object, RegExp]>([
    ['with both kinds of work', { prompt: () => 'hi', runData }, /binding of a.*either/],
    ['with neither', { prompt: null, runData: null }, /binding of a.*either/],
    ['that leaves one of them out', { runData, prompt: undefined }, /binding of a.*either/],
    ['whose function is none', { runData: 'run' }, /binding of a.*runData/],
    ['without a policy', { runData, policy: undefined }, /binding of a.*policy/],
    [
      'without its decideAction',
      { runData, decideAction: undefined },
      /binding of a.*decideAction/,
    ],
    ['without a workspace', { runData, workspace: undefined }, /binding of a.*workspace/],
    [
      'with a wrong time',
      { runData, policy: { ...roomy, timeoutMs: -1 } },
      /binding of a.*timeoutMs/,
    ],
    [
      'with a size left out',
      { runData, policy: { ...roomy, inputBytes: undefined } },
      /binding of a.*inputBytes/,
    ],
    ['with wrong permissions', { runData, permissions: 'read' }, /binding of a.*permissions/],
    ['with no caller', { runData, trustedCaller: 'ada' }, /binding of a.*trustedCaller/],
    ['with a wrong contract', { runData, resultContract: {} }, /binding of a.*resultContract/],
  ])('%s', async (_what, more, why) => {
    const world = await worldOf({ a: dataNode(() => 1) });
    const opened = world.open({ nodes: { a: { ...plain, ...more } as never } });
    await expect(opened).rejects.toMatchObject({
      code: 'INVALID_OPTION',
      message: expect.stringMatching(why),
    });
  });
});

describe('what is no binding is refused when the run is opened', () => {
  it.each<[string, unknown]>([
    ['a function', () => 1],
    ['null', null],
    ['a text', 'a'],
    ['an empty object', {}],
    ['an object with a function alone', { run: () => 1 }],
    ['an object with an engine alone', { engine: null }],
  ])('%s for a node', async (_what, binding) => {
    const world = await worldOf({ a: dataNode(() => 1) });
    await expect(world.open({ nodes: { a: binding as never } })).rejects.toMatchObject({
      code: 'MISSING_NODE_BINDING',
      message: expect.stringMatching(/Node a .*dataNode/),
    });
  });

  it('no bindings at all', async () => {
    const world = await worldOf({ a: dataNode(() => 1) });
    await expect(world.open({ nodes: undefined as never })).rejects.toMatchObject({
      code: 'MISSING_NODE_BINDING',
    });
  });

  it('a node on a lane that is bound to a function, and the other way round', async () => {
    const lanes = await laneWorld({ targets: [big], responders: [] });
    await expect(lanes.open({ nodes: { a: dataNode(() => 1) } })).rejects.toMatchObject({
      code: 'MISSING_NODE_BINDING',
      message: expect.stringMatching(/Node a runs on lane lane/),
    });
    const world = await worldOf({ a: dataNode(() => 1) });
    const prompt = () => 'hi';
    await expect(world.open({ nodes: { a: engineNode({ prompt }) } })).rejects.toMatchObject({
      code: 'MISSING_NODE_BINDING',
      message: expect.stringMatching(/Node a has no lane/),
    });
  });
});

describe('an engine binding that is none is refused, naming its place', () => {
  const engine = MockEngine.forTarget(big);
  const fits = { target: big, engine };
  const selection = engineSelection({ ...big, capabilities: big.tools });
  it.each<[string, unknown, RegExp]>([
    ['null', [null], /engines\[0\]/],
    ['an engine alone', [engine], /engines\[0\]/],
    ['no engine', [{ target: big }], /engines\[0\]\.engine/],
    ['an engine that cannot run', [{ target: big, engine: { name: 'x' } }], /engines\[0\]\.engine/],
    ['no target', [{ engine }], /engines\[0\]\.target/],
    [
      'a target without tools',
      [{ engine, target: { ...big, tools: undefined } }],
      /engines\[0\]\.target/,
    ],
    [
      'a target without a model',
      [{ engine, target: { ...big, model: undefined } }],
      /engines\[0\]\.target/,
    ],
    [
      'a target with tools that are no texts',
      [{ engine, target: { ...big, tools: [7] } }],
      /engines\[0\]\.target/,
    ],
    [
      'a limit that is no truth',
      [{ ...fits, hardTokenLimitEnforceable: 'yes' }],
      /engines\[0\]\.hardToken/,
    ],
    ['an identity that is none', [{ ...fits, selection: 'mock' }], /engines\[0\]\.selection/],
    ['an identity that is null', [{ ...fits, selection: null }], /engines\[0\]\.selection/],
    [
      'an identity without capabilities',
      [{ ...fits, selection: { ...selection, capabilities: undefined } }],
      /engines\[0\]\.selection/,
    ],
    [
      'an identity without a model',
      [{ ...fits, selection: { ...selection, model: null } }],
      /engines\[0\]\.selection/,
    ],
    [
      'an identity of another provider',
      [{ ...fits, selection: { ...selection, provider: 'x' } }],
      /engines\[0\]\.selection/,
    ],
    [
      'an identity with other tools',
      [{ ...fits, selection: { ...selection, capabilities: ['x'] } }],
      /engines\[0\]\.selection/,
    ],
    ['the same target twice', [fits, fits], /engines\[1\]/],
    ['a target that is not planned', [fits, { engine, target: target('huge') }], /huge/],
    ['none', [], /big/],
    ['no list', fits, /engines must be a list/],
  ])('%s', async (_what, engines, why) => {
    const world = await laneWorld({ targets: [big], responders: [] });
    const opened = world.open({ engines: engines as readonly GraphEngineBinding[] });
    await expect(opened).rejects.toMatchObject({
      code: 'MISSING_ENGINE_BINDING',
      message: expect.stringMatching(why),
    });
    expect(await world.types()).toEqual(['run-started']);
  });
});
