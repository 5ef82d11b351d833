/**
 * Executors and stores that are wrong in one way each. The simulation must find every one of them:
 * what it does not find it does not prove. Parts of the executor are replaced from here, at their
 * sources, so that nothing in the library knows of it.
 */
import {
  type AnyCompiledGraph,
  cloneFrozenJson,
  isHoldfastError,
  type JsonValue,
  type RunStorage,
  StorageError,
} from 'holdfast';
import type { SimProcess } from 'holdfast/testing';
import { ForeignPositions } from '../../src/executor/foreign-positions.ts';
import { RunLog } from '../../src/executor/run-log.ts';
import { SignalBox } from '../../src/run/signal-box.ts';
import { StepBook } from '../../src/run/step-book.ts';
import { engineMutants } from './engine-mutants.ts';
import { extraMutants } from './extra-mutants.ts';
import {
  type Append,
  CALM,
  changed,
  type Events,
  type Mutant,
  replace,
  withEvents,
} from './planting.ts';

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
    options: { ...CALM, desk: true, cancelAtMs: 300, latencyMs: 0 },
    seams: { storage: (storage) => withEvents(storage, { subscribe: () => () => undefined }) },
  },
  {
    name: 'an index that forgets that outside appends have marked a run due',
    form: 'dag',
    seams: { storage: (storage) => forgetfulIndex(busyForSignals(storage)) },
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
  ...engineMutants,
  ...extraMutants,
];

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

/** Signals find the end moved whenever they name one: they go to whatever it is. */
function busyForSignals(storage: RunStorage): RunStorage {
  const append: Append = async (stream, expected, events, options) => {
    const isSignal = events.length > 0 && events.every(({ type }) => /signal-received$/.test(type));
    if (!isSignal || expected === 'end') {
      return storage.eventStore.append(stream, expected, events, options);
    }
    throw new StorageError('SEQUENCE_CONFLICT', 'Somebody else was faster.');
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
