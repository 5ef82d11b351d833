import { afterEach, expect, test, vi } from 'vitest';

afterEach(() => {
  vi.restoreAllMocks();
});

test('the complete program of seed 003 runs and prints what it promises', async () => {
  const printed: string[] = [];
  vi.spyOn(console, 'log').mockImplementation((text: string) => {
    printed.push(text);
  });
  await import('./seed-003-program.ts');
  expect(printed).toHaveLength(1);
  const { cases, planDigest, ...rest } = JSON.parse(printed[0] ?? '') as Record<string, unknown>;
  expect(rest).toEqual({
    conformance: true,
    state: 'done',
    decision: 'complete',
    dispatches: { min: { kind: 'known', value: 2 }, max: { kind: 'known', value: 2 } },
    maxConcurrency: { kind: 'known', value: 1 },
    maxFanOut: { kind: 'known', value: 1 },
  });
  expect(cases).toBeGreaterThanOrEqual(6);
  expect(planDigest).toMatch(/^sha256:[0-9a-f]{64}$/);
});
