/** Timing a run between two measurements of the raw limit, several times over. */
import { mean, median, percentile } from './numbers.ts';
import { measureRawLimit } from './raw-limit.ts';
import type { Measurement } from './workload.ts';

/** What one timed run of a workload has come to. */
export interface TimedRun {
  readonly ms: number;
  readonly cpuMs: number;
  /** From one step's code to the next one's, where steps follow one another. */
  readonly stepMs?: readonly number[];
  readonly commits?: number;
  readonly syncs?: number;
  readonly more?: Readonly<Record<string, number>>;
}

/** Times what `work` awaits; `read` is asked for the counters before and after. */
export async function timed(
  work: () => Promise<unknown>,
  read: () => { readonly commits: number; readonly syncs: number } = noCounters,
): Promise<TimedRun> {
  const before = read();
  const cpu = process.cpuUsage();
  const begun = performance.now();
  await work();
  const ms = performance.now() - begun;
  const { user, system } = process.cpuUsage(cpu);
  const after = read();
  const commits = after.commits - before.commits;
  return { ms, cpuMs: (user + system) / 1_000, commits, syncs: after.syncs - before.syncs };
}

function noCounters() {
  return { commits: 0, syncs: 0 };
}

export interface AlternateOptions {
  readonly directory: string;
  readonly steps: number;
  /** Timed runs; one more goes before them and is not counted, so that the code is compiled. */
  readonly repeats: number;
  readonly run: (repeat: number) => Promise<TimedRun>;
}

/**
 * Raw, run, raw, run, raw: each run is compared with the raw limit right before and right after it.
 * All figures are medians over the runs.
 */
export async function alternate(options: AlternateOptions): Promise<Measurement> {
  const { directory, steps, repeats, run } = options;
  const cold = await run(0);
  const limits = [measureRawLimit(directory)];
  const runs: TimedRun[] = [];
  for (let repeat = 1; repeat <= repeats; repeat += 1) {
    runs.push(await run(repeat));
    limits.push(measureRawLimit(directory));
  }
  const perSecond = runs.map(({ ms }) => (steps / ms) * 1_000);
  const ratios = perSecond.map((rate, place) => rate / mean(limits.slice(place, place + 2)));
  const times = runs.flatMap(({ stepMs = [] }) => stepMs);
  return {
    steps,
    stepsPerSecond: median(perSecond),
    ofRaw: median(ratios),
    rawCommitsPerSecond: median(limits),
    commitsPerStep: median(runs.map(({ commits = 0 }) => commits / steps)),
    fsyncsPerStep: median(runs.map(({ syncs = 0 }) => syncs / steps)),
    cpuMicrosecondsPerStep: median(runs.map(({ cpuMs }) => (cpuMs * 1_000) / steps)),
    ...(times.length === 0 ? {} : { p50Ms: median(times), p99Ms: percentile(times, 0.99) }),
    more: { coldStepsPerSecond: (steps / cold.ms) * 1_000, ...mediansOf(runs) },
  };
}

function mediansOf(runs: readonly TimedRun[]): Record<string, number> {
  const names = Object.keys(runs[0]?.more ?? {});
  return Object.fromEntries(
    names.map((name) => [name, median(runs.map(({ more }) => more?.[name] ?? 0))]),
  );
}
