/**
 * A run's stream as one owner sees it: the machine folded up to the end it knows, and appends
 * behind that end.
 *
 * Invariants: the machine never stays ahead of the log (a refused append throws it away); an
 * append whose fate is unknown is sent again as it is; a snapshot is written inside an append.
 */
import type { MerkleDigest } from '../base/digest.ts';
import { isHoldfastError } from '../base/errors.ts';
import type { Clock } from '../base/ports.ts';
import { MomentText } from '../base/time.ts';
import type { AnyCompiledGraph } from '../graph/graph-type.ts';
import { derivedEventId, type StreamRef } from '../history/envelope.ts';
import type { LaneBook } from '../run/lane-book.ts';
import { GraphExecutionError } from '../run/run-error.ts';
import { type TypedEvent, typedEvent } from '../run/run-fold.ts';
import { isSavedMachine, RunMachine } from '../run/run-machine.ts';
import type { AppendOptions } from '../store/event-store.ts';
import { SecretScreen } from '../store/known-secrets.ts';
import type { RunIndexUpdate } from '../store/run-index.ts';
import type { Snapshot } from '../store/snapshot-store.ts';
import type { RunStorage } from '../store/storage.ts';
import { SnapshotPolicy, weightOf } from './snapshot-policy.ts';
import { TurnBatch } from './turn-batch.ts';

export interface RunLogOptions {
  readonly stream: StreamRef;
  readonly graph: AnyCompiledGraph;
  readonly storage: RunStorage;
  readonly digest: MerkleDigest;
  readonly lanes: LaneBook;
  readonly clock: Clock;
  readonly fence: bigint | null;
  /** The mark of this writer. */
  readonly writer: string;
  /** A snapshot is taken behind a tail of at least so many events. */
  readonly snapshotTailEvents: number;
}

/** Waits before an append of unknown fate is sent again, in milliseconds. */
const RESEND_DELAYS_MS = [20, 200, 1_000] as const;

export class RunLog {
  readonly #options: RunLogOptions;
  readonly #moments = new MomentText();
  readonly #screen: SecretScreen | null;
  #machine: RunMachine;
  #end: number;
  #snapshots: SnapshotPolicy;

  private constructor(options: RunLogOptions, loaded: Loaded) {
    this.#options = options;
    this.#screen = SecretScreen.of(options.storage.knownSecrets);
    this.#machine = loaded.machine;
    this.#end = loaded.machine.fold.sequence;
    this.#snapshots = loaded.snapshots;
  }

  /** Folds from the newest snapshot. Throws what folding and reading throw. */
  static async open(options: RunLogOptions): Promise<RunLog> {
    return new RunLog(options, await load(options));
  }

  get machine(): RunMachine {
    return this.#machine;
  }

  /** The sequence of the last durable event that this owner has folded. */
  get end(): number {
    return this.#end;
  }

  begin(): TurnBatch {
    const { clock, writer } = this.#options;
    const now = clock.now();
    return new TurnBatch(this.#machine, { writer, now, at: this.#moments.of(now) });
  }

  /** Appends a batch begun on the present machine. Throws `SEQUENCE_CONFLICT` and other codes. */
  async commit(batch: TurnBatch, index: RunIndexUpdate | null): Promise<void> {
    const { fence, stream } = this.#options;
    const snapshot = this.#storable(this.#snapshots.take(batch));
    const options = appendOptions(fence, index, snapshot);
    const { eventStore } = this.#options.storage;
    const { expected, events } = batch;
    try {
      await eventStore.append(stream, expected, events, options);
    } catch (error) {
      await this.#resend(error, () => eventStore.append(stream, expected, events, options));
    }
    this.#end = batch.expected + batch.events.length;
    this.#snapshots.committed(batch, snapshot);
  }

  /**
   * A snapshot that holds what has become a secret since it was recorded is left out: an event must
   * not be refused for something that only makes the next start quicker.
   */
  #storable(snapshot: Snapshot | null): Snapshot | null {
    if (snapshot === null || this.#screen === null) return snapshot;
    if (!this.#screen.foundInJson(JSON.stringify(snapshot.body))) return snapshot;
    this.#snapshots.passedOver(snapshot);
    return null;
  }

  /** Throws the machine away and folds again what the store holds. */
  async reload(): Promise<void> {
    const loaded = await load(this.#options);
    this.#machine = loaded.machine;
    this.#end = loaded.machine.fold.sequence;
    this.#snapshots = loaded.snapshots;
  }

  /** Folds what others have appended since; returns it. The machine must not be ahead. */
  async catchUp(): Promise<readonly TypedEvent[]> {
    const { storage, stream } = this.#options;
    const events: TypedEvent[] = [];
    for await (const envelope of storage.eventStore.read(stream, { after: this.#end })) {
      const event = typedEvent(envelope);
      this.#machine.apply(event);
      events.push(event);
    }
    this.#end = this.#machine.fold.sequence;
    if (events.length > 0) await storage.eventStore.sync();
    return events;
  }

  /** Sends an append of unknown fate again. Throws why it failed when that says enough. */
  async #resend(failure: unknown, append: () => Promise<unknown>): Promise<void> {
    let last = failure;
    for (const delayMs of RESEND_DELAYS_MS) {
      if (!isHoldfastError(last, 'STORE_IO')) throw ownershipError(last);
      await pause(this.#options.clock, delayMs);
      try {
        await append();
        return;
      } catch (error) {
        last = error;
      }
    }
    throw ownershipError(last);
  }
}

/** A stale fence means what a lost race means: another owner has taken the run. */
function ownershipError(error: unknown): unknown {
  if (!isHoldfastError(error, 'STALE_FENCE')) return error;
  return new GraphExecutionError('OWNERSHIP_LOST', error.message, {}, error);
}

function appendOptions(
  fence: bigint | null,
  index: RunIndexUpdate | null,
  snapshot: Snapshot | null,
): AppendOptions {
  if (fence === null && index === null && snapshot === null) return NO_OPTIONS;
  return {
    ...(fence === null ? {} : { fence }),
    ...(index === null ? {} : { index }),
    ...(snapshot === null ? {} : { snapshot }),
  };
}

const NO_OPTIONS: AppendOptions = Object.freeze({});

interface Loaded {
  readonly machine: RunMachine;
  readonly snapshots: SnapshotPolicy;
}

async function load(options: RunLogOptions): Promise<Loaded> {
  const { storage, stream, graph, digest, lanes, snapshotTailEvents } = options;
  const saved = await storage.snapshotStore.newest(stream);
  const body =
    saved !== null && isSavedMachine(saved.body, graph.definition.digest) ? saved.body : null;
  const machine = new RunMachine({ runId: stream.streamId, graph, digest, lanes }, body);
  // The first event was read and checked when the executor was made; its definition is large.
  if (body === null) machine.apply(firstEvent(stream));
  const lastBytes = body === null ? 0 : weightOf(body);
  const snapshots = new SnapshotPolicy(lastBytes, snapshotTailEvents);
  for await (const envelope of storage.eventStore.read(stream, { after: machine.fold.sequence })) {
    machine.applyEnvelope(envelope);
    snapshots.read(envelope.payload);
  }
  // A killed writer may have written what it never synced: make it durable before acting on it.
  await storage.eventStore.sync();
  return { machine, snapshots };
}

function firstEvent({ streamId }: StreamRef): TypedEvent {
  const payload = { definition: null };
  return { type: 'graph:run-started', sequence: 1, id: derivedEventId(streamId, 1), payload };
}

function pause(clock: Clock, delayMs: number): Promise<void> {
  return new Promise((resolve) => {
    clock.after(delayMs, resolve);
  });
}
