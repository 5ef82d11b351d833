import {
  runArtifactStoreConformance,
  runEventStoreConformance,
  runLeaseStoreConformance,
  runRunIndexConformance,
  runSnapshotStoreConformance,
} from 'holdfast/testing';
import { describe, expect, it } from 'vitest';
import { factories, memoryFactory } from './backings.ts';

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

describe('a backing that does not go away', () => {
  it('fails each case once, by name, and the next ones are run', async () => {
    const report = await runLeaseStoreConformance(async () => ({
      ...(await memoryFactory()),
      dispose: () => Promise.reject(new Error('it is in use')),
    }));
    expect(report.ok).toBe(false);
    expect(report.failures.length).toBe(report.cases);
    for (const failure of report.failures) expect(failure.message).toContain('it is in use');
  });

  it('does not hide why a case did not hold', async () => {
    const report = await runLeaseStoreConformance(() => ({
      open: () => Promise.reject(new Error('no store')),
      dispose: () => Promise.reject(new Error('it is in use')),
    }));
    expect(report.failures.length).toBe(report.cases);
    for (const failure of report.failures) expect(failure.message).toContain('no store');
  });
});
