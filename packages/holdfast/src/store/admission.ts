/**
 * The door of every store: what may be stored is decided here, once for all adapters.
 *
 * Invariants: what is admitted is frozen, plain JSON, within the policy, free of known secrets, and
 * the same on every adapter. A payload that the library's own freezer has frozen is not copied;
 * without known secrets nothing is screened.
 */
import { errorText } from '../base/errors.ts';
import { boundedIdentifierFault, identifierFault, isStreamName } from '../base/identifier.ts';
import { cloneFrozenJson, isFrozenJson, type JsonValue } from '../base/json.ts';
import { truncateText } from '../base/text.ts';
import { isIsoTime } from '../base/time.ts';
import type { RecordedEvent } from '../history/codec.ts';
import type { EventEnvelope, NewEvent, StreamRef } from '../history/envelope.ts';
import type { AppendOptions } from './event-store.ts';
import { jsonBound, jsonExceeds } from './json-size.ts';
import { SecretScreen } from './known-secrets.ts';
import { defaultStoragePolicy, frozenPolicy, type RunStoragePolicy } from './policy.ts';
import type { RunIndexUpdate } from './run-index.ts';
import type { Snapshot } from './snapshot-store.ts';
import { StorageError } from './storage-error.ts';

/** An event that passed the door; `id` is null where the store derives it. */
export type AdmittedEvent = RecordedEvent;

/** What one append may hold besides its events, checked. */
export interface AdmittedAppend {
  readonly stream: StreamRef;
  readonly expected: number | 'end';
  readonly events: readonly AdmittedEvent[];
  readonly fence: bigint | null;
  readonly snapshot: Snapshot | null;
  readonly index: RunIndexUpdate | null;
}

/** An append as its caller gives it. */
export interface AppendRequest {
  readonly stream: StreamRef;
  readonly expected: number | 'end';
  readonly events: readonly NewEvent[];
  readonly options: AppendOptions;
}

/** Tokens are stored as signed 64-bit integers. */
const MAX_FENCE = 2n ** 63n - 1n;
const PLAIN_NAME = /^[!-~]{1,256}$/;
const STATUSES: readonly unknown[] = ['running', 'paused', 'complete', 'fail', 'cancelled'];

export class Admission {
  readonly policy: RunStoragePolicy;
  readonly screen: SecretScreen | null;
  #lastTimestamp = '';

  /** Throws `INVALID_OPTION` for a policy or a secret that cannot be used. */
  constructor(
    policy: RunStoragePolicy = defaultStoragePolicy,
    knownSecrets: readonly string[] = [],
  ) {
    this.screen = SecretScreen.of(knownSecrets);
    this.policy = frozenPolicy(policy, (text) => this.harmless(text));
  }

  /** Everything about an append that can be known without looking at the stream. */
  append(request: AppendRequest): AdmittedAppend {
    const { stream, expected, events, options } = request;
    this.stream(stream);
    if (expected !== 'end' && !(Number.isSafeInteger(expected) && expected >= 0)) {
      this.#refuse(`expected must be 'end' or a sequence from 0, not ${String(expected)}`);
    }
    if (!Array.isArray(events)) refuse('events must be an array');
    const index = options.index === undefined ? null : this.#index(options.index);
    if (events.length === 0 && (index === null || expected === 'end')) {
      refuse('a batch needs at least one event, unless it changes the index row at a known end');
    }
    const admitted: AdmittedEvent[] = [];
    let bytes = 0;
    for (let place = 0; place < events.length; place += 1) {
      const event = this.#event(stream, events[place] as NewEvent, place);
      bytes += this.#checkedSize(event, place);
      if (this.screen?.foundInJson(JSON.stringify(event))) secret(`event ${place}`, 'it');
      admitted.push(event);
    }
    this.#checkIds(stream, expected, admitted);
    if (bytes > this.policy.maxAppendBatchBytes) this.#checkBatch(admitted);
    return {
      stream,
      expected,
      events: admitted,
      fence: options.fence === undefined ? null : fence(options.fence),
      snapshot: options.snapshot === undefined ? null : this.snapshot(options.snapshot),
      index,
    };
  }

  /** Throws `INVALID_STORED_VALUE` for a stream that no store can name, `KNOWN_SECRET`. */
  stream(stream: StreamRef): void {
    this.#name('namespace', stream?.namespace);
    this.#name('streamId', stream?.streamId);
  }

  /** A frozen snapshot. Throws `INVALID_STORED_VALUE`, `KNOWN_SECRET`. */
  snapshot(snapshot: Snapshot): Snapshot {
    const { sequence } = snapshot;
    if (!Number.isSafeInteger(sequence) || sequence < 1) {
      this.#refuse(
        `the sequence of a snapshot must be a positive integer, not ${String(sequence)}`,
      );
    }
    const body = this.#frozen(snapshot.body, 'the snapshot');
    if (this.screen?.foundInJson(JSON.stringify(body))) secret('the snapshot', 'its body');
    return Object.freeze({ sequence, body });
  }

  /** Refuses text that holds a known secret; the error does not repeat it. */
  text(what: string, text: string): void {
    if (this.screen?.found(text)) secret(what, 'its text');
  }

  /** Text for a message: what is refused for another reason may hold a secret too. */
  harmless(text: string): string {
    return this.screen?.redact(text) ?? text;
  }

  #name(what: string, name: unknown): void {
    if (!isStreamName(name)) {
      const shown =
        typeof name === 'string'
          ? JSON.stringify(truncateText(this.harmless(name), 60))
          : typeof name;
      this.#refuse(
        `${what} ${shown} is not a name of 1–128 letters, digits, '.', '_' or '-' ` +
          'that begins with a letter or digit',
      );
    }
    this.text(what, name);
  }

  #event(stream: StreamRef, event: NewEvent, place: number): AdmittedEvent {
    if (typeof event !== 'object' || event === null) refuse(`event ${place} is not an object`);
    const { id, type, version, timestamp, causationId = null } = event;
    const correlationId = event.correlationId ?? stream.streamId;
    checkName(place, 'type', type);
    if (id !== undefined) checkName(place, 'id', id);
    if (correlationId !== stream.streamId) checkName(place, 'correlationId', correlationId);
    if (causationId !== null) checkName(place, 'causationId', causationId);
    if (!Number.isSafeInteger(version) || version < 1) {
      this.#refuse(`event ${place} (${type}): version must be a positive integer`);
    }
    this.#checkTimestamp(place, timestamp);
    const payload = this.#frozen(event.payload, `event ${place} (${type})`);
    return { id: id ?? null, type, version, timestamp, correlationId, causationId, payload };
  }

  /** A bound of the payload's bytes. Throws when they are more than an event may hold. */
  #checkedSize({ type, payload }: AdmittedEvent, place: number): number {
    const bytes = jsonBound(payload);
    const limit = this.policy.maxEventPayloadBytes;
    if (bytes <= limit || !jsonExceeds(payload, limit)) return bytes;
    const shown = this.harmless(type);
    throw new StorageError(
      'STORAGE_LIMIT_EXCEEDED',
      `The payload of event ${place} (${shown}) is larger than ${limit} bytes. ` +
        'Put large values into artifacts.',
      { event: place, type: shown, limit },
    );
  }

  #checkTimestamp(place: number, timestamp: unknown): void {
    if (timestamp === this.#lastTimestamp) return;
    if (!isIsoTime(timestamp)) {
      refuse(`event ${place}: timestamp must look like 2026-11-30T10:00:00.000Z`);
    }
    this.#lastTimestamp = timestamp;
  }

  /** Explicit ids are unique in their batch, and leave the form of derived ids alone. */
  #checkIds(
    { streamId }: StreamRef,
    expected: number | 'end',
    events: readonly AdmittedEvent[],
  ): void {
    let seen: Set<string> | null = null;
    for (let place = 0; place < events.length; place += 1) {
      const id = events[place]?.id ?? null;
      if (id === null) continue;
      seen ??= new Set();
      if (seen.has(id)) {
        throw new StorageError('DUPLICATE_EVENT_ID', `Event ${place} repeats the id ${id}.`, {
          id,
        });
      }
      seen.add(id);
      if (!isDerivedForm(streamId, id)) continue;
      if (expected === 'end' || id !== `${streamId}@${expected + place + 1}`) {
        refuse(`event ${place}: the id ${id} is kept for the event at that place of the stream`);
      }
    }
  }

  #checkBatch(events: readonly AdmittedEvent[]): void {
    const limit = this.policy.maxAppendBatchBytes;
    // One payload is within the batch when it is within its own limit; of several, the brackets
    // and commas around them are no part of the sum.
    if (events.length <= 1) return;
    const payloads = events.map((event) => event.payload);
    if (!jsonExceeds(payloads, limit + events.length + 1)) return;
    throw new StorageError(
      'STORAGE_LIMIT_EXCEEDED',
      `The ${events.length} payloads of this batch are together larger than ${limit} bytes. ` +
        'Append them in several batches.',
      { events: events.length, limit },
    );
  }

  #index(update: RunIndexUpdate): RunIndexUpdate {
    const { status, wakeAt, graphId } = update;
    if (status !== undefined && !STATUSES.includes(status)) {
      this.#refuse(`index.status ${JSON.stringify(status)} is not a run status`);
    }
    if (wakeAt !== undefined && wakeAt !== null && !isIsoTime(wakeAt)) {
      refuse('index.wakeAt must be null or look like 2026-11-30T10:00:00.000Z');
    }
    const fault = graphId === undefined ? null : identifierFault(graphId);
    if (fault !== null) refuse(`index.graphId: ${fault}`);
    if (graphId !== undefined) this.text('index.graphId', graphId);
    return update;
  }

  #frozen(value: unknown, what: string): JsonValue {
    if (typeof value === 'object' && value !== null && isFrozenJson(value)) {
      return value as JsonValue;
    }
    try {
      return cloneFrozenJson(value);
    } catch (error) {
      this.#refuse(`${what}: ${errorText(error)}`);
    }
  }

  /** For messages that repeat something of what was given. */
  #refuse(what: string): never {
    refuse(this.harmless(what));
  }
}

/** The envelope of an admitted event at its place in the stream; frozen. */
export function envelopeOf(
  stream: StreamRef,
  event: AdmittedEvent,
  sequence: number,
): EventEnvelope {
  return Object.freeze({
    id: event.id ?? `${stream.streamId}@${sequence}`,
    stream,
    sequence,
    type: event.type,
    version: event.version,
    timestamp: event.timestamp,
    correlationId: event.correlationId,
    causationId: event.causationId,
    payload: event.payload,
  });
}

function checkName(place: number, what: string, name: unknown): void {
  if (typeof name === 'string' && PLAIN_NAME.test(name)) return;
  const fault = boundedIdentifierFault(name);
  if (fault !== null) refuse(`event ${place}: ${what}: ${fault}`);
}

function isDerivedForm(streamId: string, id: string): boolean {
  return id.startsWith(`${streamId}@`) && /^[0-9]+$/.test(id.slice(streamId.length + 1));
}

function fence(token: unknown): bigint {
  if (typeof token !== 'bigint' || token < 0n || token > MAX_FENCE) {
    refuse('a fencing token must be a bigint from 0 to 2^63 - 1');
  }
  return token;
}

function refuse(what: string): never {
  throw new StorageError('INVALID_STORED_VALUE', `${what}.`);
}

function secret(what: string, where: string): never {
  throw new StorageError(
    'KNOWN_SECRET',
    `${what} was refused: ${where} holds a known secret. Remove it, or refer to it by name.`,
  );
}
