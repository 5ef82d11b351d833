/**
 * A run's first event: which graph it runs, by which plan, with which inputs, in which storage.
 * It comes before everything else and never changes.
 */

import { canonicalText, type Sha256Digest } from '../base/digest.ts';
import { isHoldfastError } from '../base/errors.ts';
import { isStreamName } from '../base/identifier.ts';
import { cloneFrozenJson, isJsonObject, type JsonObject, type JsonValue } from '../base/json.ts';
import { requireObject } from '../base/option.ts';
import type { Clock } from '../base/ports.ts';
import { type IsoTime, isoTime } from '../base/time.ts';
import type { AnyGraphDefinition, CompiledGraphDefinition } from '../graph/definition.ts';
import { compileGraphDefinition } from '../graph/definition.ts';
import type { ResolvedPlanSnapshot } from '../graph/plan.ts';
import { validateResolvedPlan } from '../graph/validate-plan.ts';
import type { EventEnvelope, StreamRef } from '../history/envelope.ts';
import { GraphExecutionError } from '../run/run-error.ts';
import { hashText } from '../store/host-hash.ts';
import { safePayloadBytes } from '../store/policy.ts';
import type { RunStorage, RunStorageRecord } from '../store/storage.ts';
import { StorageError } from '../store/storage-error.ts';
import { createSystemClock } from '../store/system-clock.ts';
import { requireStorage } from './option-check.ts';
import { requireFittingInput } from './result-limit.ts';
import { isRelativeRunId } from './run-names.ts';
import { loadValue, type StoredValue, storeValue } from './stored-value.ts';

/** What a run's first event is made of. */
export interface PersistRunOptions {
  /** 1–128 letters, digits, `.`, `_`, `-`. */
  readonly runId: string;
  readonly graphDefinition: CompiledGraphDefinition<AnyGraphDefinition>;
  readonly resolvedPlan: ResolvedPlanSnapshot;
  readonly resolvedInputs: JsonValue;
  /** By default derived from the stream. */
  readonly eventId?: string;
  /** By default now. */
  readonly timestamp?: IsoTime;
  readonly clock?: Clock;
}

/** What the first event says. */
export interface RunDefinition {
  readonly schemaVersion: 1;
  readonly runId: string;
  readonly graph: ResolvedPlanSnapshot['plan']['graph'];
  readonly graphDefinition: StoredValue;
  readonly planDigest: Sha256Digest;
  readonly resolvedPlan: StoredValue;
  readonly resolvedInputs: StoredValue;
  readonly storage: RunStorageRecord;
}

/** A definition with all of its parts read and checked. */
export interface LoadedRunDefinition {
  readonly record: EventEnvelope;
  readonly definition: RunDefinition;
  readonly graphDefinition: CompiledGraphDefinition;
  readonly resolvedPlan: ResolvedPlanSnapshot;
  readonly resolvedInputs: JsonValue;
}

/** Each part may take this share of the largest event; a larger one becomes an artifact. */
const INLINE_SHARE = 0.25;

/**
 * Stores a run. Seed 000, "How a dispatch runs", 1; seed 002.
 *
 * Throws `SEQUENCE_CONFLICT` when the run exists already, `INVALID_ID` (also for an id that ends as
 * those of child runs and successors do), `STORED_GRAPH_MISMATCH` when the plan is of another
 * graph, `STORAGE_LIMIT_EXCEEDED` for an input that a flow's trigger cannot return, and what the
 * store throws.
 *
 * @example
 * await persistRunDefinition(storage, {
 *   runId: 'r1', graphDefinition: compiled.definition, resolvedPlan: plan, resolvedInputs: {},
 * });
 */
export async function persistRunDefinition(
  storage: RunStorage,
  options: PersistRunOptions,
): Promise<EventEnvelope> {
  requireStorage(storage);
  requireObject('options', options);
  refuseRelativeId(options.runId);
  const { graphDefinition: definition, resolvedPlan: plan, resolvedInputs: input } = options;
  requireFittingInput(storage.record.policy, { plan, definition, input });
  return storeRunDefinition(storage, options);
}

/** `persistRunDefinition` for any run: a child run or a successor has an id of its own kind. */
export async function storeRunDefinition(
  storage: RunStorage,
  options: PersistRunOptions,
): Promise<EventEnvelope> {
  const { graphDefinition, resolvedPlan, eventId, clock = createSystemClock() } = options;
  const stream = streamOf(storage, options.runId);
  const { graph } = resolvedPlan.plan;
  if (graph.definitionDigest !== graphDefinition.digest) {
    throw mismatch(options.runId, 'definition', graph.definitionDigest, graphDefinition.digest);
  }
  const definition = await definitionOf(storage, stream, options);
  const event = {
    type: 'graph:run-started',
    version: 1,
    timestamp: options.timestamp ?? isoTime(clock.now()),
    payload: cloneFrozenJson({ definition }),
    ...(eventId === undefined ? {} : { id: eventId }),
  };
  const index = { status: 'running', wakeAt: event.timestamp, graphId: graph.id } as const;
  try {
    await storage.eventStore.append(stream, 0, [event], { index });
  } catch (error) {
    throw isHoldfastError(error, 'SEQUENCE_CONFLICT') ? existing(options.runId, error) : error;
  }
  const [record] = await storage.eventStore.readAt(stream, [1]);
  if (record === undefined) throw notStored(options.runId);
  return record;
}

/**
 * Reads a run's first event and every part of it. Throws `RUN_NOT_FOUND`, `INVALID_STORED_VALUE`,
 * `GraphValidationError` for an edited plan, and artifact codes.
 *
 * @example const { graphDefinition, resolvedInputs } = await loadRunDefinition(storage, 'r1');
 */
export async function loadRunDefinition(
  storage: RunStorage,
  runId: string,
): Promise<LoadedRunDefinition> {
  const { record, definition } = await readRunStart(storage, runId);
  const scope = { namespace: storage.record.namespace, runId };
  const part = (stored: StoredValue) => loadValue(storage, scope, cloneFrozenJson(stored));
  const graphDefinition = compileGraphDefinition((await part(definition.graphDefinition)) as never);
  if (graphDefinition.digest !== definition.graph.definitionDigest) {
    throw damaged(runId, 'its graph definition has another digest than its record says');
  }
  const resolvedPlan = await readPlan(storage, runId, definition);
  const resolvedInputs = await readInputs(storage, runId, definition);
  return { record, definition, graphDefinition, resolvedPlan, resolvedInputs };
}

/** Throws `INVALID_STORED_VALUE` unless the stored plan has the digest that its run was given. */
export async function requireStoredPlan(
  storage: RunStorage,
  runId: string,
  definition: RunDefinition,
): Promise<JsonValue> {
  const scope = { namespace: storage.record.namespace, runId };
  const stored = await loadValue(storage, scope, cloneFrozenJson(definition.resolvedPlan));
  if (stored === undefined) throw damaged(runId, 'its plan is missing');
  if (hasDigest(stored, definition.planDigest)) return stored;
  throw damaged(runId, 'its plan has another digest than its record says');
}

/** Plans are made with their keys in order: then the plain text is the canonical one. */
function hasDigest(value: JsonValue, digest: Sha256Digest): boolean {
  if (digest === `sha256:${hashText(JSON.stringify(value))}`) return true;
  return digest === `sha256:${hashText(canonicalText(value))}`;
}

/** The run's plan, validated. Throws `INVALID_STORED_VALUE`, `GraphValidationError`. */
export async function readPlan(
  storage: RunStorage,
  runId: string,
  definition: RunDefinition,
): Promise<ResolvedPlanSnapshot> {
  return validateResolvedPlan(await requireStoredPlan(storage, runId, definition));
}

/** The first event and its definition, with only its outer shape checked. */
export async function readRunStart(
  storage: RunStorage,
  runId: string,
): Promise<{ readonly record: EventEnvelope; readonly definition: RunDefinition }> {
  const record = await firstEvent(storage, streamOf(storage, runId));
  if (record === undefined) throw notStored(runId);
  const payload = isJsonObject(record.payload) ? record.payload['definition'] : undefined;
  if (record.type !== 'graph:run-started' || !isRunDefinition(payload, runId)) {
    throw damaged(runId, 'its first event is no run definition');
  }
  return { record, definition: payload as unknown as RunDefinition };
}

/** The run's inputs, frozen. */
export async function readInputs(
  storage: RunStorage,
  runId: string,
  definition: RunDefinition,
): Promise<JsonValue> {
  const scope = { namespace: storage.record.namespace, runId };
  const inputs = await loadValue(storage, scope, cloneFrozenJson(definition.resolvedInputs));
  if (inputs === undefined) throw damaged(runId, 'its inputs are missing');
  return cloneFrozenJson(inputs);
}

function existing(runId: string, cause: Error): StorageError {
  const text =
    `Run ${runId} exists already. Go on with it (driveRun, createGraphExecutor), ` +
    'or store this one under another id.';
  return new StorageError('SEQUENCE_CONFLICT', text, { runId }, cause);
}

/** The error for a supplied graph that is not the stored one. */
export function mismatch(
  runId: string,
  what: string,
  stored: string | number,
  supplied: string | number,
): GraphExecutionError {
  return new GraphExecutionError(
    'STORED_GRAPH_MISMATCH',
    `Run ${runId} is stored with graph ${what} ${stored}; the graph supplied has ${supplied}.`,
    { runId, what, stored, supplied },
  );
}

/** Throws `INVALID_ID` for an id by which a run would pass for another's child or successor. */
export function refuseRelativeId(runId: string): void {
  if (!isRelativeRunId(runId)) return;
  throw new GraphExecutionError(
    'INVALID_ID',
    `${JSON.stringify(String(runId).slice(-80))} cannot be given to a run: ids that end in '.' ` +
      "and 16 hexadecimal digits, or in '.c' and a number, are kept for child runs and successors.",
  );
}

/** The stream of a run in this storage. Throws `INVALID_ID`. */
export function streamOf(storage: RunStorage, runId: string): StreamRef {
  if (!isStreamName(runId)) {
    throw new GraphExecutionError(
      'INVALID_ID',
      `${JSON.stringify(String(runId).slice(0, 80))} is no run id: use 1–128 letters, digits, ` +
        "'.', '_' or '-', beginning with a letter or digit.",
    );
  }
  return { namespace: storage.record.namespace, streamId: runId };
}

async function definitionOf(
  storage: RunStorage,
  stream: StreamRef,
  options: PersistRunOptions,
): Promise<RunDefinition> {
  const scope = { namespace: stream.namespace, runId: stream.streamId };
  const inlineBytes = safePayloadBytes(storage.record.policy) * INLINE_SHARE;
  const store = (value: JsonValue, purpose: string) =>
    storeValue(storage, scope, { value, purpose, inlineBytes });
  const { resolvedPlan } = options;
  return {
    schemaVersion: 1,
    runId: options.runId,
    graph: resolvedPlan.plan.graph,
    graphDefinition: await store(asJson(options.graphDefinition.value), 'graph-definition'),
    planDigest: resolvedPlan.digest,
    resolvedPlan: await store(asJson(resolvedPlan.plan), 'resolved-plan'),
    resolvedInputs: await store(cloneFrozenJson(options.resolvedInputs), 'resolved-inputs'),
    storage: storage.record,
  };
}

async function firstEvent(
  storage: RunStorage,
  stream: StreamRef,
): Promise<EventEnvelope | undefined> {
  if ((await storage.eventStore.end(stream)) === 0) return undefined;
  try {
    return (await storage.eventStore.readAt(stream, [1]))[0];
  } catch (error) {
    if (isHoldfastError(error, 'COMPACTED')) return undefined;
    throw error;
  }
}

function isRunDefinition(value: JsonValue | undefined, runId: string): value is JsonObject {
  if (!isJsonObject(value)) return false;
  const parts = ['graph', 'graphDefinition', 'resolvedPlan', 'resolvedInputs', 'storage'];
  return value['runId'] === runId && parts.every((part) => isJsonObject(value[part]));
}

function notStored(runId: string): GraphExecutionError {
  return new GraphExecutionError('RUN_NOT_FOUND', `No run ${runId} is stored here.`, { runId });
}

function damaged(runId: string, what: string): StorageError {
  return new StorageError('INVALID_STORED_VALUE', `Run ${runId} is damaged: ${what}.`, { runId });
}

/** A frozen structure of ours, seen as the JSON that it is. */
function asJson(value: unknown): JsonValue {
  return cloneFrozenJson(value);
}
