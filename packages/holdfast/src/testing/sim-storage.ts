/**
 * A store as one process sees it through a faulty medium: late, sometimes failing before or after
 * it has written, and silent once the process is dead.
 */
import type { EventEnvelope } from '../history/envelope.ts';
import type { EventListener, EventStore, ReadOptions } from '../store/event-store.ts';
import type { RunStorage } from '../store/storage.ts';
import { StorageError } from '../store/storage-error.ts';
import type { SimFaults } from './sim-faults.ts';
import type { SimProcess } from './sim-process.ts';
import type { SimTrace } from './sim-trace.ts';

export interface MediumOptions {
  readonly process: SimProcess;
  readonly faults: SimFaults;
  readonly trace: SimTrace;
  /** The world's own clock: what is on its way does not stop with the process that sent it. */
  readonly sleep: (ms: number) => Promise<void>;
}

/** `storage` through the medium of one process. */
export function faultyStorage(storage: RunStorage, options: MediumOptions): RunStorage {
  const medium = new Medium(options);
  return {
    record: storage.record,
    knownSecrets: storage.knownSecrets,
    eventStore: faultyEventStore(storage.eventStore, medium),
    snapshotStore: medium.wrapped(storage.snapshotStore, 'snapshot', ['newest', 'save']),
    artifactStore: medium.wrapped(storage.artifactStore, 'artifact', [
      'preflightWrite',
      'write',
      'read',
      'deleteRun',
    ]),
    leaseStore: medium.wrapped(storage.leaseStore, 'lease', ['acquire', 'renew', 'release']),
    runIndex: medium.wrapped(storage.runIndex, 'index', ['list', 'get', 'due', 'claimable']),
    close: () => storage.close(),
  };
}

type Call = (...given: never[]) => Promise<unknown>;

class Medium {
  readonly #options: MediumOptions;

  constructor(options: MediumOptions) {
    this.#options = options;
  }

  get process(): SimProcess {
    return this.#options.process;
  }

  /** The methods named, each with its own fate; they keep their order only as far as time does. */
  wrapped<Port extends object>(port: Port, name: string, methods: readonly (keyof Port)[]): Port {
    const wrapped: Partial<Record<keyof Port, Call>> = {};
    for (const method of methods) {
      const call = port[method] as unknown as Call;
      wrapped[method] = (...given) =>
        this.call(`${name}.${String(method)}`, () => call.apply(port, given));
    }
    return wrapped as Port;
  }

  call<Value>(name: string, work: () => Promise<Value>): Promise<Value> {
    const { process, faults, trace, sleep } = this.#options;
    const fault = faults.call(process.isOnlooker);
    if (fault.freezeMs > 0 && process.isAlive) {
      trace.add(process.name, `stands still for ${fault.freezeMs} ms in ${name}`);
      trace.count('freeze');
      process.freeze(fault.freezeMs);
    }
    return process.guard(async () => {
      if (fault.delayBeforeMs > 0) await sleep(fault.delayBeforeMs);
      if (!process.isAlive || this.#dies(fault.crash === 'before', name)) return never();
      if (fault.error === 'before') throw this.#error(name, 'nothing was done');
      const value = await work();
      if (this.#dies(fault.crash === 'after', name)) return never();
      if (fault.delayAfterMs > 0) await sleep(fault.delayAfterMs);
      if (fault.error === 'after') throw this.#error(name, 'it was done');
      return value;
    });
  }

  /** Delivers to a listener, in order, as late as messages are. */
  listener(listener: EventListener): EventListener {
    const { process, faults } = this.#options;
    let lastMs = 0;
    return (events) => {
      const now = process.clock.now();
      lastMs = Math.max(lastMs, now + faults.latency());
      if (lastMs === now) {
        if (process.isAlive) listener(events);
      } else process.clock.after(lastMs - now, () => listener(events));
    };
  }

  #dies(dies: boolean, name: string): boolean {
    const { process, trace } = this.#options;
    if (!dies) return false;
    trace.add(process.name, `DIES in ${name}`);
    trace.count('crash');
    process.kill();
    return true;
  }

  #error(name: string, what: string): StorageError {
    const { process, trace } = this.#options;
    trace.add(process.name, `I/O error in ${name}: ${what}`);
    trace.count('io-error');
    return new StorageError('STORE_IO', `The store could not finish ${name} (simulated).`);
  }
}

function faultyEventStore(store: EventStore, medium: Medium): EventStore {
  return {
    ...medium.wrapped(store, 'events', ['append', 'readAt', 'end', 'compact', 'sync']),
    read: (stream, options) => faultyRead(store.read(stream, options), medium, options),
    subscribe: (stream, after, listener) =>
      medium.process.isAlive
        ? store.subscribe(stream, after, medium.listener(listener))
        : () => undefined,
  };
}

/** One call at the start and one at the end: what was read in between may be old by then. */
async function* faultyRead(
  events: AsyncIterable<EventEnvelope>,
  medium: Medium,
  { after = 0 }: ReadOptions = {},
): AsyncIterable<EventEnvelope> {
  await medium.call(`events.read after ${after}`, async () => undefined);
  let count = 0;
  for await (const event of events) {
    yield event;
    count += 1;
  }
  if (count > 0) await medium.call(`events.read of ${count}`, async () => undefined);
}

function never<Value>(): Promise<Value> {
  return new Promise(() => undefined);
}
