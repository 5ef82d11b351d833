/** Stored runs for scenarios: any graph, any store, time that only tests move. */
import {
  type AnyCompiledGraph,
  type Clock,
  compileGraph,
  createGraphExecutor,
  type EventEnvelope,
  type FlowFile,
  type FlowFunctions,
  type FlowNodesOptions,
  flowDefinition,
  flowGraphType,
  flowNodes,
  type GraphExecutor,
  type GraphExecutorOptions,
  type JsonValue,
  type NodeBindings,
  type RunResult,
  type RunStorage,
  startRun,
  verifyRun,
} from 'holdfast';
import { createMemoryRunStorage } from 'holdfast/storage/memory';
import { eventsOf, typesOf } from '../support/stored-events.ts';

/**
 * A clock whose time moves when it is told to. Turns of the executor go on by themselves, and so
 * does, as with a real clock, what is due at once.
 */
export interface HandClock extends Clock {
  /** Moves time and calls what is due on the way, in order. */
  pass(ms: number): void;
  /**
   * Resolves once all that asked this clock for a turn has had it: whatever goes on after that
   * waits for time, for a test, or for something outside of this process.
   */
  rest(): Promise<void>;
  /** How many timers wait. */
  readonly waiting: number;
}

export function handClock(startMs: number = Date.UTC(2026, 0, 1)): HandClock {
  let now = startMs;
  let asked = 0;
  const timers = new Set<{ readonly at: number; readonly callback: () => void }>();
  const soon = (callback: () => void) => {
    asked += 1;
    setImmediate(() => {
      asked -= 1;
      callback();
    });
  };
  return {
    now: () => now,
    after: (delayMs, callback) => {
      const timer = { at: now + delayMs, callback };
      timers.add(timer);
      const fire = () => {
        if (timers.delete(timer)) callback();
      };
      if (delayMs <= 0) soon(fire);
      return { cancel: () => void timers.delete(timer) };
    },
    soon,
    rest: async () => {
      do await nextTurn();
      while (asked > 0);
    },
    pass: (ms) => {
      const until = now + ms;
      for (;;) {
        const due = [...timers].filter(({ at }) => at <= until).sort((a, b) => a.at - b.at)[0];
        if (due === undefined) break;
        timers.delete(due);
        now = Math.max(now, due.at);
        due.callback();
      }
      now = until;
    },
    get waiting() {
      return timers.size;
    },
  };
}

export interface SceneOptions extends FlowNodesOptions {
  readonly runId?: string;
  readonly input?: JsonValue;
  readonly storage?: RunStorage;
  readonly clock?: Clock;
}

/** A stored run and the code it runs. */
export interface Scene {
  readonly storage: RunStorage;
  readonly graph: AnyCompiledGraph;
  readonly nodes: NodeBindings;
  /** A fresh executor, as a new process would make it. */
  open(options?: Partial<GraphExecutorOptions>): Promise<GraphExecutor>;
  /** Runs it in a fresh executor. */
  run(options?: Partial<GraphExecutorOptions>): Promise<RunResult>;
  /** Re-opens a position in a fresh executor. */
  resume(positions: string | readonly string[]): Promise<RunResult>;
  events(): Promise<readonly EventEnvelope[]>;
  /** Event types without `graph:`, in order. */
  types(): Promise<readonly string[]>;
  /** How often each position was dispatched. */
  positions(): Promise<readonly string[]>;
  /** Folds the record from scratch and proves that it gives the same decisions. */
  verify(): Promise<void>;
}

/** A stored run of a flow. */
export function flowScene(
  flow: FlowFile,
  functions: FlowFunctions = {},
  options: SceneOptions = {},
): Promise<Scene> {
  const graph = compileGraph(flowGraphType, flowDefinition(flow));
  return sceneOf(graph, flowNodes(flow, functions, options), options);
}

/** A stored run of any graph. */
export async function sceneOf(
  graph: AnyCompiledGraph,
  nodes: NodeBindings,
  options: SceneOptions = {},
): Promise<Scene> {
  const { runId = 'r1', input = null, clock } = options;
  const { storage = createMemoryRunStorage({ namespace: 'test', ...timed(clock) }) } = options;
  await startRun(storage, { runId, graph, input, ...timed(clock) });
  const open = (own: Partial<GraphExecutorOptions> = {}) =>
    createGraphExecutor({ runId, graph, storage, nodes, ...timed(clock), ...own });
  const events = () => eventsOf(storage, runId);
  return {
    storage,
    graph,
    nodes,
    open,
    run: async (own) => (await open(own)).run(),
    resume: async (positions) => (await open()).resume(positions),
    events,
    types: async () => typesOf(await events()),
    positions: async () =>
      (await events())
        .filter(({ type }) => type === 'graph:node-dispatched')
        .map(({ payload }) => (payload as { position: string }).position),
    verify: async () => void (await verifyRun(storage, { runId, graph })),
  };
}

/** The open pauses once there are as many as expected; the run goes on meanwhile. */
export async function pausesOf(executor: GraphExecutor, count = 1) {
  for (;;) {
    const pauses = await executor.pauses();
    if (pauses.length === count) return pauses;
    await nextTurn();
  }
}

/** Lets everything that waits for nothing but the event loop happen. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/**
 * Lets so many turns of the event loop happen: for tests that try one interleaving after another
 * and must hold in each. Who wants all to have happened awaits the clock's `rest`.
 */
export async function someTurns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await nextTurn();
}

/** The id of the first open pause of a result. */
export function pauseIdOf(result: RunResult): string {
  if (result.kind !== 'pause') throw new Error(`expected a pause, not ${result.kind}`);
  return result.pauses[0]?.pauseId ?? '';
}

function timed(clock: Clock | undefined): { readonly clock?: Clock } {
  return clock === undefined ? {} : { clock };
}
