/**
 * Executors and stores that are wrong in one way each. The simulation must find every one of them:
 * what it does not find it does not prove. Parts of the executor are replaced from here, at their
 * sources, so that nothing in the library knows of it.
 */
import {
  type AnyCompiledGraph,
  cloneFrozenJson,
  type EngineFailureKind,
  type EventEnvelope,
  isHoldfastError,
  type JsonObject,
  type JsonValue,
  LANE_DEAD_FAILURES,
  type RunStorage,
} from 'holdfast';
import type { SimProcess, SimulationSeams } from 'holdfast/testing';
import { Attempt } from '../../src/attempt/attempt.ts';
import { Drive } from '../../src/executor/drive.ts';
import { EngineSeats } from '../../src/executor/engine-bindings.ts';
import { ForeignPositions } from '../../src/executor/foreign-positions.ts';
import { RunLog } from '../../src/executor/run-log.ts';
import { SecretGuard } from '../../src/executor/secret-guard.ts';
import { DeadLanes } from '../../src/run/dead-lanes.ts';
import { SignalBox } from '../../src/run/signal-box.ts';
import { StepBook } from '../../src/run/step-book.ts';

export interface Mutant {
  readonly name: string;
  readonly seams?: SimulationSeams;
  /** Replaces a part of the executor; gives back the way to mend it. */
  readonly plant?: () => () => void;
}

type Events = RunStorage['eventStore'];
type Append = Events['append'];

export const mutants: readonly Mutant[] = [
  {
    name: 'a store that acknowledges appends before they are durable',
    seams: { storage: (storage, process) => lateStore(storage, process, () => true) },
  },
  {
    name: 'start records that are written after the node code was called',
    seams: { storage: (storage, process) => lateStore(storage, process, hasStart) },
  },
  {
    name: 'a store that appends at its end, whatever end was expected',
    seams: { storage: (storage) => withEvents(storage, { append: anywhere(storage.eventStore) }) },
  },
  {
    name: 'a store that loses the batch of a conflict and says nothing',
    seams: { storage: (storage) => withEvents(storage, { append: silent(storage.eventStore) }) },
  },
  {
    name: 'every attempt is taken for retry-safe when it is resumed',
    seams: { storage: (storage) => withEvents(storage, { read: retrySafe(storage.eventStore) }) },
  },
  {
    name: 'a snapshot that is ahead of what it was folded from',
    seams: { storage: aheadSnapshots },
  },
  {
    name: 'a graph that decides by the process it runs in',
    seams: { graph: (graph, process) => impure(graph, process) },
  },
  {
    name: 'an owner that is told of nothing that others append',
    seams: { storage: (storage) => withEvents(storage, { subscribe: () => () => undefined }) },
  },
  {
    name: 'an index that forgets that outside appends have marked a run due',
    seams: { storage: forgetfulIndex },
  },
  {
    name: 'a signal that is consumed twice',
    plant: () =>
      replace(SignalBox.prototype, 'consume', function (this: SignalBox, signalId: string) {
        return this.waiting().some((signal) => signal.signalId === signalId);
      }),
  },
  {
    name: 'an executor that launches before its batch is durable',
    plant: () => {
      const { commit } = RunLog.prototype;
      return replace(RunLog.prototype, 'commit', function (this: RunLog, batch, index) {
        void commit.call(this, batch, index).catch(() => undefined);
        return Promise.resolve();
      });
    },
  },
  {
    name: 'an executor that overlooks what a dead process left in flight',
    plant: () => replace(ForeignPositions.prototype, 'someRun', () => false),
  },
  {
    name: 'an executor that runs recorded steps again',
    plant: () => replace(StepBook.prototype, 'get', () => undefined),
  },
  {
    name: 'an executor that calls lanes which are proven dead',
    plant: () => replace(DeadLanes.prototype, 'isDead', () => false),
  },
  {
    name: 'an executor that moves on to a fallback after a rate limit',
    plant: () => {
      const lethal = LANE_DEAD_FAILURES as Set<EngineFailureKind>;
      lethal.add('rate-limit');
      return () => lethal.delete('rate-limit');
    },
  },
  {
    name: 'an executor that prefers a fallback to a living target',
    plant: () =>
      replaceLive(({ effective, fallbacks }) => ({
        effective: null,
        fallbacks: effective ? [...fallbacks, effective] : fallbacks,
      })),
  },
  {
    name: 'an executor that tries every fallback in one attempt',
    plant: () =>
      replaceLive(({ effective, fallbacks }) => ({
        effective: effective ?? fallbacks[0] ?? null,
        fallbacks: [],
      })),
  },
  {
    name: 'an executor that forgets the receipt of the last call',
    plant: () => replaceReceipt(() => null),
  },
  {
    name: 'a store that takes unknown usage for none',
    seams: { storage: (storage) => withEvents(storage, { append: free(storage.eventStore) }) },
  },
  {
    name: 'an executor that does not wait for the end of its engine checks',
    plant: () => replace(Drive.prototype, 'isHeld', () => false),
  },
  {
    name: 'an executor that records what it does not screen',
    plant: () => replace(SecretGuard.prototype, 'outcome', (_nodeId, outcome) => outcome),
  },
];

type Live = ReturnType<EngineSeats['live']>;

function replaceLive(change: (live: Live) => Live): () => void {
  const { live } = EngineSeats.prototype;
  return replace(EngineSeats.prototype, 'live', function (this: EngineSeats, ...given) {
    return change(live.apply(this, given));
  });
}

function replaceReceipt(get: () => null): () => void {
  const original = Object.getOwnPropertyDescriptor(Attempt.prototype, 'receipt') ?? {};
  Object.defineProperty(Attempt.prototype, 'receipt', { get, configurable: true });
  return () => {
    Object.defineProperty(Attempt.prototype, 'receipt', original);
  };
}

/** Records calls of unknown usage as if they had cost nothing. */
function free(store: Events): Append {
  const usage = { kind: 'reported', inputTokens: 0, outputTokens: 0 };
  return (stream, expected, events, options) => {
    const changed = events.map((event) => {
      const payload = event.payload as JsonObject;
      const isUnknown = (payload['usage'] as JsonObject | undefined)?.['kind'] === 'unknown';
      return isUnknown ? { ...event, payload: cloneFrozenJson({ ...payload, usage }) } : event;
    });
    return store.append(stream, expected, changed, options);
  };
}

function replace<Part extends object, Name extends keyof Part>(
  prototype: Part,
  name: Name,
  mutant: Part[Name],
): () => void {
  const original = prototype[name];
  prototype[name] = mutant;
  return () => {
    prototype[name] = original;
  };
}

function withEvents(storage: RunStorage, changes: Partial<Events>): RunStorage {
  return { ...storage, eventStore: { ...storage.eventStore, ...changes } };
}

/** Acknowledges at once what `isLate`, and writes it later, in order, if it still lives. */
function lateStore(
  storage: RunStorage,
  process: SimProcess,
  isLate: (events: Parameters<Append>[2]) => boolean,
): RunStorage {
  let written: Promise<unknown> = Promise.resolve();
  const append: Append = async (stream, expected, events, options) => {
    const write = () => storage.eventStore.append(stream, expected, events, options);
    if (expected === 'end' || expected === 0 || !isLate(events)) {
      await written;
      return write();
    }
    written = written.then(() => process.sleep(20)).then(write);
    written = written.catch(() => undefined);
    return { sequence: expected + events.length };
  };
  return withEvents(storage, { append });
}

function hasStart(events: Parameters<Append>[2]): boolean {
  return events.some(({ type }) => type === 'graph:node-attempt-started');
}

function anywhere(store: Events): Append {
  return async (stream, expected, events, options) => {
    const end = expected === 'end' ? expected : await store.end(stream);
    return store.append(stream, end, events, options);
  };
}

function silent(store: Events): Append {
  return async (stream, expected, events, options) => {
    try {
      return await store.append(stream, expected, events, options);
    } catch (error) {
      if (expected === 'end' || !isHoldfastError(error, 'SEQUENCE_CONFLICT')) throw error;
      return { sequence: expected + events.length };
    }
  };
}

function retrySafe(store: Events): Events['read'] {
  return async function* (stream, options) {
    for await (const event of store.read(stream, options)) {
      yield event.type === 'graph:node-attempt-started'
        ? changed(event, { retrySafe: true })
        : event;
    }
  };
}

function changed(event: EventEnvelope, fields: JsonObject): EventEnvelope {
  return { ...event, payload: cloneFrozenJson({ ...(event.payload as JsonObject), ...fields }) };
}

function aheadSnapshots(storage: RunStorage): RunStorage {
  const { snapshotStore } = storage;
  return {
    ...storage,
    snapshotStore: {
      save: (...given) => snapshotStore.save(...given),
      newest: async (stream) => {
        const found = await snapshotStore.newest(stream);
        if (found === null || found.sequence === (await storage.eventStore.end(stream)))
          return found;
        const body = found.body as { readonly fold: { readonly sequence: number } };
        const fold = { ...body.fold, sequence: body.fold.sequence + 1 };
        return { ...found, body: cloneFrozenJson({ ...body, fold }) };
      },
    },
  };
}

function impure(graph: AnyCompiledGraph, process: SimProcess): AnyCompiledGraph {
  return {
    ...graph,
    open: (saved?: JsonValue) => {
      const cursor = graph.open(saved);
      return {
        ...cursor,
        decide: () =>
          cursor
            .decide()
            .map((command) =>
              command.kind === 'dispatch'
                ? { ...command, input: cloneFrozenJson([command.input, process.name]) }
                : command,
            ),
      };
    },
  };
}

function forgetfulIndex(storage: RunStorage): RunStorage {
  const { runIndex } = storage;
  return {
    ...storage,
    runIndex: {
      list: (...given) => runIndex.list(...given),
      claimable: (...given) => runIndex.claimable(...given),
      get: async (runId) => {
        const row = await runIndex.get(runId);
        return row === null ? null : { ...row, isMarkedDue: false };
      },
      due: async (now) => (await runIndex.due(now)).filter((row) => !row.isMarkedDue),
    },
  };
}
