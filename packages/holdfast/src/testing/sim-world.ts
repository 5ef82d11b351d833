/**
 * The world of one simulation: time, the store that outlives every process, the processes, and
 * what has been found wrong. The executor in it is the production one.
 */
import { realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import type { GraphEngineBinding } from '../attempt/engine-work.ts';
import { errorText, isHoldfastError } from '../base/errors.ts';
import type { JsonValue } from '../base/json.ts';
import type { Ids } from '../base/ports.ts';
import type { GraphExecutor } from '../executor/executor.ts';
import { assembleExecutor } from '../executor/graph-executor.ts';
import type { EngineLine } from '../executor/options.ts';
import type { AnyCompiledGraph } from '../graph/graph-type.ts';
import type { RunResult } from '../run/run-result.ts';
import type { LeaseGrant } from '../store/lease-store.ts';
import type { RunStorage } from '../store/storage.ts';
import { createFakeClock, type FakeClock } from './fake-clock.ts';
import { createSeededRandom, type SeededRandom } from './seeded-random.ts';
import { ProcessBudgets, SimBudget } from './sim-budget.ts';
import type { SimCall } from './sim-call.ts';
import { type AskedCall, SimCalls } from './sim-calls.ts';
import { type EngineHost, simulatedEngine, TOO_LATE } from './sim-engine.ts';
import { planExtras, type WorldExtras } from './sim-extras.ts';
import { SimFaults } from './sim-faults.ts';
import { targetKey } from './sim-lanes.ts';
import { SimLedger } from './sim-ledger.ts';
import { plannedNodes, type WorkHost } from './sim-nodes.ts';
import type { SimulationOptions } from './sim-options.ts';
import { planRun, type RunPlan } from './sim-plan.ts';
import { SimProcess } from './sim-process.ts';
import { SimRecord } from './sim-record.ts';
import { LATE_SECRET, refuseSecret, SimStreams } from './sim-secret.ts';
import { faultyStorage } from './sim-storage.ts';
import { SimStore, SMALL_EVENT_BYTES } from './sim-store.ts';
import { SimTrace } from './sim-trace.ts';
import { SimViolation } from './sim-violation.ts';

/** The run that a simulation is about. */
export const ROOT_RUN_ID = 'root';

/** Places at which a test may put something wrong between the executor and its world. */
export interface SimulationSeams {
  /** Between the medium and the store. */
  readonly storage?: (storage: RunStorage, process: SimProcess) => RunStorage;
  readonly graph?: (graph: AnyCompiledGraph, process: SimProcess) => AnyCompiledGraph;
}

/** Nothing is written there: the engines are simulated too. */
const SCRATCH = realpathSync(tmpdir());

export class SimWorld {
  readonly options: SimulationOptions;
  readonly clock: FakeClock = createFakeClock();
  readonly trace: SimTrace = new SimTrace(this.clock);
  readonly random: SeededRandom;
  readonly plan: RunPlan;
  readonly extras: WorldExtras;
  readonly record: SimRecord;
  readonly violations: string[] = [];
  readonly faults: SimFaults;
  /** What the run came to, once a process has been told. */
  result: RunResult | null = null;
  /** When something was last appended, in milliseconds since the epoch. */
  lastAppendMs: number;
  readonly #seams: SimulationSeams;
  readonly #ledger: SimLedger;
  readonly #calls: SimCalls;
  readonly #streams = new SimStreams();
  readonly #store: SimStore;
  /** Each process counts for itself. */
  readonly #budgets: ProcessBudgets;
  readonly #alive = new Map<string, SimProcess>();
  readonly #graphs = new Map<string, RunPlan>();
  #processes = 0;
  #executors = 0;

  constructor(options: SimulationOptions, seams: SimulationSeams) {
    this.options = options;
    this.#seams = seams;
    this.random = createSeededRandom(options.seed);
    const { form, nodes } = options;
    this.extras = planExtras(this.random.fork('extras'), options);
    const isSole = options.owners === 1;
    const mayCheck = isSole || options.leases || this.extras.rivalUntilMs !== null;
    const extras = options.extras === true ? this.extras : null;
    const request = { id: ROOT_RUN_ID, form, nodes, depth: 2, mayCheck, extras };
    this.plan = planRun(this.random.fork('plan'), request);
    this.#learn(this.plan);
    this.faults = new SimFaults(this.random.fork('faults'), options);
    this.lastAppendMs = this.clock.now();
    const { budget: plan } = this.extras;
    const budgets = { plan, budget: new SimBudget(plan), isSole };
    this.#calls = new SimCalls(this.trace, () => this.clock.now(), budgets);
    this.#budgets = new ProcessBudgets(plan);
    this.#store = new SimStore({
      options,
      extras: this.extras,
      clock: this.clock,
      trace: this.trace,
      isProvenDead: ({ id }) => !this.#alive.has(id),
      heldBytes: () => this.#heldBytes(),
    });
    this.record = new SimRecord({
      backing: this.#store.backing,
      trace: this.trace,
      clock: this.clock,
      maxConcurrentAttempts: options.maxConcurrentAttempts,
      severalOwners: options.owners > 1,
      planOf: (graphId) => this.#graphs.get(graphId),
      witness: this.#calls,
      store: { isFull: this.extras.quota !== null, mayFail: options.ioErrors > 0 },
      knowsLate: (writer) => this.#store.knowsLate(writer),
    });
    this.#ledger = new SimLedger(this.record, this.trace);
  }

  /** The store without anything that goes wrong in between. */
  get soundStorage(): RunStorage {
    return this.#watched(this.#store.whole);
  }

  /** True once the run has ended and a process knows it, or something was found wrong. */
  get isOver(): boolean {
    return this.result !== null || this.violations.length > 0;
  }

  spawn(name: string, isOnlooker = false): SimProcess {
    this.#processes += 1;
    const process = new SimProcess(`${name}.${this.#processes}`, this.clock, isOnlooker);
    this.#alive.set(process.name, process);
    this.trace.add(process.name, 'starts');
    return process;
  }

  kill(process: SimProcess, why: string): void {
    if (process.isAlive) this.trace.add(process.name, why);
    process.kill();
    this.#alive.delete(process.name);
  }

  killAll(): void {
    for (const process of this.#alive.values()) process.kill();
    this.#alive.clear();
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.clock.after(ms, resolve);
    });
  }

  /** The store as this process reaches it. */
  storageOf(process: SimProcess): RunStorage {
    const watched = this.#watched(this.#store.storageOf(process.name));
    const inner = this.#seams.storage?.(watched, process) ?? watched;
    const { faults, trace } = this;
    const medium = { process, faults, trace, sleep: (ms: number) => this.sleep(ms) };
    return this.#learning(faultyStorage(inner, medium), process);
  }

  executor(
    process: SimProcess,
    storage: RunStorage,
    lease: LeaseGrant | null = null,
  ): Promise<GraphExecutor> {
    const { maxConcurrentAttempts, maxIdleMs, snapshotTailEvents } = this.options;
    const { graph } = this.plan;
    return assembleExecutor(
      {
        runId: ROOT_RUN_ID,
        graph: this.#seams.graph?.(graph, process) ?? graph,
        storage,
        nodes: plannedNodes(this.plan, this.#workHost(process)),
        engines: this.#engines(process),
        preflightScratchDirectory: SCRATCH,
        onEngineEvent: (line) => this.check(() => this.#hear(line)),
        onLog: (line) => this.check(() => refuseSecret('a line of the log', JSON.stringify(line))),
        clock: process.clock,
        ids: this.#idsOf(process),
        maxConcurrentAttempts,
        ...(maxIdleMs === null ? {} : { maxIdleMs }),
        ...(lease === null ? {} : { lease }),
      },
      { snapshotTailEvents },
    );
  }

  /** Notes what is found wrong; the simulation then stops. */
  check(what: () => void): void {
    try {
      what();
    } catch (error) {
      if (!(error instanceof SimViolation)) throw error;
      this.violate(error.message);
    }
  }

  violate(what: string): void {
    this.trace.add('VIOLATION', what);
    this.violations.push(what);
  }

  /** A process has been told what the run came to. */
  concluded(result: RunResult, who: string): void {
    this.trace.add(who, `has the result ${JSON.stringify(result).slice(0, 200)}`);
    const end = this.record.referee(ROOT_RUN_ID)?.end;
    if (end === null || end === undefined) {
      this.violate(`${who} was told of an end that no log holds`);
    } else if (this.result !== null && !same(this.result, result)) {
      this.violate(`${who} was told ${JSON.stringify(result)}, not ${JSON.stringify(this.result)}`);
    }
    this.result ??= result;
  }

  /** An error that no fault of this simulation explains is a violation. */
  explain(error: unknown, who: string, expected: readonly string[]): void {
    const code = isHoldfastError(error) ? error.code : 'no code';
    this.trace.add(who, `is refused: ${code} ${errorText(error).slice(0, 200)}`);
    this.trace.count(`refused ${code}`);
    this.check(() => refuseSecret(`the refusal of ${who}`, errorText(error)));
    if (expected.includes(code)) return;
    const stack = error instanceof Error ? error.stack : '';
    this.violate(`${who} was refused with ${code}: ${errorText(error)}\n${stack}`);
  }

  #heldBytes(): number | null {
    const isStored = this.record.referee(ROOT_RUN_ID) !== undefined;
    return isStored ? this.record.artifactBytes(ROOT_RUN_ID) : null;
  }

  #idsOf(process: SimProcess): Ids {
    return {
      next: () => {
        this.#executors += 1;
        return `${process.name}/${this.#executors}`;
      },
    };
  }

  /** Whoever listens hears no secret, and nothing after the end of a call. */
  #hear({ runId, position, event }: EngineLine): void {
    const stream = `${runId} ${position}`;
    refuseSecret(`an event of ${stream}`, JSON.stringify(event));
    if (event.kind !== 'text') return;
    this.trace.count('heard');
    this.#streams.hear(stream, event.text);
    if (!event.text.includes(TOO_LATE)) return;
    throw new SimViolation(`an engine of ${stream} was heard after its end`);
  }

  /** The engines of all lanes, in this process. A target that two lanes share has one. */
  #engines(process: SimProcess): readonly GraphEngineBinding[] {
    const { mayDie } = this.#workHost(process);
    const host: EngineHost = {
      process,
      mayDie,
      acts: (act) => this.trace.count(`act ${act}`),
      sleep: (ms) => this.sleep(ms),
      largeLength: 2 * SMALL_EVENT_BYTES,
      asked: (seat) => this.#calls.ask(seat),
      called: (asked) => this.#called({ ...asked, process }, process),
    };
    const seats = this.plan.lanes.flatMap((lane) => lane.seats);
    const distinct = new Map(seats.map((seat) => [targetKey(seat.target), seat]));
    return [...distinct.values()].map((seat) => ({
      target: seat.target,
      engine: simulatedEngine(seat, host),
      hardTokenLimitEnforceable: seat.enforcesLimit === true,
    }));
  }

  #called(asked: AskedCall, process: SimProcess): SimCall {
    if (!process.isAlive) return this.#calls.uncounted(asked);
    const calls: SimCall[] = [];
    this.check(() => this.#calls.called(this.record, asked, (call) => calls.push(call)));
    return calls[0] ?? this.#calls.uncounted(asked);
  }

  /** What a process has read or written it knows of. */
  #learning(storage: RunStorage, { name }: SimProcess): RunStorage {
    const { eventStore } = storage;
    const calls = this.#calls;
    return {
      ...storage,
      eventStore: {
        ...eventStore,
        append: async (stream, ...given) => {
          const done = await eventStore.append(stream, ...given);
          calls.learns(name, stream.streamId, done.sequence);
          return done;
        },
        read: async function* (stream, options) {
          for await (const event of eventStore.read(stream, options)) {
            calls.learns(name, stream.streamId, event.sequence);
            yield event;
          }
        },
      },
    };
  }

  #workHost(process: SimProcess): WorkHost {
    const ifAlive = (what: () => void) => {
      if (process.isAlive) this.check(what);
    };
    return {
      process,
      budgetOf: (plan) => this.#budgets.of(process.name, plan),
      lateSecret:
        this.extras.lateSecretFrom === null || this.#store.knowsLate(process.name)
          ? null
          : LATE_SECRET,
      enter: (context) => ifAlive(() => this.#ledger.enter(context, process.name)),
      effect: (context) => ifAlive(() => this.#ledger.effect(context)),
      step: (context, name, retrySafe) =>
        ifAlive(() => this.#ledger.step({ context, name, retrySafe, who: process.name })),
      mayDie: (place) => {
        if (!process.isAlive || !this.faults.point()) return;
        this.trace.count('crash');
        this.kill(process, `DIES at ${place}`);
      },
    };
  }

  /** Reads every stream after each write. */
  #watched(storage: RunStorage): RunStorage {
    const { eventStore, snapshotStore } = storage;
    const observed = async <Value>(work: Promise<Value>): Promise<Value> => {
      this.#observe();
      try {
        return await work;
      } finally {
        this.#observe();
      }
    };
    return {
      ...storage,
      eventStore: {
        append: (...given) => observed(eventStore.append(...given)),
        compact: (...given) => observed(eventStore.compact(...given)),
        read: (...given) => eventStore.read(...given),
        readAt: (...given) => eventStore.readAt(...given),
        end: (...given) => eventStore.end(...given),
        subscribe: (...given) => eventStore.subscribe(...given),
        sync: () => eventStore.sync(),
      },
      snapshotStore: {
        newest: (...given) => snapshotStore.newest(...given),
        save: (...given) => observed(snapshotStore.save(...given)),
      },
    };
  }

  #observe(): void {
    this.check(() => {
      if (this.record.observe()) this.lastAppendMs = this.clock.now();
    });
  }

  #learn(plan: RunPlan): void {
    this.#graphs.set(plan.graph.definition.value.id, plan);
    for (const node of plan.nodes.values()) if (node.kind === 'child') this.#learn(node.plan);
  }
}

function same(left: RunResult, right: RunResult): boolean {
  return JSON.stringify(left as unknown as JsonValue) === JSON.stringify(right);
}
