/** The kit of memories: every command, every refusal, limits and races. */
import { type ConformanceReport, requireConformance } from './conformance-report.ts';
import { memoryFileCases } from './memory-file-cases.ts';
import { type MemoryFactory, reportOfMemory } from './memory-fixture.ts';
import { memoryGuardCases } from './memory-guard-cases.ts';

/**
 * Checks a memory against its port. Never throws for what the memory does wrong.
 *
 * @example await runMemoryConformance(() => ({ open: openMyMemory }))
 */
export function runMemoryConformance(factory: MemoryFactory): Promise<ConformanceReport> {
  return reportOfMemory([...memoryFileCases, ...memoryGuardCases], factory);
}

/**
 * Like `runMemoryConformance`, but throws `CONFORMANCE_FAILED` naming every failure.
 *
 * @example await assertMemoryConformance(() => ({ open: openMyMemory }));
 */
export async function assertMemoryConformance(factory: MemoryFactory): Promise<void> {
  requireConformance(await runMemoryConformance(factory));
}
