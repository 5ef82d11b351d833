import { isHoldfastError } from 'holdfast';
import { assertMemoryConformance, runMemoryConformance } from 'holdfast/testing';
import { describe, expect, it } from 'vitest';
import { factories, inMemoryFactory } from './backings.ts';

describe.each(factories)('the %s memory', (_, factory) => {
  it('passes the kit of memories', async () => {
    const report = await runMemoryConformance(factory);
    expect(report.failures).toEqual([]);
    expect(report.ok).toBe(true);
    expect(report.cases).toBeGreaterThanOrEqual(19);
  });
});

describe('the kit of memories', () => {
  it('asserts silently, or with every failure in one error', async () => {
    await assertMemoryConformance(inMemoryFactory);
    const broken = assertMemoryConformance(async () => {
      const { open } = await inMemoryFactory();
      return { open: async (options) => ({ ...(await open(options)), scope: 'another' }) };
    });
    const error = await broken.catch((reason: unknown) => reason);
    expect(isHoldfastError(error, 'CONFORMANCE_FAILED')).toBe(true);
    expect(String(error)).toContain('a new memory is an empty directory');
  });
});
