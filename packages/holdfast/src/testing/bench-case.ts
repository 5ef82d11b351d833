/** Cases that work with something that is opened for them alone, and closed. Framework-free. */
import {
  type ConformanceFailure,
  type ConformanceReport,
  failureOf,
  reportOfOutcomes,
} from './conformance-report.ts';
import { withinTime } from './expectation.ts';

/** What a case works with. */
export interface ClosedBench {
  close(): Promise<void>;
}

export interface BenchCase<Bench> {
  readonly name: string;
  run(bench: Bench): Promise<void>;
}

/** Runs all cases, one after the other, also after a failure. */
export async function reportOfBenches<Bench extends ClosedBench>(
  cases: readonly BenchCase<Bench>[],
  open: () => Promise<Bench>,
): Promise<ConformanceReport> {
  const outcomes: (ConformanceFailure | null)[] = [];
  for (const each of cases) outcomes.push(await outcomeOf(each, open));
  return reportOfOutcomes(outcomes);
}

/** Why a case did not hold: what it threw, or else what opening or closing its bench did. */
export async function outcomeOf<Bench extends ClosedBench>(
  { name, run }: BenchCase<Bench>,
  open: () => Promise<Bench>,
  limitMs?: number,
): Promise<ConformanceFailure | null> {
  let failure: ConformanceFailure | null = null;
  try {
    const bench = await open();
    try {
      await withinTime(run(bench), limitMs);
    } catch (error) {
      failure = failureOf(name, error);
    }
    await bench.close();
  } catch (error) {
    failure ??= failureOf(`${name} (opening or closing)`, error);
  }
  return failure;
}
