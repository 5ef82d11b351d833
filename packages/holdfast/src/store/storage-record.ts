/** What an adapter says of itself in a run's first event. */
import type { Admission } from './admission.ts';
import type { RunStorageRecord } from './storage.ts';

const PROVIDER_VERSION = '1';

/** The frozen record. Throws `INVALID_STORED_VALUE` for a namespace that no store can name. */
export function storageRecord(
  namespace: string,
  provider: string,
  admission: Admission,
): RunStorageRecord {
  admission.stream({ namespace, streamId: 'record' });
  const named = Object.freeze({ schemaVersion: 1, name: provider, version: PROVIDER_VERSION });
  return Object.freeze({
    schemaVersion: 1,
    namespace,
    eventStore: named,
    artifactStore: named,
    policy: admission.policy,
  });
}
