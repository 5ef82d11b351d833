/** What a workload reports, and what its figures are held against. */

/** A figure with the bound that it has to keep. */
export interface Target {
  readonly figure: string;
  readonly value: number;
  readonly bound: 'at least' | 'at most' | 'exactly';
  readonly limit: number;
  readonly met: boolean;
}

/** Figures that most workloads have; null where one has no meaning. */
export interface WorkloadResult {
  readonly id: string;
  readonly name: string;
  readonly steps: number;
  readonly stepsPerSecond: number | null;
  /** Steps a second as a multiple of raw single-row commits measured before and after it. */
  readonly ofRaw: number | null;
  readonly rawCommitsPerSecond: number | null;
  readonly commitsPerStep: number | null;
  readonly fsyncsPerStep: number | null;
  readonly bytesPerStep: number | null;
  /** From one step's code to the next one's, in milliseconds. */
  readonly p50Ms: number | null;
  readonly p99Ms: number | null;
  readonly cpuMicrosecondsPerStep: number | null;
  /** Of one run in a fresh process. */
  readonly peakRssMb: number | null;
  /** Figures of this workload alone, by name. */
  readonly more: Readonly<Record<string, number>>;
  readonly targets: readonly Target[];
}

/** What a workload measures: it is run in a process of its own. */
export interface Measurement {
  readonly steps: number;
  readonly stepsPerSecond?: number;
  readonly ofRaw?: number;
  readonly rawCommitsPerSecond?: number;
  readonly commitsPerStep?: number;
  readonly fsyncsPerStep?: number;
  readonly bytesPerStep?: number;
  readonly p50Ms?: number;
  readonly p99Ms?: number;
  readonly cpuMicrosecondsPerStep?: number;
  readonly more?: Readonly<Record<string, number>>;
}

/** A bound on a figure: one of `Measurement`, of its `more`, or `peakRssMb`. */
export interface Bound {
  readonly figure: string;
  readonly bound: Target['bound'];
  readonly limit: number;
}

export interface Workload {
  readonly id: string;
  readonly name: string;
  readonly bounds: readonly Bound[];
  readonly measure: (directory: string) => Promise<Measurement>;
  /** The work without repeats: what it needs at most is measured in a process of its own. */
  readonly once: (directory: string) => Promise<unknown>;
}

export function atLeast(figure: string, limit: number): Bound {
  return { figure, bound: 'at least', limit };
}

export function atMost(figure: string, limit: number): Bound {
  return { figure, bound: 'at most', limit };
}

export function exactly(figure: string, limit: number): Bound {
  return { figure, bound: 'exactly', limit };
}

/** The result of one process that has measured a workload. */
export function resultOf(workload: Workload, measured: Measurement): WorkloadResult {
  const { steps, more = {}, ...figures } = measured;
  const none = {
    stepsPerSecond: null,
    ofRaw: null,
    rawCommitsPerSecond: null,
    commitsPerStep: null,
    fsyncsPerStep: null,
    bytesPerStep: null,
    p50Ms: null,
    p99Ms: null,
    cpuMicrosecondsPerStep: null,
    peakRssMb: null,
  };
  const result = { id: workload.id, name: workload.name, steps, ...none, ...figures };
  return { ...result, more, targets: targetsOf(workload, { ...result, ...more }) };
}

/** The bounds of a workload held against figures. */
export function targetsOf(
  { bounds }: Pick<Workload, 'bounds'>,
  figures: Readonly<Record<string, unknown>>,
): readonly Target[] {
  return bounds.map(({ figure, bound, limit }) => {
    const value = Number(figures[figure] ?? Number.NaN);
    return { figure, value, bound, limit, met: keeps(value, bound, limit) };
  });
}

function keeps(value: number, bound: Target['bound'], limit: number): boolean {
  if (bound === 'at least') return value >= limit;
  return bound === 'at most' ? value <= limit : value === limit;
}
