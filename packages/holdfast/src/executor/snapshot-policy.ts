/**
 * When a snapshot is due: the tail behind the last one has enough events (1,000) and outweighs
 * it, so all snapshots together stay within a constant factor of the log.
 */
import { freezeJson, type JsonObject, type JsonValue } from '../base/json.ts';
import type { Snapshot } from '../store/snapshot-store.ts';
import type { TurnBatch } from './turn-batch.ts';

/** The smallest tail behind which a snapshot pays, in events. */
export const SNAPSHOT_TAIL_EVENTS = 1_000;
/** What a stored event weighs beside its large parts, in bytes: an estimate. */
const EVENT_WEIGHT_BYTES = 160;

export class SnapshotPolicy {
  #tailEvents = 0;
  #tailBytes = 0;
  #lastBytes: number;
  readonly #minTailEvents: number;

  /** `lastBytes` is the weight of the newest snapshot, 0 when there is none. */
  constructor(lastBytes: number, minTailEvents: number) {
    this.#lastBytes = lastBytes;
    this.#minTailEvents = minTailEvents;
  }

  /** Counts an event that was read behind the snapshot. */
  read(payload: JsonValue): void {
    this.#tailEvents += 1;
    this.#tailBytes += EVENT_WEIGHT_BYTES + weightOf(payload);
  }

  /** The snapshot to write with this batch, or null. */
  take(batch: TurnBatch): Snapshot | null {
    if (batch.isCut) return null;
    if (this.#tailEvents < this.#minTailEvents || this.#tailBytes < this.#lastBytes) return null;
    if (batch.machine.fold.end !== null || batch.machine.unrecorded().dispatches.length > 0) {
      return null;
    }
    return { sequence: batch.machine.fold.sequence, body: freezeJson(batch.machine.save()) };
  }

  committed(batch: TurnBatch, snapshot: Snapshot | null): void {
    if (snapshot !== null) {
      this.passedOver(snapshot);
      return;
    }
    this.#tailEvents += batch.events.length;
    this.#tailBytes += batch.bytes;
  }

  /** This snapshot is done with, stored or not: the next one waits for a tail of its own. */
  passedOver({ body }: Snapshot): void {
    this.#lastBytes = weightOf(body);
    this.#tailEvents = 0;
    this.#tailBytes = 0;
  }
}

/** About how many bytes the text of a value has: the rule needs no more, and this is cheap. */
export function weightOf(value: JsonValue): number {
  if (typeof value === 'string') return value.length + 3;
  if (typeof value !== 'object' || value === null) return 5;
  let weight = 2;
  if (Array.isArray(value)) {
    for (const item of value) weight += weightOf(item);
  } else {
    const object = value as JsonObject;
    for (const key in object) weight += key.length + 4 + weightOf(object[key] as JsonValue);
  }
  return weight;
}
