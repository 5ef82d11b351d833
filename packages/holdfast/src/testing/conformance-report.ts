/** What every conformance kit returns, and how its cases are run. Framework-free. */
import { errorText, HoldfastError } from '../base/errors.ts';
import { truncateText } from '../base/text.ts';

/** Why one case did not hold. */
export interface ConformanceFailure {
  readonly case: string;
  readonly message: string;
}

/** `cases` counts all that were run; each gives at most one failure. */
export interface ConformanceReport {
  readonly ok: boolean;
  readonly cases: number;
  readonly failures: readonly ConformanceFailure[];
}

/** A case fails by throwing. */
export interface ConformanceCase {
  readonly name: string;
  run(): void;
}

const MESSAGE_LENGTH = 600;

/** Runs all cases, also after a failure. */
export function reportOf(cases: readonly ConformanceCase[]): ConformanceReport {
  return reportOfOutcomes(
    cases.map(({ name, run }) => {
      try {
        run();
        return null;
      } catch (error) {
        return failureOf(name, error);
      }
    }),
  );
}

/** One outcome a case: null when it held. */
export function reportOfOutcomes(
  outcomes: readonly (ConformanceFailure | null)[],
): ConformanceReport {
  const failures = outcomes.filter((outcome) => outcome !== null);
  const ok = failures.length === 0;
  return Object.freeze({ ok, cases: outcomes.length, failures: Object.freeze(failures) });
}

/** The failure of a case by what it threw. */
export function failureOf(name: string, error: unknown): ConformanceFailure {
  return Object.freeze({ case: name, message: truncateText(errorText(error), MESSAGE_LENGTH) });
}

/** Throws one error (`CONFORMANCE_FAILED`) that joins `case: message` of all failures. */
export function requireConformance(report: ConformanceReport): void {
  if (report.ok) return;
  const text = report.failures.map((failure) => `${failure.case}: ${failure.message}`).join('; ');
  throw new HoldfastError('CONFORMANCE_FAILED', text, { failures: report.failures });
}

/** Fails the running case. */
export function fail(message: string): never {
  throw new HoldfastError('CONFORMANCE_FAILED', message);
}
