import {
  runArtifactStoreConformance,
  runEventStoreConformance,
  runLeaseStoreConformance,
  runRunIndexConformance,
  runSnapshotStoreConformance,
} from 'holdfast/testing';
import { describe, expect, it } from 'vitest';
import { factories } from './backings.ts';

const kits = [
  ['events', runEventStoreConformance, 21],
  ['snapshots', runSnapshotStoreConformance, 5],
  ['leases', runLeaseStoreConformance, 7],
  ['run indexes', runRunIndexConformance, 11],
  ['artifacts', runArtifactStoreConformance, 16],
] as const;

describe.each(factories)('the %s store', (_, factory) => {
  it.each(kits)('passes the kit of %s', async (_name, run, cases) => {
    const report = await run(factory);
    expect(report.failures).toEqual([]);
    expect(report.ok).toBe(true);
    expect(report.cases).toBeGreaterThanOrEqual(cases);
  });
});
