/** A value that stands in an event, or in an artifact when it is too large for one. */
import { isJsonObject, type JsonValue } from '../base/json.ts';
import type { ArtifactReference, ArtifactScope } from '../store/artifact-store.ts';
import type { RunStorage } from '../store/storage.ts';

export type StoredValue = { readonly value: JsonValue } | { readonly artifact: ArtifactReference };

/** Stores `value` inline when its text has at most `inlineBytes`. */
export async function storeValue(
  storage: RunStorage,
  scope: ArtifactScope,
  request: { readonly value: JsonValue; readonly purpose: string; readonly inlineBytes: number },
): Promise<StoredValue> {
  const { value, purpose, inlineBytes } = request;
  const bytes = Buffer.from(JSON.stringify(value));
  if (bytes.length <= inlineBytes) return { value };
  const mediaType = 'application/json';
  const artifact = { bytes, mediaType, purpose, contentMode: 'state' } as const;
  return { artifact: await storage.artifactStore.write(scope, artifact) };
}

/** The value behind what `storeValue` returned; undefined when it is no such thing. */
export async function loadValue(
  storage: RunStorage,
  scope: ArtifactScope,
  stored: JsonValue | undefined,
): Promise<JsonValue | undefined> {
  if (!isJsonObject(stored)) return undefined;
  const reference = stored['artifact'];
  if (reference === undefined) return stored['value'];
  const bytes = await storage.artifactStore.read(scope, reference as unknown as ArtifactReference);
  return JSON.parse(Buffer.from(bytes).toString('utf8')) as JsonValue;
}
