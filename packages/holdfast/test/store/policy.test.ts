/** What a storage policy may say; everything else is refused by the name of its field. */
import {
  defaultStoragePolicy,
  isHoldfastError,
  type RunStoragePolicy,
  safePayloadBytes,
} from 'holdfast';
import { createMemoryRunStorage } from 'holdfast/storage/memory';
import { describe, expect, it } from 'vitest';

function refusalOf(policy: unknown): string {
  try {
    createMemoryRunStorage({ namespace: 'tests', policy: policy as RunStoragePolicy });
    return 'none';
  } catch (error) {
    return isHoldfastError(error, 'INVALID_OPTION') ? error.message : String(error);
  }
}

const sizes = [
  'maxEventPayloadBytes',
  'maxAppendBatchBytes',
  'maxArtifactBytes',
  'maxTotalArtifactBytesPerRun',
] as const;

describe('a storage policy', () => {
  it.each(sizes)('%s is a positive safe integer', (name) => {
    const bad = [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, '64', null, 10n];
    for (const value of bad) {
      expect(refusalOf({ ...defaultStoragePolicy, [name]: value })).toContain(name);
    }
  });

  it.each(Object.keys(defaultStoragePolicy))('%s may not be missing', (name) => {
    const { [name as 'schemaVersion']: _, ...rest } = defaultStoragePolicy;
    expect(refusalOf(rest)).toContain(name);
  });

  it('has no field that nobody keeps to', () => {
    const { sensitiveContent } = defaultStoragePolicy;
    expect(refusalOf({ ...defaultStoragePolicy, maxEvents: 5 })).toContain('no field maxEvents');
    const inner = { ...sensitiveContent, logs: 'reject' };
    expect(refusalOf({ ...defaultStoragePolicy, sensitiveContent: inner })).toContain(
      'no field sensitiveContent.logs',
    );
  });

  it.each([
    ['schemaVersion', { schemaVersion: 2 }],
    ['retention', { retention: 'for-ever' }],
    ['sensitiveContent', { sensitiveContent: 'reject' }],
    ['marked', { sensitiveContent: { ...defaultStoragePolicy.sensitiveContent, marked: 'keep' } }],
    ['exact', { sensitiveContent: { ...defaultStoragePolicy.sensitiveContent, exact: 'keep' } }],
    [
      'freeText',
      { sensitiveContent: { ...defaultStoragePolicy.sensitiveContent, freeText: 'keep' } },
    ],
  ])('%s has one value', (name, changed) => {
    expect(refusalOf({ ...defaultStoragePolicy, ...changed })).toContain(name);
  });

  it('a batch holds a payload, and a run an artifact, of the largest size', () => {
    const small = {
      ...defaultStoragePolicy,
      maxAppendBatchBytes: 1024,
      maxEventPayloadBytes: 1025,
    };
    expect(refusalOf(small)).toContain('maxAppendBatchBytes');
    expect(refusalOf({ ...small, maxEventPayloadBytes: 1024 })).toBe('none');
    const run = { ...defaultStoragePolicy, maxArtifactBytes: 9, maxTotalArtifactBytesPerRun: 8 };
    expect(refusalOf(run)).toContain('maxTotalArtifactBytesPerRun');
    expect(refusalOf({ ...run, maxArtifactBytes: 8 })).toBe('none');
  });

  it.each([null, 1, 'policy', []])('%j is none', (policy) => {
    expect(refusalOf(policy)).toContain('it must be an object');
  });

  it('is kept as it was given, whatever the caller does to it later', () => {
    const mine = { ...defaultStoragePolicy, maxArtifactBytes: 9 };
    const storage = createMemoryRunStorage({ namespace: 'tests', policy: mine });
    mine.maxArtifactBytes = 100;
    expect(storage.record.policy.maxArtifactBytes).toBe(9);
    expect(Object.isFrozen(storage.record.policy.sensitiveContent)).toBe(true);
  });

  it('leaves room in a batch for the small events beside the largest payload', () => {
    const policy = {
      ...defaultStoragePolicy,
      maxEventPayloadBytes: 1000,
      maxAppendBatchBytes: 1001,
    };
    expect(safePayloadBytes(policy)).toBe(500);
    expect(safePayloadBytes({ ...policy, maxAppendBatchBytes: 4000 })).toBe(1000);
  });
});
