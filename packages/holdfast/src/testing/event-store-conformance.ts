/**
 * The kit of event stores: everything that an adapter promises, races included. Runs over any
 * storage; each case has a backing of its own.
 */
import { type ConformanceReport, requireConformance } from './conformance-report.ts';
import { admissionCases } from './event-admission-cases.ts';
import { appendCases } from './event-append-cases.ts';
import { raceCases } from './event-race-cases.ts';
import { readCases } from './event-read-cases.ts';
import { reportOfStorage, type StorageFactory } from './storage-fixture.ts';

/**
 * Checks an event store against its port. Never throws for what the store does wrong.
 *
 * @example
 * const report = await runEventStoreConformance(() => {
 *   const backing = createMemoryBacking();
 *   return { open: (options) => createMemoryRunStorage({ ...options, backing }) };
 * });
 */
export function runEventStoreConformance(factory: StorageFactory): Promise<ConformanceReport> {
  return reportOfStorage([...appendCases, ...raceCases, ...admissionCases, ...readCases], factory);
}

/**
 * Like `runEventStoreConformance`, but throws `CONFORMANCE_FAILED` naming every failure.
 *
 * @example await assertEventStoreConformance(() => ({ open: openMyStorage }));
 */
export async function assertEventStoreConformance(factory: StorageFactory): Promise<void> {
  requireConformance(await runEventStoreConformance(factory));
}
