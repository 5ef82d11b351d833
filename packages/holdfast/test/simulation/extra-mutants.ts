/**
 * Executors and stores that are wrong where budgets, contracts, quotas, cut texts, late secrets and
 * two owners that check engines take part: each in one way.
 */
import {
  EngineError,
  HoldfastError,
  isHoldfastError,
  type NodeBinding,
  type RunStorage,
  StorageError,
} from 'holdfast';
import { EngineRoute } from '../../src/attempt/engine-route.ts';
import type { EngineReceipt } from '../../src/attempt/engine-work.ts';
import { soundOutcome } from '../../src/attempt/outcome.ts';
import { TokenLedger } from '../../src/engine/token-ledger.ts';
import { AttemptFactory } from '../../src/executor/attempt-factory.ts';
import { RunLog } from '../../src/executor/run-log.ts';
import { SecretGuard } from '../../src/executor/secret-guard.ts';
import { EngineUsage } from '../../src/run/engine-usage.ts';
import { replaceEngines, replaceReceipt, settledOf } from './engine-mutants.ts';
import { type Append, CALM, type Events, type Mutant, replace, withEvents } from './planting.ts';

const UNKNOWN = { kind: 'unknown' } as const;
const NOTHING = { calls: 0, unknownCalls: 0, inputTokens: 0, outputTokens: 0 };

const wrong: readonly Mutant[] = [
  {
    name: 'an executor that says of a call over its time that it was told to stop',
    plant: () => replaceClose(() => 'aborted'),
  },
  {
    name: 'an executor that says of a call that was told to stop that its time was over',
    options: { ...CALM, extras: true, cancelAtMs: 900 },
    plant: () => replaceClose(() => 'timeout'),
  },
  {
    name: 'an executor that forgets what a call had told before it was cut off',
    plant: () => replaceReceipt((receipt) => changed(receipt, isCutOff)),
  },
  {
    name: 'an executor that counts no usage that was only told',
    options: { ...CALM, extras: true },
    plant: () => replaceReceipt((receipt) => changed(receipt, isOnlyTold)),
  },
  {
    name: 'a budget that does not learn what was used before its process',
    options: { ...CALM, extras: true, crashes: 6 },
    plant: () => replace(EngineUsage.prototype, 'of', () => NOTHING),
  },
  {
    name: 'a budget that does not count what its own calls use',
    options: { ...CALM, extras: true },
    plant: () => replace(TokenLedger.prototype, 'add', () => undefined),
  },
  {
    name: 'an executor that lets a dead lane live when its failure has used too much',
    options: { ...CALM, extras: true },
    plant: () =>
      replaceEngines(
        (run) =>
          async (...call) =>
            settledOf(run, call).catch((error: unknown) => Promise.reject(spared(error))),
      ),
  },
  {
    name: 'an executor that asks no contract',
    plant: () => replaceBinding((binding) => ({ ...binding, contract: null })),
  },
  {
    name: 'an executor that keeps no limit of what an engine says',
    plant: () =>
      replaceBinding((binding) => ({
        ...binding,
        limits: { ...binding.limits, outputBytes: null },
      })),
  },
  {
    name: 'an executor that cuts what it records before it screens it',
    plant: () => {
      const { outcome } = SecretGuard.prototype;
      return replace(SecretGuard.prototype, 'outcome', function (this: SecretGuard, id, given) {
        return outcome.call(this, id, soundOutcome(given));
      });
    },
  },
  {
    name: 'an executor that offers snapshots which hold a secret',
    options: { ...CALM, extras: true, crashes: 6, snapshotTailEvents: 3 },
    plant: () => {
      const { open } = RunLog;
      RunLog.open = (options) =>
        open.call(RunLog, { ...options, storage: { ...options.storage, knownSecrets: [] } });
      return () => {
        RunLog.open = open;
      };
    },
  },
  {
    name: 'a store that says it is broken when it is full',
    seams: { storage: brokenWhenFull },
  },
  {
    name: 'a store in which the engine checks of two owners meet unseen',
    seams: { storage: (storage) => withEvents(storage, { append: unseen(storage.eventStore) }) },
  },
];

/** Each is looked for where engines are called. */
export const extraMutants: readonly Mutant[] = wrong.map((mutant) => ({
  ...mutant,
  form: 'lanes',
}));

function replaceClose(say: () => 'aborted' | 'timeout'): () => void {
  const { close } = EngineRoute.prototype;
  return replace(EngineRoute.prototype, 'close', function (this: EngineRoute) {
    close.call(this, say());
  });
}

type Receipt = EngineReceipt | null;

function changed(receipt: Receipt, isForgotten: (receipt: EngineReceipt) => boolean): Receipt {
  return receipt !== null && isForgotten(receipt) ? { ...receipt, usage: UNKNOWN } : receipt;
}

function isCutOff({ failure, effective }: EngineReceipt): boolean {
  return (failure === 'timeout' || failure === 'aborted') && effective === null;
}

/** What simulated engines tell has 2 or 4 tokens of input; what they answer with has more. */
function isOnlyTold({ failure, usage }: EngineReceipt): boolean {
  return failure === undefined && usage.kind === 'reported' && usage.inputTokens < 5;
}

function spared(error: unknown): unknown {
  if (!(error instanceof EngineError) || error.usage?.kind !== 'reported') return error;
  const { usage } = error;
  return usage.inputTokens < 60 ? error : new HoldfastError('TOKEN_BUDGET', 'It used too much.');
}

function replaceBinding(change: (binding: NodeBinding) => NodeBinding): () => void {
  const { binding } = AttemptFactory.prototype;
  return replace(AttemptFactory.prototype, 'binding', function (this: AttemptFactory, nodeId) {
    return change(binding.call(this, nodeId));
  });
}

function brokenWhenFull(storage: RunStorage): RunStorage {
  const { artifactStore } = storage;
  return {
    ...storage,
    artifactStore: {
      preflightWrite: (...given) => artifactStore.preflightWrite(...given),
      read: (...given) => artifactStore.read(...given),
      deleteRun: (...given) => artifactStore.deleteRun(...given),
      write: (...given) =>
        artifactStore.write(...given).catch((error: unknown) => {
          if (!isHoldfastError(error, 'STORAGE_LIMIT_EXCEEDED')) throw error;
          throw new StorageError('STORE_IO', 'It is full.');
        }),
    },
  };
}

/** Takes the beginning and the end of a check whatever was appended before it. */
function unseen(store: Events): Append {
  return async (stream, expected, events, options) => {
    const isCheck = events[0]?.type.startsWith('preflight:probe') === true;
    const end = expected === 'end' || !isCheck ? expected : await store.end(stream);
    return store.append(stream, end, events, options);
  };
}
