/** Simulates seeds and says everything about one that breaks an invariant. */
import { type SimulationOptions, type SimulationReport, simulateSeed } from 'holdfast/testing';

const SHOWN_LINES = 60;

/** Simulates `count` seeds from `from`; gives back what has happened in them, counted. */
export async function assertSeeds(
  from: number,
  count: number,
  changes: Partial<SimulationOptions> = {},
): Promise<ReadonlyMap<string, number>> {
  const total = new Map<string, number>();
  for (let seed = from; seed < from + count; seed += 1) {
    const report = await simulateSeed(seed, changes);
    assertSound(report);
    for (const [what, times] of report.counts) total.set(what, (total.get(what) ?? 0) + times);
  }
  return total;
}

/** Throws with the options, the violations and the end of the trace. */
export function assertSound({ options, violations, trace }: SimulationReport): void {
  if (violations.length === 0) return;
  throw new Error(
    [
      `Seed ${options.seed} breaks an invariant:`,
      ...violations,
      `Options (for seeds.json): ${JSON.stringify(options)}`,
      `The last ${Math.min(SHOWN_LINES, trace.length)} of ${trace.length} lines:`,
      ...trace.slice(-SHOWN_LINES),
      `All of it: npm run simulate -- --seed ${options.seed} --form ${options.form}`,
    ].join('\n'),
  );
}

/** Simulations and counted gates on one Node version are enough. */
export const isNodeMatrix = process.env['HOLDFAST_NODE_MATRIX'] !== undefined;
