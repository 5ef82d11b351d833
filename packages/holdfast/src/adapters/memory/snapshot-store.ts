/** Snapshots in memory: the newest two of a stream. */
import type { StreamRef } from '../../history/envelope.ts';
import type { Admission } from '../../store/admission.ts';
import { snapshotAhead } from '../../store/refusals.ts';
import type { Snapshot, SnapshotStore } from '../../store/snapshot-store.ts';
import { backingKey, type MemoryBacking, type MemoryStream } from './backing.ts';

const KEPT_SNAPSHOTS = 2;

export class MemorySnapshotStore implements SnapshotStore {
  readonly #backing: MemoryBacking;
  readonly #admission: Admission;

  constructor(backing: MemoryBacking, admission: Admission) {
    this.#backing = backing;
    this.#admission = admission;
  }

  async newest(stream: StreamRef): Promise<Snapshot | null> {
    return this.#find(stream)?.snapshots.at(-1) ?? null;
  }

  async save(stream: StreamRef, snapshot: Snapshot): Promise<void> {
    const found = this.#find(stream);
    const admitted = this.#admission.snapshot(snapshot);
    if (found === undefined || admitted.sequence > found.end) {
      throw snapshotAhead(stream, admitted.sequence, found?.end ?? 0);
    }
    keepSnapshot(found, admitted);
  }

  #find(stream: StreamRef): MemoryStream | undefined {
    this.#admission.stream(stream);
    return this.#backing.streams.get(backingKey(stream.namespace, stream.streamId));
  }
}

/** Adds a snapshot, replacing one of the same sequence, and lets go of the oldest. */
export function keepSnapshot(stream: MemoryStream, snapshot: Snapshot): void {
  stream.snapshots = stream.snapshots
    .filter((kept) => kept.sequence !== snapshot.sequence)
    .concat(snapshot)
    .sort((left, right) => left.sequence - right.sequence)
    .slice(-KEPT_SNAPSHOTS);
}
