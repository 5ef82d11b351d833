/** What plain JavaScript may hand over in place of options is refused at once, by name. */
import {
  approval,
  choose,
  continueAsNew,
  createGraphExecutor,
  createTokenBudget,
  dataNode,
  defineFlow,
  driveRun,
  engineNode,
  engineSelection,
  flowNodes,
  graphNode,
  isHoldfastError,
  localPlan,
  loop,
  MockEngine,
  persistRunDefinition,
  runFlow,
  signal,
  startRun,
  subflow,
  task,
  verifyRun,
  waitNode,
} from 'holdfast';
import { createMemoryRunStorage } from 'holdfast/storage/memory';
import { describe, expect, test } from 'vitest';
import { dagOf, worldOf } from './world.ts';

const storage = createMemoryRunStorage({ namespace: 'test' });
const graph = dagOf(['a']);
const nodes = { a: dataNode(() => 1) };
const flow = { id: 'f', nodes: [], edges: [] };

type Call = (wrong: never) => unknown;

/** Each with what it is to be given there. */
const doors: readonly (readonly [what: string, option: string, call: Call])[] = [
  ['createGraphExecutor', 'options', (wrong) => createGraphExecutor(wrong)],
  [
    'createGraphExecutor, graph',
    'graph',
    (wrong) => createGraphExecutor({ runId: 'r', graph: wrong, storage, nodes }),
  ],
  [
    'createGraphExecutor, storage',
    'storage',
    (wrong) => createGraphExecutor({ runId: 'r', graph, storage: wrong, nodes }),
  ],
  ['startRun, storage', 'storage', (wrong) => startRun(wrong, { runId: 'r', graph, input: 1 })],
  ['startRun', 'options', (wrong) => startRun(storage, wrong)],
  [
    'startRun, graph',
    'graph',
    (wrong) => startRun(storage, { runId: 'r', graph: wrong, input: 1 }),
  ],
  ['persistRunDefinition', 'options', (wrong) => persistRunDefinition(storage, wrong)],
  ['localPlan', 'graph', (wrong) => localPlan(wrong)],
  ['verifyRun', 'options', (wrong) => verifyRun(storage, wrong)],
  ['verifyRun, graph', 'graph', (wrong) => verifyRun(storage, { runId: 'r', graph: wrong })],
  ['driveRun, bound', 'bound', (wrong) => driveRun(storage, wrong, { runId: 'r' })],
  ['driveRun', 'options', (wrong) => driveRun(storage, { graph, nodes }, wrong)],
  ['runFlow', 'flow', (wrong) => runFlow(wrong, 1)],
  ['flowNodes', 'flow', (wrong) => flowNodes(wrong, {})],
  ['flowNodes, functions', 'functions', (wrong) => flowNodes(flow, wrong)],
  ['defineFlow', 'flow', (wrong) => defineFlow(wrong)],
  ['task', 'options', (wrong) => task(() => 1, wrong)],
  ['approval', 'config', (wrong) => approval(wrong)],
  ['signal', 'config', (wrong) => signal(wrong)],
  ['loop', 'config', (wrong) => loop(wrong)],
  ['subflow', 'config', (wrong) => subflow(wrong)],
  ['choose', 'cases', (wrong) => choose(wrong)],
  ['waitNode', 'options', (wrong) => waitNode(wrong)],
  ['dataNode', 'options', (wrong) => dataNode(() => 1, wrong)],
  ['engineNode', 'options', (wrong) => engineNode(wrong)],
  ['graphNode', 'options', (wrong) => graphNode(wrong)],
  ['engineSelection', 'selection', (wrong) => engineSelection(wrong)],
  ['MockEngine', 'options', (wrong) => new MockEngine(() => 'x', wrong)],
  ['createTokenBudget', 'options', (wrong) => createTokenBudget(5, wrong)],
];

const refusal = async (work: () => unknown) => {
  try {
    await work();
    return null;
  } catch (error) {
    return isHoldfastError(error) ? { code: error.code, option: error.details['option'] } : error;
  }
};

describe('in place of options', () => {
  test.each(doors)('%s refuses null, a number and a text as %s', async (_what, option, call) => {
    for (const wrong of [null, 5, 'text']) {
      expect(await refusal(() => call(wrong as never))).toEqual({ code: 'INVALID_OPTION', option });
    }
  });

  test('the calls of an executor refuse what is missing', async () => {
    const executor = await (await worldOf(nodes)).open();
    const none = undefined as never;
    const calls: readonly (readonly [string, () => unknown])[] = [
      ['options', () => executor.answer('r1@1', 1, none)],
      ['pauseId', () => executor.answer(none, 1, { by: 'ada' })],
      ['reconciliation', () => executor.reconcile('r1@1', none)],
      ['options', () => executor.signal('paid', 1, none)],
      ['options', () => executor.cancel(none)],
    ];
    for (const [option, call] of calls) {
      expect(await refusal(call)).toEqual({ code: 'INVALID_OPTION', option });
    }
  });

  test.each<[string, () => unknown]>([
    ['retrysafe', () => dataNode(() => 1, { retrysafe: true } as never)],
    ['retries', () => engineNode({ prompt: () => 'hi', retries: 3 } as never)],
    ['node', () => graphNode({ graph, nodes, node: 1 } as never)],
  ])('a field that is misspelt is refused: %s', async (option, bind) => {
    expect(await refusal(bind)).toEqual({ code: 'INVALID_OPTION', option });
    expect(dataNode(() => 1, { retrysafe: undefined } as never)).toBeDefined();
  });

  test('an input that is left out of continueAsNew is left out', () => {
    expect(continueAsNew(undefined as never).build('a').config).toEqual({});
  });
});
