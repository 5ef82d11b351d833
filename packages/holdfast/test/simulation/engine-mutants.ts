/** Executors that call engines, or record calls of them, in a wrong way each. */
import {
  cloneFrozenJson,
  type Engine,
  EngineError,
  type EngineFailureKind,
  type JsonObject,
  LANE_DEAD_FAILURES,
  type RunStorage,
} from 'holdfast';
import { Attempt } from '../../src/attempt/attempt.ts';
import { Drive } from '../../src/executor/drive.ts';
import { EngineSeats } from '../../src/executor/engine-bindings.ts';
import { PreflightProbe } from '../../src/executor/preflight-probe.ts';
import { SecretGuard } from '../../src/executor/secret-guard.ts';
import { TurnBatch } from '../../src/executor/turn-batch.ts';
import type { EventType } from '../../src/history/catalog.ts';
import { DeadLanes } from '../../src/run/dead-lanes.ts';
import { type Append, CALM, type Events, type Mutant, replace, withEvents } from './planting.ts';

const wrong: readonly Mutant[] = [
  {
    name: 'an executor that calls lanes which are proven dead',
    plant: () => replace(DeadLanes.prototype, 'isDead', () => false),
  },
  {
    name: 'an executor that moves on to a fallback after a rate limit',
    options: CALM,
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
    options: CALM,
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
  {
    name: 'an executor that takes the second answer of an engine',
    plant: () =>
      replaceEngines(
        (run) =>
          (...call) =>
            lastAnswer(run(...call)),
      ),
  },
  {
    name: 'an executor that calls an engine again when it fails',
    plant: () =>
      replaceEngines(
        (run) =>
          async (...call) =>
            settledOf(run, call).catch(() => settledOf(run, call)),
      ),
  },
  {
    name: 'an executor that reads messages to find out what a failure means',
    options: CALM,
    plant: () =>
      replaceEngines(
        (run) =>
          async (...call) =>
            settledOf(run, call).catch((error: unknown) => Promise.reject(guessed(error))),
      ),
  },
  {
    name: 'an executor that records a dead lane without its receipt',
    plant: () => dropReceipts(({ failure }) => failure === 'auth' || failure === 'quota'),
  },
  {
    name: 'an executor that leaves no receipt of a call that was cut off',
    plant: () => dropReceipts(({ requested }) => requested === null),
  },
  {
    name: 'an executor that takes whom it asked for whoever answered',
    plant: () =>
      replaceReceipt((receipt) => receipt && { ...receipt, effective: receipt.requested }),
  },
  {
    name: 'an executor that loses what a failed call has used',
    plant: () =>
      replaceReceipt((receipt) =>
        receipt?.failure === undefined ? receipt : { ...receipt, usage: { kind: 'unknown' } },
      ),
  },
  {
    name: 'an executor that makes every live check twice',
    plant: () => {
      const { checkLive } = PreflightProbe.prototype;
      return replace(
        PreflightProbe.prototype,
        'checkLive',
        async function (this: PreflightProbe, probe) {
          await checkLive.call(this, probe);
          return checkLive.call(this, probe);
        },
      );
    },
  },
  {
    name: 'a store that promises artifacts which it does not keep',
    options: CALM,
    seams: { storage: promising },
  },
  {
    name: 'an executor that logs what it does not screen',
    options: CALM,
    plant: () => replace(SecretGuard.prototype, 'line', (line) => line),
  },
  {
    name: 'an executor that passes on what engines say as it is',
    plant: () =>
      replace(SecretGuard.prototype, 'listen', (place, onEvent) => ({
        heard: (event) => onEvent({ ...place, event }),
        ended: () => undefined,
      })),
  },
];

/** Each is looked for where engines are called. */
export const engineMutants: readonly Mutant[] = wrong.map((mutant) => ({
  ...mutant,
  form: 'lanes',
}));

type Live = ReturnType<EngineSeats['live']>;

function replaceLive(change: (live: Live) => Live): () => void {
  const { live } = EngineSeats.prototype;
  return replace(EngineSeats.prototype, 'live', function (this: EngineSeats, ...given) {
    return change(live.apply(this, given));
  });
}

type Receipt = Attempt['receipt'];

export function replaceReceipt(change: (receipt: Receipt) => Receipt): () => void {
  const original = Object.getOwnPropertyDescriptor(Attempt.prototype, 'receipt') ?? {};
  const get = function (this: Attempt): Receipt {
    return change(original.get?.call(this) as Receipt);
  };
  Object.defineProperty(Attempt.prototype, 'receipt', { get, configurable: true });
  return () => {
    Object.defineProperty(Attempt.prototype, 'receipt', original);
  };
}

type EngineRun = Engine['run'];

/** Stands between the executor and every engine that it may call. */
export function replaceEngines(change: (run: EngineRun) => EngineRun): () => void {
  const changedSeat = <Seat extends Live['effective']>(seat: Seat): Seat => {
    if (seat === null) return seat;
    const { engine } = seat;
    const run = change((...call) => engine.run(...call));
    return { ...seat, engine: { ...engine, run } };
  };
  return replaceLive(({ effective, fallbacks }) => ({
    effective: changedSeat(effective),
    fallbacks: fallbacks.map(changedSeat),
  }));
}

export async function settledOf(run: EngineRun, call: Parameters<EngineRun>) {
  return run(...call);
}

/** What a promise that calls back more than once says last. */
function lastAnswer<Answer>(answers: Promise<Answer>): Promise<Answer> {
  return new Promise((resolve, reject) => {
    let last: { readonly answer: Answer } | null = null;
    answers.then((answer) => {
      const isFirst = last === null;
      last = { answer };
      if (isFirst) queueMicrotask(() => resolve((last ?? { answer }).answer));
    }, reject);
  });
}

function guessed(error: unknown): unknown {
  const isRefused = error instanceof Error && error.message.includes('401');
  return isRefused ? new EngineError({ kind: 'auth', message: error.message }) : error;
}

function dropReceipts(isDropped: (receipt: JsonObject) => boolean): () => void {
  const { write } = TurnBatch.prototype;
  const mutant = function (this: TurnBatch, type: EventType, ...given: [never, never]) {
    const isReceipt = type === 'graph:engine-attempt-recorded';
    if (isReceipt && isDropped(given[0])) return this.machine.fold.sequence;
    return write.call(this, type, ...given);
  };
  return replace(TurnBatch.prototype, 'write', mutant as typeof write);
}

function promising(storage: RunStorage): RunStorage {
  const { artifactStore } = storage;
  return {
    ...storage,
    artifactStore: {
      preflightWrite: (...given) => artifactStore.preflightWrite(...given),
      read: (...given) => artifactStore.read(...given),
      deleteRun: (...given) => artifactStore.deleteRun(...given),
      write: async (scope, artifact) => {
        if (artifact.purpose !== 'node-result') return artifactStore.write(scope, artifact);
        const [reference] = await artifactStore.preflightWrite(scope, [artifact]);
        if (reference === undefined) throw new Error('Nothing was promised.');
        return reference;
      },
    },
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
