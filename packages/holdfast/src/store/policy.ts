/** How much one run may store. */

export interface RunStoragePolicy {
  readonly schemaVersion: 1;
  /** The largest payload of one event, in bytes of its JSON text. */
  readonly maxEventPayloadBytes: number;
  /** The largest batch of one append, in bytes; at least `maxEventPayloadBytes`. */
  readonly maxAppendBatchBytes: number;
  readonly maxArtifactBytes: number;
  readonly maxTotalArtifactBytesPerRun: number;
  readonly retention: 'until-run-delete';
  readonly sensitiveContent: {
    readonly marked: 'reject';
    readonly exact: 'reject';
    readonly freeText: 'redact-before-hash';
  };
}

/** 256 KiB an event, 1 MiB a batch, 1 MiB an artifact, 16 MiB of artifacts a run. */
export const defaultStoragePolicy: RunStoragePolicy = Object.freeze({
  schemaVersion: 1,
  maxEventPayloadBytes: 256 * 1024,
  maxAppendBatchBytes: 1024 * 1024,
  maxArtifactBytes: 1024 * 1024,
  maxTotalArtifactBytesPerRun: 16 * 1024 * 1024,
  retention: 'until-run-delete',
  sensitiveContent: Object.freeze({
    marked: 'reject',
    exact: 'reject',
    freeText: 'redact-before-hash',
  }),
});
