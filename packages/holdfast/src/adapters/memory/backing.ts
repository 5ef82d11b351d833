/**
 * What a memory store holds. Several storages may stand on one backing, as several processes stand
 * on one directory.
 */
import type { EventEnvelope, StreamRef } from '../../history/envelope.ts';
import type { EventListener } from '../../store/event-store.ts';
import type { LeaseRecord } from '../../store/lease-rule.ts';
import type { RunStatus } from '../../store/run-index.ts';
import type { Snapshot } from '../../store/snapshot-store.ts';

/** The part of a run's index row that appends set. */
export interface IndexState {
  status: RunStatus;
  wakeAt: string | null;
  graphId: string;
}

export interface MemorySubscription {
  readonly listener: EventListener;
  /** The sequence of the last event delivered. */
  delivered: number;
  delivering: boolean;
}

/** One stream and everything written in its appends' transactions. */
export interface MemoryStream {
  readonly ref: StreamRef;
  /** One entry an append, in order; compaction removes whole entries. */
  appends: (readonly EventEnvelope[])[];
  end: number;
  createdAt: string;
  updatedAt: string;
  fence: bigint;
  readonly ids: Map<string, number>;
  /** Oldest first, at most two. */
  snapshots: readonly Snapshot[];
  index: IndexState | null;
  due: boolean;
}

/** One content, and every reference that a write of it returned, as canonical text. */
export interface MemoryArtifact {
  readonly bytes: Uint8Array;
  readonly receipts: Set<string>;
}

/** What a memory store holds: made by `createMemoryBacking`, read by the adapter only. */
export interface MemoryBacking {
  readonly streams: Map<string, MemoryStream>;
  readonly subscriptions: Map<string, Set<MemorySubscription>>;
  readonly leases: Map<string, LeaseRecord>;
  /** By namespace and run, then by digest. */
  readonly artifacts: Map<string, Map<string, MemoryArtifact>>;
}

/**
 * An empty backing.
 *
 * @example const backing = createMemoryBacking(); // for several storages
 */
export function createMemoryBacking(): MemoryBacking {
  return {
    streams: new Map(),
    subscriptions: new Map(),
    leases: new Map(),
    artifacts: new Map(),
  };
}

/** The key of a stream, or of a run's artifacts or lease: neither part may hold a `/`. */
export function backingKey(namespace: string, name: string): string {
  return `${namespace}/${name}`;
}

/** The place in `appends` of the first append that holds an event after `after`. */
export function firstAppendAfter(stream: MemoryStream, after: number): number {
  let low = 0;
  let high = stream.appends.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((stream.appends[middle]?.at(-1)?.sequence ?? 0) > after) high = middle;
    else low = middle + 1;
  }
  return low;
}
