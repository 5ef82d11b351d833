/**
 * What the store kits share: a factory of backings, handles over them, and their expectations.
 * Framework-free.
 */
import { errorText, isHoldfastError } from '../base/errors.ts';
import type { Clock } from '../base/ports.ts';
import type { EventEnvelope, NewEvent, StreamRef } from '../history/envelope.ts';
import type { NewArtifact } from '../store/artifact-store.ts';
import { defaultStoragePolicy, type RunStoragePolicy } from '../store/policy.ts';
import type { RunStorage } from '../store/storage.ts';
import type { StorageErrorCode } from '../store/storage-error.ts';
import { createSystemClock } from '../store/system-clock.ts';
import { type BenchCase, reportOfBenches } from './bench-case.ts';
import { type ConformanceReport, fail } from './conformance-report.ts';
import { shown } from './expectation.ts';

/** How a kit wants a handle opened. */
export interface StorageKitOptions {
  readonly namespace: string;
  readonly policy: RunStoragePolicy;
  readonly knownSecrets: readonly string[];
  /** The machine's timers, but `now` stands still until the kit moves it. */
  readonly clock: Clock;
}

/** One place where events can be stored: an empty directory, database or backing. */
export interface StorageBacking {
  /** A new handle over this backing, as another process would open it. */
  open(options: StorageKitOptions): RunStorage | Promise<RunStorage>;
  /** Deletes the backing; all handles are closed by then. */
  dispose?(): void | Promise<void>;
}

/** Called once a case. */
export type StorageFactory = () => StorageBacking | Promise<StorageBacking>;

/** What a case works with. */
export class KitBench {
  readonly #backing: StorageBacking;
  readonly #opened: RunStorage[] = [];
  #aheadMs = 0;

  constructor(backing: StorageBacking) {
    this.#backing = backing;
  }

  async open(options: Partial<StorageKitOptions> = {}): Promise<RunStorage> {
    const storage = await this.#backing.open({
      namespace: kitNamespace,
      policy: kitPolicy,
      knownSecrets: [],
      clock: this.#clock(),
      ...options,
    });
    this.#opened.push(storage);
    return storage;
  }

  /** Handles as several processes would have them. */
  openMany(count: number): Promise<readonly RunStorage[]> {
    return Promise.all(Array.from({ length: count }, () => this.open()));
  }

  /** Moves the clock of every handle. */
  pass(ms: number): void {
    this.#aheadMs += ms;
  }

  async close(): Promise<void> {
    await Promise.all(this.#opened.map((storage) => storage.close()));
    await this.#backing.dispose?.();
  }

  #clock(): Clock {
    const system = createSystemClock();
    return { ...system, now: () => Date.parse(kitTime) + this.#aheadMs };
  }
}

export type StorageCase = BenchCase<KitBench>;

const kitNamespace = 'kit';
export const kitPolicy: RunStoragePolicy = {
  ...defaultStoragePolicy,
  maxEventPayloadBytes: 1024,
  maxAppendBatchBytes: 4096,
  maxArtifactBytes: 64,
  maxTotalArtifactBytesPerRun: 128,
};

/** Runs all cases, each over a backing of its own. */
export function reportOfStorage(
  cases: readonly StorageCase[],
  factory: StorageFactory,
): Promise<ConformanceReport> {
  return reportOfBenches(cases, async () => new KitBench(await factory()));
}

/** Fails the case unless `work` rejects with this code. */
export async function expectRefusal(
  what: string,
  code: StorageErrorCode,
  work: () => Promise<unknown>,
): Promise<void> {
  let result: unknown;
  try {
    result = await work();
  } catch (error) {
    if (isHoldfastError(error, code)) return;
    return fail(`${what}: expected ${code}, got ${errorText(error)}`);
  }
  fail(`${what}: expected ${code}, but it returned ${shown(result)}`);
}

/** True for an error of the store with this code. */
export function isStorageRefusal(error: unknown, code: StorageErrorCode): boolean {
  return isHoldfastError(error, code);
}

export function kitStream(streamId = 'run-1', namespace: string = kitNamespace): StreamRef {
  return { namespace, streamId };
}

export const kitTime = '2026-11-30T10:00:00.000Z';

/** An event of a type that no catalog knows, with any payload. */
export function kitEvent(payload: unknown, more: Partial<NewEvent> = {}): NewEvent {
  const event = { type: 'kit:happened', version: 1, timestamp: kitTime, ...more };
  return { ...event, payload: payload as NewEvent['payload'] };
}

/** An artifact of plain text, or of any bytes. */
export function kitArtifact(
  content: string | Uint8Array,
  more: Partial<NewArtifact> = {},
): NewArtifact {
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content;
  return { bytes, mediaType: 'text/plain', purpose: 'test', ...more };
}

export async function readAll(
  storage: RunStorage,
  stream: StreamRef,
  after = 0,
): Promise<readonly EventEnvelope[]> {
  const events: EventEnvelope[] = [];
  for await (const event of storage.eventStore.read(stream, { after })) events.push(event);
  return events;
}

export async function payloadsOf(
  storage: RunStorage,
  stream: StreamRef,
  after = 0,
): Promise<readonly unknown[]> {
  return (await readAll(storage, stream, after)).map((event) => event.payload);
}
