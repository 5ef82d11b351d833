import fc from 'fast-check';
import type { DispatchCommand, JsonValue } from 'holdfast';
import { branchesOf, type DryRunChoice, type FlowGraph } from 'holdfast/flow';
import { createSeededRandom, randomChoices, randomFlow } from 'holdfast/testing';
import { describe, expect, test } from 'vitest';
import { type CompiledFlow, compiledFlow, dispatched, event, FlowRun } from './flow-run.ts';

const seeds = fc.record({
  seed: fc.integer(),
  nodes: fc.integer({ min: 1, max: 25 }),
  looseEnds: fc.boolean(),
});

/** A random flow whose tasks have retries and undos here and there. */
function graphOf(options: Parameters<typeof randomFlow>[0]): FlowGraph {
  const { nodes, edges } = randomFlow(options);
  const more = [{ retry: { max: 1, delayMs: 5 } }, { undo: { function: 'undo' } }, {}];
  return {
    edges,
    nodes: nodes.map((node, index) =>
      node.type === 'task' ? { ...node, config: { ...node.config, ...more[index % 3] } } : node,
    ),
  };
}

interface Driven {
  readonly run: FlowRun;
  readonly graph: FlowGraph;
  readonly seed: number;
  readonly chance: () => number;
}

/** Lets one thing happen to one open dispatch; takes it out of `open` when that ends it. */
function happen({ run, graph, seed, chance }: Driven, open: DispatchCommand[]): void {
  const at = Math.floor(chance() * open.length);
  const { nodeId, position, input } = open[at] as DispatchCommand;
  const occurrence = { nodeId, position };
  const what = chance();
  if (what < 0.1) {
    run.apply(event('node-paused', { ...occurrence, reason: 'x', request: { kind: 'approval' } }));
    return;
  }
  if (what < 0.2) return run.apply(event('node-resumed', occurrence));
  open.splice(at, 1);
  if (what < 0.3) {
    const code = what < 0.25 ? 'ABORTED' : 'EFFECT_FAILED';
    run.apply(event('node-failed', { ...occurrence, code, message: 'm', retryable: true }));
    return;
  }
  const runs = Number(/#(\d+)(?:\/\d+)?$/.exec(position)?.[1]);
  const choice = randomChoices(graph, seed)(nodeId, runs);
  if (choice === 'fail') {
    run.apply(event('node-failed', { ...occurrence, code: 'X', message: 'm', retryable: false }));
  } else {
    const result = resultOf(graph, nodeId, choice, input);
    run.apply(event('node-completed', { ...occurrence, result }));
  }
}

function resultOf(graph: FlowGraph, nodeId: string, choice: DryRunChoice, input: JsonValue) {
  const node = graph.nodes.find(({ id }) => id === nodeId);
  if (node === undefined) throw new Error('node');
  if (node.type === 'control.loop') {
    const { loop } = input as unknown as { readonly loop: { readonly iteration: number } };
    return { branch: loop.iteration <= 2 ? 'body' : 'done' };
  }
  const [branch] = choice as readonly string[];
  const output = { from: nodeId };
  return branchesOf(node).length < 2 ? { output } : { output, branch: branch ?? '' };
}

/** Runs to an end; `each` is called before every decision. */
function drive(driven: Driven, each: (run: FlowRun) => void): string {
  const { run } = driven;
  const open: DispatchCommand[] = [];
  for (let steps = 0; steps < 2_000; steps += 1) {
    each(run);
    const commands = run.turn();
    for (const command of commands) if (command.kind === 'dispatch') open.push(command);
    const [first] = commands;
    if (first !== undefined && first.kind !== 'dispatch' && first.kind !== 'pause')
      return first.kind;
    if (open.length === 0) throw new Error(`stuck after ${steps} steps`);
    happen(driven, open);
  }
  throw new Error('the run does not end');
}

const drivenOf = (seed: number, graph: FlowGraph, order: number): Driven => ({
  run: new FlowRun(compiledFlow(graph)),
  graph,
  seed,
  chance: chanceOf(order),
});

function chanceOf(order: number): () => number {
  const random = createSeededRandom(order);
  return () => random.next();
}

const foldOf = ({ compiled, events }: FlowRun) =>
  events.reduce(compiled.reduce, compiled.initialState());

describe('the cursor', () => {
  test('state, decision and undos equal those of the plain fold, at every decision', () => {
    const endings = new Set<string>();
    fc.assert(
      fc.property(seeds, fc.integer(), (options, order) => {
        const driven = drivenOf(options.seed, graphOf(options), order);
        let plain = driven.run.compiled.initialState();
        let folded = 0;
        const ending = drive(driven, ({ compiled, cursor, events }) => {
          for (const item of events.slice(folded)) plain = compiled.reduce(plain, item);
          folded = events.length;
          expect(cursor.state()).toEqual(plain);
          expect(cursor.decide()).toEqual(compiled.decide(plain));
          const undos = compiled.compensate?.(plain) ?? [];
          expect(undos.length).toBe(plain.undo.runs.length > 0 ? 1 : 0);
        });
        endings.add(ending);
      }),
      { numRuns: 250 },
    );
    expect([...endings].sort()).toEqual(['complete', 'fail']);
  });

  test('saved and opened again at any point it goes on equally', () => {
    fc.assert(
      fc.property(seeds, fc.integer(), (options, order) => {
        const driven = drivenOf(options.seed, graphOf(options), order);
        drive(driven, (run) => {
          if (driven.chance() > 0.5) return;
          const before = { state: run.cursor.state(), commands: run.cursor.decide() };
          run.cursor = run.compiled.open(JSON.parse(JSON.stringify(run.cursor.save())));
          expect({ state: run.cursor.state(), commands: run.cursor.decide() }).toEqual(before);
        });
        expect(run(driven).state()).toEqual(foldOf(driven.run));
      }),
      { numRuns: 150 },
    );
  });

  test('never dispatches a position twice', () => {
    fc.assert(
      fc.property(seeds, fc.integer(), (options, order) => {
        const driven = drivenOf(options.seed, graphOf(options), order);
        drive(driven, () => undefined);
        const positions = driven.run.dispatches.map(({ position }) => position);
        expect(new Set(positions).size).toBe(positions.length);
      }),
      { numRuns: 100 },
    );
  });

  test('events of no kind or place that it knows change nothing', () => {
    const flowRun = new FlowRun(compiledFlow(graphOf({ seed: 3, nodes: 10 })));
    flowRun.start();
    const before = flowRun.cursor.state();
    const occurrence = { nodeId: 'n0', position: 'flow/n0#9' };
    for (const odd of [
      event('signal-received', { name: 'x', signalId: 's', payload: 1 }),
      event('something-new', occurrence),
      event('node-completed', { ...occurrence, result: {} }),
      event('node-dispatched', occurrence),
      event('node-completed', { nodeId: 'nobody', position: 'flow/nobody#1', result: {} }),
      event('node-failed', { nodeId: 'n0', position: 'undo/flow/n0#1', code: 'X' }),
    ]) {
      flowRun.apply(odd);
      expect(flowRun.cursor.state()).toEqual(before);
      expect(foldOf(flowRun)).toEqual(before);
    }
  });
});

const run = (driven: Driven) => driven.run.cursor;

describe('undo', () => {
  const undoable = { function: 'f', undo: { function: 'g' } };
  const compiled = compiledFlow({
    nodes: [
      { id: 's', type: 'trigger', config: {} },
      { id: 'l', type: 'control.loop', config: { maxIterations: 2 } },
      { id: 'a', type: 'task', config: undoable },
      { id: 'b', type: 'task', config: undoable },
      { id: 'c', type: 'task', config: { function: 'f' } },
    ],
    edges: [
      { id: '1', source: 's', target: 'l' },
      { id: '2', source: 'l', target: 'a', sourceHandle: 'body' },
      { id: '3', source: 'a', target: 'l', targetHandle: 'next' },
      { id: '4', source: 'l', target: 'b', sourceHandle: 'done' },
      { id: '5', source: 'b', target: 'c' },
    ],
  });

  /** A run in which `a` ran twice and `b` once, and that is cancelled then. */
  function cancelled(): FlowRun {
    const flowRun = new FlowRun(compiled);
    flowRun.start('in');
    flowRun.complete('l', { branch: 'body' });
    flowRun.complete('a', { output: 'first' });
    flowRun.complete('l', { branch: 'body' });
    flowRun.complete('a', { output: 'second' });
    flowRun.complete('l', { branch: 'done' });
    flowRun.fail('b', { code: 'ABORTED', retryable: true });
    flowRun.complete('b', { output: 'third' });
    return flowRun;
  }

  const undo = (flowRun: FlowRun): readonly DispatchCommand[] => {
    const state = flowRun.cursor.state() as ReturnType<CompiledFlow['initialState']>;
    return (compiled.compensate?.(state) ?? []) as readonly DispatchCommand[];
  };

  /** Dispatches the next undo and lets it end. */
  const settle = (flowRun: FlowRun, type: string, payload: Record<string, JsonValue>): string => {
    const [command] = undo(flowRun);
    if (command === undefined) throw new Error('nothing to undo');
    flowRun.apply(dispatched(command));
    expect(undo(flowRun)).toEqual([]);
    const { nodeId, position } = command;
    flowRun.apply(event(type, { nodeId, position, ...payload }));
    return position;
  };

  test('completed occurrences are taken back one by one, the newest first', () => {
    const flowRun = cancelled();
    expect(undo(flowRun)).toMatchObject([
      { nodeId: 'b', input: { input: 'in', undo: true, output: 'third' } },
    ]);
    const completed = () => settle(flowRun, 'node-completed', { result: {} });
    expect([completed(), completed(), completed()]).toEqual([
      'undo/flow/b#1/2',
      'undo/flow/a#2',
      'undo/flow/a#1',
    ]);
    expect(undo(flowRun)).toEqual([]);
    expect(flowRun.cursor.state()).toMatchObject({
      plan: { nodes: { a: { status: 'rolled_back' }, b: { status: 'rolled_back' } } },
    });
  });

  test('a failed undo is noted, and the next one follows', () => {
    const flowRun = cancelled();
    settle(flowRun, 'node-failed', { code: 'GONE', message: 'm', retryable: true });
    expect(undo(flowRun)).toMatchObject([{ position: 'undo/flow/a#2' }]);
    expect(flowRun.cursor.state()).toMatchObject({
      plan: { nodes: { b: { status: 'succeeded' } } },
      undo: { failed: [{ position: 'undo/flow/b#1/2', code: 'GONE' }] },
    });
  });

  test('a node is rolled back only when its last run is', () => {
    const flowRun = cancelled();
    settle(flowRun, 'node-completed', { result: {} });
    settle(flowRun, 'node-failed', { code: 'GONE', message: 'm', retryable: false });
    settle(flowRun, 'node-completed', { result: {} });
    expect(flowRun.cursor.state()).toMatchObject({
      plan: { nodes: { a: { status: 'succeeded' }, b: { status: 'rolled_back' } } },
      undo: { runs: [], failed: [{ position: 'undo/flow/a#2' }] },
    });
  });

  test('an undo that a halt stopped is decided again at a position of its own', () => {
    const flowRun = cancelled();
    const halted = { code: 'ABORTED', message: 'm', retryable: true };
    settle(flowRun, 'node-failed', halted);
    settle(flowRun, 'node-failed', halted);
    expect(undo(flowRun)).toMatchObject([{ position: 'undo/flow/b#1/2~3' }]);
    settle(flowRun, 'node-completed', { result: {} });
    expect(undo(flowRun)).toMatchObject([{ position: 'undo/flow/a#2' }]);
  });

  test('the undos survive a save', () => {
    const flowRun = cancelled();
    settle(flowRun, 'node-completed', { result: {} });
    const opened = compiled.open(flowRun.cursor.save());
    expect(opened.state()).toEqual(flowRun.cursor.state());
    expect(opened.state()).toEqual(foldOf(flowRun));
  });
});

test('a run of a long chain costs the same per step wherever it stands: counted reads', () => {
  const length = 300;
  const nodes = Array.from({ length }, (_, at) => ({
    id: `n${at}`,
    type: at === 0 ? 'trigger' : 'task',
    config: at === 0 ? {} : { function: 'f' },
  }));
  const edges = nodes
    .slice(1)
    .map(({ id }, at) => ({ id: `e${at}`, source: `n${at}`, target: id }));
  const flowRun = new FlowRun(compiledFlow({ nodes, edges }));
  flowRun.start();
  for (let at = 1; at < length; at += 1) {
    const { input } = flowRun.last(`n${at}`);
    expect(Object.keys((input as { readonly nodes: object }).nodes)).toEqual([`n${at - 1}`]);
    flowRun.complete(`n${at}`, { output: at });
  }
  expect(flowRun.turn()).toMatchObject([{ kind: 'complete' }]);
});
