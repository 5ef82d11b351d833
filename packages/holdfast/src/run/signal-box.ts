/**
 * Signals a run has received, oldest first. Each is consumed by at most one completion, or handed
 * to one child run; all that it was handed are kept while the position of that run is open.
 */
import type { EventPayloads } from '../history/catalog.ts';

export type SignalMessage = EventPayloads['graph:signal-received'] & { readonly sequence: number };

interface SavedSignals {
  readonly waiting: readonly SignalMessage[];
  readonly seen: readonly string[];
  /** Absent where none is kept for a child run. */
  readonly handed?: readonly (readonly [position: string, signals: readonly SignalMessage[]])[];
}

export class SignalBox {
  readonly #waiting: Map<string, SignalMessage>;
  readonly #seen: Set<string>;
  readonly #handed: Map<string, readonly SignalMessage[]>;

  constructor(saved: SavedSignals = { waiting: [], seen: [] }) {
    this.#waiting = new Map(saved.waiting.map((signal) => [signal.signalId, signal]));
    this.#seen = new Set(saved.seen);
    this.#handed = new Map(saved.handed);
  }

  /** Keeps a message; a repeat of the same signal id is ignored. */
  receive(payload: EventPayloads['graph:signal-received'], sequence: number): void {
    if (this.#seen.has(payload.signalId)) return;
    this.#seen.add(payload.signalId);
    this.#waiting.set(payload.signalId, { ...payload, sequence });
  }

  has(signalId: string): boolean {
    return this.#seen.has(signalId);
  }

  /** The oldest message of this name that nothing has consumed. */
  oldest(name: string): SignalMessage | undefined {
    for (const signal of this.#waiting.values()) {
      if (signal.name === name) return signal;
    }
    return undefined;
  }

  /** False when no such message waits. */
  consume(signalId: string): boolean {
    return this.#waiting.delete(signalId);
  }

  /** From now on it is the child run's of this position. False when no such message waits. */
  hand(signalId: string, position: string): boolean {
    const signal = this.#waiting.get(signalId);
    if (signal === undefined) return false;
    this.#waiting.delete(signalId);
    this.#handed.set(position, [...this.handedTo(position), signal]);
    return true;
  }

  /** What the child run of this position is to have, oldest first. */
  handedTo(position: string): readonly SignalMessage[] {
    return this.#handed.get(position) ?? [];
  }

  /** The position is settled: its child run has ended. */
  forget(position: string): void {
    this.#handed.delete(position);
  }

  waiting(): readonly SignalMessage[] {
    return [...this.#waiting.values()];
  }

  save(): SavedSignals {
    const handed = this.#handed.size === 0 ? {} : { handed: [...this.#handed] };
    return { waiting: this.waiting(), seen: [...this.#seen], ...handed };
  }
}
