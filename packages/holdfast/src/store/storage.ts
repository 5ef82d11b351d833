/** One bundle of ports: all that an executor needs of a store. */
import type { ArtifactStore } from './artifact-store.ts';
import type { EventStore } from './event-store.ts';
import type { LeaseStore } from './lease-store.ts';
import type { RunStoragePolicy } from './policy.ts';
import type { RunIndex } from './run-index.ts';
import type { SnapshotStore } from './snapshot-store.ts';

/** Which provider stores the run: part of the run's first event. */
export interface StorageProvider {
  readonly schemaVersion: 1;
  readonly name: string;
  readonly version: string;
}

/** What a run's first event says of its storage. It names no directory: a store may be moved. */
export interface RunStorageRecord {
  readonly schemaVersion: 1;
  readonly namespace: string;
  readonly eventStore: StorageProvider;
  readonly artifactStore: StorageProvider;
  readonly policy: RunStoragePolicy;
}

/** A storage: the ports of one namespace, and what it says of itself in a run's first event. */
export interface RunStorage {
  readonly record: RunStorageRecord;
  readonly eventStore: EventStore;
  readonly snapshotStore: SnapshotStore;
  readonly artifactStore: ArtifactStore;
  readonly leaseStore: LeaseStore;
  readonly runIndex: RunIndex;
  /** Live only: never stored, never part of a digest. */
  readonly knownSecrets: readonly string[];
  /** Lets go of files and timers; a later call opens them again. */
  close(): Promise<void>;
}
