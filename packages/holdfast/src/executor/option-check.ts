/** Checks what an executor and its neighbours are given; an undefined option keeps its default. */
import { refuseOption } from '../base/option.ts';

interface NumberOptions {
  readonly maxConcurrentAttempts?: number | undefined;
  readonly maxDispatches?: number | undefined;
  readonly maxIdleMs?: number | undefined;
}

const DEFAULT_CONCURRENT_ATTEMPTS = 64;

/** The limits with their defaults. Throws `INVALID_OPTION`. */
export function checkedOptions(options: NumberOptions): {
  readonly maxConcurrentAttempts: number;
  readonly maxDispatches: number;
  readonly maxIdleMs: number;
} {
  const {
    maxConcurrentAttempts = DEFAULT_CONCURRENT_ATTEMPTS,
    maxDispatches = Number.POSITIVE_INFINITY,
    maxIdleMs = Number.POSITIVE_INFINITY,
  } = options;
  requireAtLeast('maxConcurrentAttempts', maxConcurrentAttempts, 1);
  requireAtLeast('maxDispatches', maxDispatches, 1);
  requireAtLeast('maxIdleMs', maxIdleMs, 0);
  return { maxConcurrentAttempts, maxDispatches, maxIdleMs };
}

/** Throws `INVALID_OPTION` unless `graph` can be a compiled graph. */
export function requireGraph(graph: unknown): void {
  if (typeof field(graph, 'describe') === 'function' && isObject(field(graph, 'definition')))
    return;
  refuseOption('graph', 'what compileGraph returns', graph);
}

/** Throws `INVALID_OPTION` unless `storage` can be a run storage. */
export function requireStorage(storage: unknown): void {
  if (isObject(field(storage, 'record')) && isObject(field(storage, 'eventStore'))) return;
  refuseOption('storage', 'a run storage, such as createLocalRunStorage returns', storage);
}

/** Throws `INVALID_OPTION` unless `lease` is left out, or is a hold on this very run. */
export function requireLease(lease: unknown, runId: string): void {
  if (lease === undefined) return;
  const expected = `what leaseStore.acquire grants for run ${runId}`;
  if (field(lease, 'heldBy') !== undefined) {
    refuseOption('lease', expected, 'the answer that somebody else holds it');
  }
  if (typeof field(lease, 'fence') !== 'bigint') refuseOption('lease', expected, lease);
  const key = field(lease, 'key');
  if (key !== runId) refuseOption('lease', expected, `a hold on ${String(key)}`);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function field(value: unknown, name: string): unknown {
  return isObject(value) ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
}

function requireAtLeast(name: string, value: unknown, least: number): void {
  const isWhole = Number.isSafeInteger(value) || value === Number.POSITIVE_INFINITY;
  if (isWhole && Number(value) >= least) return;
  refuseOption(name, `a whole number of at least ${least}`, value);
}
