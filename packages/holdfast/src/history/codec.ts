/**
 * The compact text of one append, as adapters store it.
 *
 * A batch is a JSON array: its first timestamp, then one array an event. What can be derived is
 * left out: field names of known types, an `at` equal to the timestamp, the identity in a start
 * record. Everything else passes through unchanged.
 *
 * Invariants: `decodeBatch(encodeBatch(events))` equals `events` for every batch; codes and layouts
 * are stored, so they are only ever added to.
 */
import { type HashText, portableHash } from '../base/digest.ts';
import { HoldfastError } from '../base/errors.ts';
import {
  freezeParsedJson,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  setOwn,
} from '../base/json.ts';
import { type IsoTime, isIsoTime, MomentText, millisecondsOf } from '../base/time.ts';
import { attemptIdOf, isDerivedIdentity } from './attempt-id.ts';
import type { StreamRef } from './envelope.ts';

/** An event without its place; `id` is null where it is derived from the place. */
export interface RecordedEvent {
  readonly id: string | null;
  readonly type: string;
  readonly version: number;
  readonly timestamp: IsoTime;
  readonly correlationId: string;
  readonly causationId: string | null;
  readonly payload: JsonValue;
}

/** The fields of one type in their stored order; `at` is stored only when it says something. */
interface Layout {
  readonly type: string;
  readonly fields: readonly string[];
  readonly at: boolean;
  /** Builds the payload of an entry: of the common types written out, which is much faster. */
  readonly build: (entry: readonly JsonValue[], at: IsoTime) => Record<string, JsonValue>;
}

const ATTEMPT_STARTED = 3;
const NODE_DISPATCHED = 2;

/** The index of a layout is its stored code. */
const layouts: readonly (Layout | null)[] = [
  null,
  layout('graph:run-started', ['definition']),
  layout(
    'graph:node-dispatched',
    ['nodeId', 'position', 'inputDigest', 'decidedAt', 'at'],
    (entry, at) => ({
      nodeId: entry[1] as JsonValue,
      position: entry[2] as JsonValue,
      inputDigest: entry[3] as JsonValue,
      decidedAt: entry[4] as JsonValue,
      at,
    }),
  ),
  layout('graph:node-attempt-started', ['identity', 'retrySafe']),
  layout('graph:node-step-started', ['position', 'step', 'retrySafe']),
  layout('graph:node-step-recorded', ['position', 'step']),
  layout('graph:engine-attempt-recorded', [
    ...['nodeId', 'position', 'sequence', 'requested', 'effective', 'usage'],
  ]),
  layout('graph:model-unavailable', ['selected', 'reported', 'failure', 'source']),
  layout('graph:node-completed', ['nodeId', 'position', 'result', 'at'], (entry, at) => ({
    nodeId: entry[1] as JsonValue,
    position: entry[2] as JsonValue,
    result: entry[3] as JsonValue,
    at,
  })),
  layout('graph:node-failed', ['nodeId', 'position', 'code', 'message', 'retryable', 'at']),
  layout('graph:node-paused', ['nodeId', 'position', 'reason', 'request', 'at']),
  layout('graph:node-resumed', ['nodeId', 'position', 'at']),
  layout('graph:pause-answered', ['pauseId', 'position', 'answer', 'by']),
  layout('graph:attempt-reconciled', [
    ...['pauseId', 'position', 'attemptId', 'kind', 'by', 'reason'],
  ]),
  layout('graph:timer-fired', ['position', 'pauseId', 'dueAt', 'at']),
  layout('graph:signal-received', ['name', 'signalId', 'payload', 'at']),
  layout('graph:cancel-requested', ['by', 'reason', 'at']),
  layout('graph:run-finished', ['outcome']),
];

const codes: ReadonlyMap<string, number> = new Map(
  layouts.flatMap((known, code) => (known === null ? [] : [[known.type, code] as const])),
);

function layout(type: string, names: readonly string[], build?: Layout['build']): Layout {
  const at = names.includes('at');
  const fields = names.filter((field) => field !== 'at');
  return { type, fields, at, build: build ?? buildOf(fields, at) };
}

function buildOf(fields: readonly string[], hasTime: boolean): Layout['build'] {
  return (entry, at) => {
    const payload: Record<string, JsonValue> = {};
    fields.forEach((field, place) => {
      payload[field] = entry[place + 1] as JsonValue;
    });
    if (hasTime) payload['at'] = at;
    return payload;
  };
}

/** What an entry holds besides the fields of its layout, under short names. */
interface Extras {
  id?: string;
  /** Version. */
  v?: number;
  /** Timestamp: milliseconds after the batch's, or its text. */
  t?: number | string;
  correlation?: string;
  cause?: string;
  /** The payload's `at`, where it is not the timestamp. */
  at?: string;
  /** Fields of the payload that its layout does not name. */
  more?: Record<string, JsonValue>;
}

/**
 * What both directions know of the batch so far: a start record most often follows its dispatch
 * in the same batch, in the same order, and then needs no fields of its own.
 */
class Batch {
  readonly stream: StreamRef;
  readonly hash: HashText;
  readonly #dispatched: JsonObject[] = [];
  #started = 0;

  constructor(stream: StreamRef, hash: HashText) {
    this.stream = stream;
    this.hash = hash;
  }

  addDispatch(payload: JsonObject): void {
    this.#dispatched.push(payload);
  }

  /** The dispatch that the next start record belongs to, if it stands in this batch. */
  nextStart(): JsonObject | undefined {
    const dispatch = this.#dispatched[this.#started];
    this.#started += 1;
    return dispatch;
  }

  attemptId(nodeId: string, position: string): string {
    return attemptIdOf(this.stream, nodeId, position, this.hash);
  }
}

/** The text of a batch; `events` must not be empty. */
export function encodeBatch(
  stream: StreamRef,
  events: readonly RecordedEvent[],
  hash: HashText = portableHash,
): string {
  const batch = new Batch(stream, hash);
  const first = events[0]?.timestamp ?? '';
  const base = isIsoTime(first) ? millisecondsOf(first) : first;
  const entries: unknown[] = [base];
  for (const event of events) entries.push(encodeEvent(batch, event, { first, base }));
  return JSON.stringify(entries);
}

interface Start {
  readonly first: IsoTime;
  readonly base: number | string;
}

function encodeEvent(batch: Batch, event: RecordedEvent, start: Start): unknown[] {
  const extras: Extras = {};
  if (event.id !== null) extras.id = event.id;
  if (event.version !== 1) extras.v = event.version;
  if (event.timestamp !== start.first) extras.t = encodeTime(event.timestamp, start.base);
  if (event.correlationId !== batch.stream.streamId) extras.correlation = event.correlationId;
  if (event.causationId !== null) extras.cause = event.causationId;
  const { payload } = event;
  const code = codes.get(event.type);
  const entry = (code !== undefined && event.version === 1 && isJsonObject(payload)
    ? encodeFields(batch, code, { payload, timestamp: event.timestamp, extras })
    : null) ?? [event.type, payload];
  for (const _ in extras) {
    entry.push(extras);
    break;
  }
  return entry;
}

function encodeTime(timestamp: IsoTime, base: number | string): number | string {
  return typeof base === 'number' && isIsoTime(timestamp)
    ? millisecondsOf(timestamp) - base
    : timestamp;
}

interface FieldsToEncode {
  readonly payload: JsonObject;
  readonly timestamp: IsoTime;
  readonly extras: Extras;
}

/** The entry of a known type, or null when the payload does not have its fields. */
function encodeFields(batch: Batch, code: number, event: FieldsToEncode): unknown[] | null {
  const { payload, extras } = event;
  const known = layouts[code];
  if (known === null || known === undefined) return null;
  for (const field of known.fields) if (payload[field] === undefined) return null;
  if (known.at && typeof payload['at'] !== 'string') return null;
  if (code === ATTEMPT_STARTED) return encodeStart(batch, payload);
  if (code === NODE_DISPATCHED) batch.addDispatch(payload);
  const entry: unknown[] = [code];
  for (const field of known.fields) entry.push(payload[field]);
  if (known.at && payload['at'] !== event.timestamp) extras.at = payload['at'] as string;
  const count = known.fields.length + (known.at ? 1 : 0);
  if (sizeOf(payload) > count) extras.more = otherFields(known, payload);
  return entry;
}

/** How many fields an object has; counted, since a list of them is garbage at once. */
function sizeOf(object: JsonObject): number {
  let size = 0;
  for (const _ in object) size += 1;
  return size;
}

function otherFields(known: Layout, payload: JsonObject): Record<string, JsonValue> {
  const more: Record<string, JsonValue> = {};
  for (const key of Object.keys(payload)) {
    if (known.fields.includes(key) || (known.at && key === 'at')) continue;
    setOwn(more, key, payload[key] as JsonValue);
  }
  return more;
}

/** `[3]` or `[3, 1]` behind its dispatch; else with node, position and, if foreign, attempt id. */
function encodeStart(batch: Batch, payload: JsonObject): unknown[] | null {
  const { identity, retrySafe } = payload;
  if (sizeOf(payload) !== 2 || typeof retrySafe !== 'boolean') return null;
  if (!isJsonObject(identity) || sizeOf(identity) !== 5) return null;
  const { namespace, streamId, nodeId, position, attemptId } = identity;
  if (namespace !== batch.stream.namespace || streamId !== batch.stream.streamId) return null;
  if (typeof nodeId !== 'string' || typeof position !== 'string') return null;
  if (typeof attemptId !== 'string') return null;
  const dispatch = batch.nextStart();
  const derived = isDerivedIdentity(identity) || attemptId === batch.attemptId(nodeId, position);
  if (derived && dispatch?.['nodeId'] === nodeId && dispatch['position'] === position) {
    return retrySafe ? [ATTEMPT_STARTED, 1] : [ATTEMPT_STARTED];
  }
  const entry = [ATTEMPT_STARTED, retrySafe ? 1 : 0, nodeId, position];
  return derived ? entry : [...entry, attemptId];
}

/** What batches are decoded with; who reads a stream keeps them from one batch to the next. */
export interface DecodeTools {
  readonly hash: HashText;
  readonly moments: MomentText;
}

/** The events of a stored batch, frozen. Throws `CORRUPT_EVENT_STREAM` for any other text. */
export function decodeBatch(
  stream: StreamRef,
  text: string,
  { hash, moments }: DecodeTools = { hash: portableHash, moments: new MomentText() },
): readonly RecordedEvent[] {
  let entries: unknown;
  try {
    entries = JSON.parse(text);
  } catch (error) {
    throw corrupt(stream, 'its text is no JSON', error);
  }
  if (!Array.isArray(entries) || entries.length < 2) throw corrupt(stream, 'it is no batch');
  const base: unknown = entries[0];
  if (typeof base !== 'number' && typeof base !== 'string') throw corrupt(stream, 'it has no time');
  const first = typeof base === 'number' ? timeText(stream, moments, base) : base;
  const start = { first, base, moments };
  const batch = new Batch(stream, hash);
  const events: RecordedEvent[] = [];
  for (let place = 1; place < entries.length; place += 1) {
    events.push(decodeEvent(batch, entries[place], start));
  }
  return events;
}

interface DecodeStart extends Start {
  readonly moments: MomentText;
}

function decodeEvent(batch: Batch, entry: unknown, start: DecodeStart): RecordedEvent {
  if (!Array.isArray(entry)) throw corrupt(batch.stream, 'an entry is no array');
  const head: unknown = entry[0];
  const known = typeof head === 'number' ? layouts[head] : null;
  if (known === undefined || (known === null && typeof head !== 'string')) {
    throw corrupt(batch.stream, `its type ${JSON.stringify(head)} is unknown`);
  }
  const extras = extrasOf(entry, known);
  const timestamp = decodeTime(batch.stream, extras.t, start);
  const payload =
    known === null
      ? (entry[1] as JsonValue)
      : decodeFields(batch, known, { entry, extras, timestamp });
  return {
    id: extras.id ?? null,
    type: known === null ? (head as string) : known.type,
    version: extras.v ?? 1,
    timestamp,
    correlationId: extras.correlation ?? batch.stream.streamId,
    causationId: extras.cause ?? null,
    payload: freezeParsedJson(payload),
  };
}

const noExtras: Extras = Object.freeze({});

/** Extras stand last; only a start record has a varying number of fields, none an object. */
function extrasOf(entry: readonly unknown[], known: Layout | null): Extras {
  const last = entry.at(-1);
  const expected =
    known === null ? 2 : entry[0] === ATTEMPT_STARTED ? entry.length - 1 : known.fields.length + 1;
  if (entry.length <= expected || typeof last !== 'object' || last === null) return noExtras;
  return last;
}

function decodeTime(
  stream: StreamRef,
  time: number | string | undefined,
  { first, base, moments }: DecodeStart,
): IsoTime {
  if (time === undefined) return first;
  if (typeof time === 'string') return time;
  return timeText(stream, moments, Number(base) + time);
}

function timeText(stream: StreamRef, moments: MomentText, ms: number): IsoTime {
  try {
    return moments.of(ms);
  } catch (error) {
    throw corrupt(stream, `${ms} is no moment`, error);
  }
}

interface FieldsToDecode {
  readonly entry: readonly unknown[];
  readonly extras: Extras;
  readonly timestamp: IsoTime;
}

function decodeFields(batch: Batch, known: Layout, event: FieldsToDecode): JsonValue {
  const { entry, extras, timestamp } = event;
  if (entry[0] === ATTEMPT_STARTED) return decodeStart(batch, entry);
  if (entry.length < known.fields.length + 1) throw corrupt(batch.stream, 'an entry is too short');
  const payload = known.build(entry as readonly JsonValue[], extras.at ?? timestamp);
  const { more } = extras;
  if (more !== undefined) {
    for (const key of Object.keys(more)) setOwn(payload, key, more[key] as JsonValue);
  }
  if (entry[0] === NODE_DISPATCHED) batch.addDispatch(payload);
  return payload;
}

function decodeStart(batch: Batch, entry: readonly unknown[]): JsonValue {
  const dispatch = batch.nextStart();
  const nodeId = typeof entry[2] === 'string' ? entry[2] : dispatch?.['nodeId'];
  const position = typeof entry[3] === 'string' ? entry[3] : dispatch?.['position'];
  if (typeof nodeId !== 'string' || typeof position !== 'string') {
    throw corrupt(batch.stream, 'a start record has no dispatch');
  }
  const attemptId = typeof entry[4] === 'string' ? entry[4] : batch.attemptId(nodeId, position);
  const { namespace, streamId } = batch.stream;
  const identity = { namespace, streamId, nodeId, position, attemptId };
  return { identity, retrySafe: entry[1] === 1 };
}

function corrupt(stream: StreamRef, what: string, cause?: unknown): HoldfastError {
  return new HoldfastError(
    'CORRUPT_EVENT_STREAM',
    `An append of stream ${stream.streamId} cannot be read: ${what}.`,
    { ...stream },
    cause,
  );
}
