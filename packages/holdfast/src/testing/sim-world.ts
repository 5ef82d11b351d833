/**
 * The world of one simulation: time, the store that outlives every process, the processes, and
 * what has been found wrong. The executor in it is the production one.
 */
import { realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { createMemoryBacking } from '../adapters/memory/backing.ts';
import { createMemoryRunStorage } from '../adapters/memory/storage.ts';
import type { GraphEngineBinding } from '../attempt/engine-work.ts';
import { errorText, isHoldfastError } from '../base/errors.ts';
import type { JsonValue } from '../base/json.ts';
import type { Ids } from '../base/ports.ts';
import { createTokenBudget, type TokenBudget } from '../engine/token-budget.ts';
import type { GraphExecutor } from '../executor/executor.ts';
import { assembleExecutor } from '../executor/graph-executor.ts';
import type { EngineLine } from '../executor/options.ts';
import type { AnyCompiledGraph } from '../graph/graph-type.ts';
import type { RunResult } from '../run/run-result.ts';
import type { LeaseGrant } from '../store/lease-store.ts';
import { defaultStoragePolicy, type RunStoragePolicy } from '../store/policy.ts';
import type { RunStorage } from '../store/storage.ts';
import { createFakeClock, type FakeClock } from './fake-clock.ts';
import { createSeededRandom, type SeededRandom } from './seeded-random.ts';
import { SimBudget } from './sim-budget.ts';
import type { SimCall } from './sim-call.ts';
import { type AskedCall, SimCalls } from './sim-calls.ts';
import { type EngineHost, simulatedEngine, TOO_LATE } from './sim-engine.ts';
import { planExtras, type WorldExtras } from './sim-extras.ts';
import { SimFaults } from './sim-faults.ts';
import { type EnginePlan, targetKey } from './sim-lanes.ts';
import { SimLedger } from './sim-ledger.ts';
import { plannedNodes, type WorkHost } from './sim-nodes.ts';
import type { SimulationOptions } from './sim-options.ts';
import { planRun, type RunPlan } from './sim-plan.ts';
import { SimProcess } from './sim-process.ts';
import { SimRecord } from './sim-record.ts';
import {
  LATE_SECRET,
  refuseSecret,
  SECRET_LINES,
  SIMULATED_SECRET,
  SimStreams,
} from './sim-secret.ts';
import { faultyStorage } from './sim-storage.ts';
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

const SMALL_EVENT_BYTES = 2_048;
const SMALL_BATCH_BYTES = 3_072;

function policyOf({ smallBatches, form }: SimulationOptions): RunStoragePolicy {
  // What engines say and nodes return is often too large for an event.
  const maxEventPayloadBytes =
    smallBatches || form === 'lanes'
      ? SMALL_EVENT_BYTES
      : defaultStoragePolicy.maxEventPayloadBytes;
  const { maxAppendBatchBytes } = smallBatches
    ? { maxAppendBatchBytes: SMALL_BATCH_BYTES }
    : defaultStoragePolicy;
  return { ...defaultStoragePolicy, maxEventPayloadBytes, maxAppendBatchBytes };
}

interface StorageVariant {
  readonly knowsLate: boolean;
  /** Bytes of artifacts; null = as many as by default. */
  readonly quota: number | null;
}

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
  readonly #backing = createMemoryBacking();
  readonly #storages = new Map<string, RunStorage>();
  readonly #startMs: number;
  #narrowBytes: number | null = null;
  /** Each process counts for itself. */
  readonly #budgets = new Map<
    string,
    { readonly shared: TokenBudget; readonly own: Map<EnginePlan, TokenBudget> }
  >();
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
    this.#startMs = this.clock.now();
    const { budget: plan } = this.extras;
    const budgets = { plan, budget: new SimBudget(plan), isSole };
    this.#calls = new SimCalls(this.trace, () => this.clock.now(), budgets);
    const backing = this.#backing;
    this.record = new SimRecord({
      backing,
      trace: this.trace,
      clock: this.clock,
      maxConcurrentAttempts: options.maxConcurrentAttempts,
      severalOwners: options.owners > 1,
      planOf: (graphId) => this.#graphs.get(graphId),
      witness: this.#calls,
      store: { isFull: this.extras.quota !== null, mayFail: options.ioErrors > 0 },
      knowsLate: (writer) => this.#knowsLate(writer),
    });
    this.#ledger = new SimLedger(this.record, this.trace);
  }

  /** The store without anything that goes wrong in between. */
  get soundStorage(): RunStorage {
    return this.#watched(this.#memory({ knowsLate: true, quota: null }));
  }

  /** The store with the secrets that a process knows, and the quota of now. */
  #memory(which: StorageVariant): RunStorage {
    const key = JSON.stringify([which.knowsLate, which.quota]);
    const storage = this.#storages.get(key) ?? this.#createMemory(which);
    this.#storages.set(key, storage);
    return storage;
  }

  #createMemory(which: StorageVariant): RunStorage {
    const { form } = this.options;
    const policy = policyOf(this.options);
    const late = which.knowsLate && this.extras.lateSecretFrom !== null ? [LATE_SECRET] : [];
    const { quota } = which;
    return createMemoryRunStorage({
      namespace: 'simulation',
      clock: this.clock,
      backing: this.#backing,
      isProvenDead: ({ id }) => !this.#alive.has(id),
      policy:
        quota === null
          ? policy
          : { ...policy, maxArtifactBytes: quota, maxTotalArtifactBytesPerRun: quota },
      knownSecrets: form === 'lanes' ? [SIMULATED_SECRET, SECRET_LINES, ...late] : [],
    });
  }

  /** The store of a process: its quota grows in the middle of a run. */
  #storageFor({ name }: SimProcess): RunStorage {
    const knowsLate = this.#knowsLate(name);
    const roomy = this.#memory({ knowsLate, quota: null });
    const { quota } = this.extras;
    if (quota === null) return roomy;
    const { artifactStore } = roomy;
    const narrow = () => {
      const isOver = this.clock.now() >= this.#startMs + quota.untilMs;
      if (isOver || this.record.referee(ROOT_RUN_ID) === undefined) return artifactStore;
      // What the run is made of is stored already: the rest has little room.
      const bytes = quota.bytes + this.record.artifactBytes(ROOT_RUN_ID);
      this.#narrowBytes ??= bytes;
      return this.#memory({ knowsLate, quota: this.#narrowBytes }).artifactStore;
    };
    const write: typeof artifactStore.write = async (...given) => {
      try {
        return await narrow().write(...given);
      } catch (error) {
        if (isHoldfastError(error, 'STORAGE_LIMIT_EXCEEDED')) this.trace.count('quota');
        throw error;
      }
    };
    return {
      ...roomy,
      artifactStore: {
        write,
        read: (...given) => artifactStore.read(...given),
        preflightWrite: (...given) => artifactStore.preflightWrite(...given),
        deleteRun: (...given) => artifactStore.deleteRun(...given),
      },
    };
  }

  /** Whether a process, or an executor of it, knows the secret that becomes known late. */
  #knowsLate(name: string): boolean {
    const { lateSecretFrom } = this.extras;
    return lateSecretFrom !== null && Number(/\.(\d+)/.exec(name)?.[1] ?? 0) >= lateSecretFrom;
  }

  #budgetOf({ name }: SimProcess, plan: EnginePlan): TokenBudget | null {
    const { budget } = this.extras;
    if (budget === null || plan.extras?.usesBudget !== true) return null;
    const known = this.#budgets.get(name) ?? {
      shared: createTokenBudget(budget.limit, { mode: budget.mode }),
      own: new Map<EnginePlan, TokenBudget>(),
    };
    this.#budgets.set(name, known);
    const { childLimit } = plan.extras;
    if (childLimit === null) return known.shared;
    const own = known.own.get(plan) ?? known.shared.child(childLimit);
    known.own.set(plan, own);
    return own;
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
    const watched = this.#watched(this.#storageFor(process));
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
      budgetOf: (plan) => this.#budgetOf(process, plan),
      lateSecret:
        this.extras.lateSecretFrom === null || this.#knowsLate(process.name) ? null : LATE_SECRET,
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
