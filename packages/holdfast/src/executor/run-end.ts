/** The end of a run as an event, and as what `run` returns of it, now or years later. */
import { isSha256Digest } from '../base/digest.ts';
import { isHoldfastError } from '../base/errors.ts';
import { isJsonObject, type JsonValue } from '../base/json.ts';
import type { CompleteCommand, FailCommand } from '../graph/commands.ts';
import type { StreamRef } from '../history/envelope.ts';
import { isLateNote, type RunEnd, typedEvent } from '../run/run-fold.ts';
import type { RunResult } from '../run/run-result.ts';
import type { ArtifactReference } from '../store/artifact-store.ts';
import { SecretScreen } from '../store/known-secrets.ts';
import { safePayloadBytes } from '../store/policy.ts';
import type { RunStorage } from '../store/storage.ts';
import { StorageError } from '../store/storage-error.ts';
import { failText } from './end-text.ts';
import { successorRunId } from './run-names.ts';

/** What ends a run. */
export type EndCommand = CompleteCommand | FailCommand | { readonly kind: 'cancelled' };

const CANCELLED = { code: 'CANCELLED', message: 'The run was cancelled.' } as const;

/** The payload of `graph:run-finished`; an output over the event limit becomes an artifact. */
export async function endPayload(
  command: EndCommand,
  stream: StreamRef,
  storage: RunStorage,
): Promise<RunEnd> {
  if (command.kind === 'fail') {
    return { outcome: 'fail', ...failText(command, storage) };
  }
  if (command.kind === 'cancelled') return { outcome: 'cancelled', ...CANCELLED };
  const output = withSuccessor(command.output, stream.streamId);
  try {
    return { outcome: 'complete', output: await storedEnd(output, stream, storage) };
  } catch (error) {
    return refusedEnd(error);
  }
}

/** The output as an event holds it: itself, or the artifact that stands for it. */
async function storedEnd(
  output: JsonValue,
  stream: StreamRef,
  storage: RunStorage,
): Promise<JsonValue> {
  const text = JSON.stringify(output);
  if (SecretScreen.of(storage.knownSecrets)?.foundInJson(text) === true) {
    throw new StorageError('KNOWN_SECRET', 'The output of the run holds a known secret.');
  }
  const bytes = Buffer.from(text);
  // Room for the few words around the output. One that looks like a reference becomes one.
  const fits = bytes.length + 64 <= safePayloadBytes(storage.record.policy);
  if (fits && referenceIn(output) === null) return output;
  const scope = { namespace: stream.namespace, runId: stream.streamId };
  const mediaType = 'application/json';
  const artifact = { bytes, mediaType, purpose: 'run-output', contentMode: 'state' } as const;
  return { artifact: { ...(await storage.artifactStore.write(scope, artifact)) } };
}

/** An output that no store may hold ends the run as failed: it would never end otherwise. */
function refusedEnd(error: unknown): RunEnd {
  if (isHoldfastError(error, 'KNOWN_SECRET')) {
    const message = 'The output of the run holds a known secret and was not recorded.';
    return { outcome: 'fail', code: 'KNOWN_SECRET', message };
  }
  if (!isHoldfastError(error, 'STORAGE_LIMIT_EXCEEDED')) throw error;
  const message = `The output of the run cannot be stored: ${error.message}`;
  return { outcome: 'fail', code: 'RESULT_TOO_LARGE', message };
}

/**
 * How a run ended, read from its last events without any graph code; null while it has not. Only
 * late signals and cancel requests can stand behind the end.
 */
export async function recordedEnd(storage: RunStorage, stream: StreamRef): Promise<RunEnd | null> {
  const row = await storage.runIndex.get(stream.streamId);
  if (row === null || row.status === 'running' || row.status === 'paused') return null;
  for (let sequence = row.sequence; sequence > 0; sequence -= 1) {
    const [envelope] = await storage.eventStore.readAt(stream, [sequence]);
    const event = envelope === undefined ? undefined : typedEvent(envelope);
    if (event?.type === 'graph:run-finished') return event.payload;
    if (event === undefined || !isLateNote(event)) return null;
  }
  return null;
}

/** What `run` returns for a recorded end. */
export async function resultOf(
  end: RunEnd,
  stream: StreamRef,
  storage: RunStorage,
): Promise<RunResult> {
  if (end.outcome === 'complete') {
    return { kind: 'complete', output: await storedOutput(end.output ?? null, stream, storage) };
  }
  const { code = CANCELLED.code, message = CANCELLED.message } = end;
  return { kind: 'fail', code, message };
}

async function storedOutput(
  output: JsonValue,
  stream: StreamRef,
  storage: RunStorage,
): Promise<JsonValue> {
  const reference = referenceIn(output);
  if (reference === null) return output;
  const scope = { namespace: stream.namespace, runId: stream.streamId };
  const bytes = await storage.artifactStore.read(scope, reference);
  return JSON.parse(Buffer.from(bytes).toString('utf8')) as JsonValue;
}

/** The reference that stands for an output, if that is what it is. */
function referenceIn(output: JsonValue): ArtifactReference | null {
  if (!isJsonObject(output) || Object.keys(output).join() !== 'artifact') return null;
  const reference = output['artifact'];
  if (!isJsonObject(reference) || !isSha256Digest(reference['digest'])) return null;
  return reference as unknown as ArtifactReference;
}

/** Where a run goes on in a successor, if its output says so. */
export function continuation(
  output: JsonValue,
): { readonly runId: string; readonly input: JsonValue } | null {
  const next = isJsonObject(output) ? output['continueAs'] : undefined;
  if (!isJsonObject(next) || typeof next['runId'] !== 'string') return null;
  return { runId: next['runId'], input: next['input'] ?? null };
}

/** A graph that continues as new names the input; the executor adds the successor's run id. */
function withSuccessor(output: JsonValue, runId: string): JsonValue {
  const next = isJsonObject(output) ? output['continueAs'] : undefined;
  if (!isJsonObject(next) || next['runId'] !== undefined) return output;
  return { continueAs: { runId: successorRunId(runId), input: next['input'] ?? null } };
}
