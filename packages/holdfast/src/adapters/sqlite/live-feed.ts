/**
 * Live delivery: appends of this storage as they are acknowledged, those of other connections when
 * the file says that it has changed.
 *
 * Invariants: each listener gets each append once and in order, and only what is durable.
 */
import type { Timer } from '../../base/ports.ts';
import type { EventEnvelope, StreamRef } from '../../history/envelope.ts';
import type { EventListener } from '../../store/event-store.ts';
import { endOf } from './append-write.ts';
import { type Database, streamKey } from './database.ts';
import { readAppends } from './log-reader.ts';
import type { WriteQueue } from './write-queue.ts';

const POLL_MS = 50;

interface Subscription {
  readonly stream: StreamRef;
  readonly listener: EventListener;
  /** The sequence of the last event delivered. */
  delivered: number;
  /** True while a catch-up reads; `again` asks it for another round. */
  reading: boolean;
  again: boolean;
}

export class LiveFeed {
  readonly #database: Database;
  readonly #queue: WriteQueue;
  readonly #subscriptions = new Map<string, Set<Subscription>>();
  #timer: Timer | null = null;
  #version: unknown = null;

  constructor(database: Database, queue: WriteQueue) {
    this.#database = database;
    this.#queue = queue;
  }

  subscribe(stream: StreamRef, after: number, listener: EventListener): () => void {
    const key = streamKey(stream);
    // What stands now is read below: the first poll need not look at every stream again.
    if (this.#subscriptions.size === 0) this.#version = this.#dataVersion();
    const begun = { stream, listener, delivered: after, reading: false, again: false };
    const listening = this.#subscriptions.get(key) ?? new Set();
    this.#subscriptions.set(key, listening.add(begun));
    this.#arm();
    void this.#catchUp(begun);
    return () => {
      listening.delete(begun);
      if (listening.size > 0 || this.#subscriptions.get(key) !== listening) return;
      this.#subscriptions.delete(key);
      if (this.#subscriptions.size === 0) this.close();
    };
  }

  /** Whether anybody listens to the stream: else its envelopes need not be built. */
  hasListeners(key: string): boolean {
    return this.#subscriptions.size > 0 && this.#subscriptions.has(key);
  }

  /** Tells what an acknowledged append of this storage has added. */
  publish(stream: StreamRef, events: readonly EventEnvelope[]): void {
    for (const each of this.#subscriptions.get(streamKey(stream)) ?? []) {
      if (events[0]?.sequence === each.delivered + 1) deliver(each, events);
      else void this.#catchUp(each);
    }
  }

  /** Ends every subscription. */
  close(): void {
    this.#subscriptions.clear();
    this.#timer?.cancel();
    this.#timer = null;
    this.#version = null;
  }

  #arm(): void {
    this.#timer ??= this.#database.options.background.after(POLL_MS, () => {
      this.#timer = null;
      if (this.#subscriptions.size === 0) return;
      this.#poll();
      this.#arm();
    });
  }

  /** Changes when another connection writes; null while the store is busy or damaged. */
  #dataVersion(): unknown {
    try {
      return this.#database.statement('pragma data_version').get()?.['data_version'];
    } catch {
      return null; // Appends and reads report it, the next poll tries again.
    }
  }

  #poll(): void {
    const version = this.#dataVersion();
    if (version === null || version === this.#version) return;
    this.#version = version;
    for (const listening of this.#subscriptions.values()) {
      for (const each of listening) void this.#catchUp(each);
    }
  }

  #isActive(subscription: Subscription): boolean {
    return this.#subscriptions.get(streamKey(subscription.stream))?.has(subscription) ?? false;
  }

  async #catchUp(subscription: Subscription): Promise<void> {
    subscription.again = true;
    if (subscription.reading) return;
    subscription.reading = true;
    try {
      while (subscription.again && this.#isActive(subscription)) {
        subscription.again = false;
        await this.#deliverStored(subscription);
      }
    } catch {
      this.#version = null; // The next poll reads again.
    } finally {
      subscription.reading = false;
    }
  }

  async #deliverStored(subscription: Subscription): Promise<void> {
    const { stream } = subscription;
    const end = await this.#database.attempt(() => {
      const runId = this.#database.runId(stream);
      return runId === null ? 0 : endOf(this.#database, runId).end;
    });
    if (end <= subscription.delivered) return;
    // Another process may not have synced what it wrote, nor we what we are committing.
    await this.#queue.sync();
    if (!this.#isActive(subscription)) return;
    for await (const events of readAppends(this.#database, stream, subscription.delivered)) {
      if (!this.#isActive(subscription)) return;
      if ((events.at(-1)?.sequence ?? 0) > end) {
        subscription.again = true;
        return;
      }
      deliver(subscription, events);
    }
  }
}

/** A listener that throws harms neither the append that woke it nor other listeners. */
function deliver(subscription: Subscription, events: readonly EventEnvelope[]): void {
  const last = events.at(-1)?.sequence ?? subscription.delivered;
  if (last <= subscription.delivered) return;
  subscription.delivered = last;
  try {
    subscription.listener(events);
  } catch {
    // Documented: what a listener throws is ignored.
  }
}
