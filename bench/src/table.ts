/** The results as plain text. */
import type { Target, WorkloadResult } from './workload.ts';

const COLUMNS: readonly (readonly [string, (result: WorkloadResult) => string])[] = [
  ['id', ({ id }) => id],
  ['steps/s', ({ stepsPerSecond }) => shown(stepsPerSecond, 0)],
  ['x raw', ({ ofRaw }) => shown(ofRaw, 2)],
  ['commits/step', ({ commitsPerStep }) => shown(commitsPerStep, 4)],
  ['fsyncs/step', ({ fsyncsPerStep }) => shown(fsyncsPerStep, 4)],
  ['bytes/step', ({ bytesPerStep }) => shown(bytesPerStep, 0)],
  ['p50 ms', ({ p50Ms }) => shown(p50Ms, 3)],
  ['p99 ms', ({ p99Ms }) => shown(p99Ms, 3)],
  ['cpu µs/step', ({ cpuMicrosecondsPerStep }) => shown(cpuMicrosecondsPerStep, 1)],
  ['rss MB', ({ peakRssMb }) => shown(peakRssMb, 0)],
];

/** A table of the figures, then every target, met or not. */
export function renderTable(results: readonly WorkloadResult[]): string {
  const rows = [
    COLUMNS.map(([name]) => name),
    ...results.map((result) => COLUMNS.map(([, cell]) => cell(result))),
  ];
  const widths = COLUMNS.map((_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? '').length)),
  );
  const lines = rows.map((row) => row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join('  '));
  return [...lines, '', ...results.flatMap(renderTargets)].join('\n');
}

function renderTargets({ id, name, targets, more }: WorkloadResult): string[] {
  const figures = Object.entries(more).map(([figure, value]) => `${figure} ${shown(value, 3)}`);
  return [
    `${id}: ${name}`,
    ...targets.map(renderTarget),
    ...(figures.length === 0 ? [] : [`  also: ${figures.join(', ')}`]),
  ];
}

function renderTarget({ figure, value, bound, limit, met }: Target): string {
  return `  ${met ? 'met   ' : 'MISSED'} ${figure} ${shown(value, 4)} (${bound} ${limit})`;
}

function shown(value: number | null, digits: number): string {
  if (value === null) return '-';
  return value.toLocaleString('en-US', { maximumFractionDigits: digits, useGrouping: false });
}
