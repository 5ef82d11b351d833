/** Signals a run has received, oldest first; each is consumed by at most one completion. */
import type { EventPayloads } from '../history/catalog.ts';

export type SignalMessage = EventPayloads['graph:signal-received'] & { readonly sequence: number };

interface SavedSignals {
  readonly waiting: readonly SignalMessage[];
  readonly seen: readonly string[];
}

export class SignalBox {
  readonly #waiting: Map<string, SignalMessage>;
  readonly #seen: Set<string>;

  constructor(saved: SavedSignals = { waiting: [], seen: [] }) {
    this.#waiting = new Map(saved.waiting.map((signal) => [signal.signalId, signal]));
    this.#seen = new Set(saved.seen);
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

  waiting(): readonly SignalMessage[] {
    return [...this.#waiting.values()];
  }

  save(): SavedSignals {
    return { waiting: this.waiting(), seen: [...this.#seen] };
  }
}
