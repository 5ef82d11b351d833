/** Programs that print one JSON document: the seed's own, and the example made to be copied. */
import { afterEach, expect, test, vi } from 'vitest';

afterEach(() => {
  vi.restoreAllMocks();
});

/** Runs a module of this repository once and gives back what it printed. */
async function printedBy(path: string): Promise<Record<string, unknown>> {
  const printed: string[] = [];
  vi.spyOn(console, 'log').mockImplementation((text: string) => {
    printed.push(text);
  });
  await import(new URL(path, import.meta.url).href);
  expect(printed).toHaveLength(1);
  return JSON.parse(printed[0] ?? '') as Record<string, unknown>;
}

test('the complete program of seed 003 runs and prints what it promises', async () => {
  const { cases, planDigest, ...rest } = await printedBy('./seed-003-program.ts');
  expect(rest).toEqual({
    conformance: true,
    state: 'done',
    decision: 'complete',
    dispatches: { min: { kind: 'known', value: 2 }, max: { kind: 'known', value: 2 } },
    maxConcurrency: { kind: 'known', value: 1 },
    maxFanOut: { kind: 'known', value: 1 },
  });
  expect(cases).toBe(9);
  expect(planDigest).toMatch(/^sha256:[0-9a-f]{64}$/);
});

test('the example of a graph type passes the kit, decides and resolves its plan', async () => {
  const { definitionDigest, planDigest, ...rest } = await printedBy(
    '../../../../examples/packages/custom-graph.ts',
  );
  expect(rest).toEqual({
    conformance: true,
    cases: 9,
    state: { round: 2, next: 'done', accepted: true },
    decision: [{ kind: 'complete', output: { rounds: 2 } }],
    dispatches: { min: { kind: 'known', value: 2 }, max: { kind: 'known', value: 4 } },
  });
  expect(definitionDigest).toMatch(/^sha256:[0-9a-f]{64}$/);
  expect(planDigest).toMatch(/^sha256:[0-9a-f]{64}$/);
});
